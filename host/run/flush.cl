// Filled first: the host gives one page of zeros for all memory that nobody wrote, and that fits in any cache.
kernel void lab_flush_fill(global uint4* memory, ulong count) {
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0))
        memory[i] = ((uint4)((uint)i) ^ (uint4)(1, 2, 3, 4)) * 2654435761u;
}
kernel void lab_flush(global const uint4* memory, global uint4* sums, ulong count, ulong apart, ulong step,
                      ulong trips) {
    ulong i = get_global_id(0) * apart;
    uint4 sum = (uint4)(0);
    for (ulong trip = 0; trip < trips; ++trip) {
        sum += memory[i];
        i += step;
        if (i >= count) i -= count;
    }
    sums[get_global_id(0)] = sum;
}

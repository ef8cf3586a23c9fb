// Additions of 1 to few or many counters.
kernel void global_add(global uint* out, global const uint* in, uint one) {
    atomic_add(&out[get_global_id(0) & (COUNTERS - 1)], one);
}
// By every 32 items to a counter of their own.
kernel void per_32(global uint* out, global const uint* in, uint one) {
    atomic_add(&out[(get_global_id(0) / 32 & 0xffff) * 16], one);
}
// By every 32 items to one of few.
kernel void per_warp(global uint* out, global const uint* in, uint one) {
    atomic_add(&out[get_global_id(0) / 32 & (COUNTERS - 1)], one);
}
// Counted in local memory first.
kernel void aggregated(global uint* out, global const uint* in, uint one) {
    local uint sum;
    if (get_local_id(0) == 0) sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&sum, one);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) atomic_add(&out[0], sum);
}

#define LOCAL(step)                                                \
    local uint cell[256];                                          \
    const uint l = get_local_id(0);                                \
    cell[l] = 0;                                                   \
    barrier(CLK_LOCAL_MEM_FENCE);                                  \
    for (uint i = 0; i < 64; ++i) step;                            \
    barrier(CLK_LOCAL_MEM_FENCE);                                  \
    out[get_global_id(0)] = cell[l];
kernel void local_apart(global uint* out) { LOCAL(atomic_inc(&cell[l])) }
kernel void local_one(global uint* out) { LOCAL(atomic_inc(&cell[0])) }
kernel void local_max(global uint* out) { LOCAL(atomic_max(&cell[0], (l * 167 + i * 59) & 1023)) }

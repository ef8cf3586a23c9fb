// Prefix sums within each group.
__kernel void scan(__global const int* in, __global int* out, __local int* tmp) {
    const int l = get_local_id(0), size = get_local_size(0), g = get_global_id(0);
    tmp[l] = in[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 1; step < size; step *= 2) {
        const int more = l >= step ? tmp[l - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        tmp[l] += more;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[g] = tmp[l];
}

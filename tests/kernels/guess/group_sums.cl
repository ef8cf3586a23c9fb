__kernel void group_sums(__global const float* input, __global float* sums, __local float* scratch, uint count) {
    const uint l = get_local_id(0);
    scratch[l] = get_global_id(0) < count ? input[get_global_id(0)] : 0.0f;
    for (uint half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < half_size) scratch[l] += scratch[l + half_size];
    }
    if (l == 0) sums[get_group_id(0)] = scratch[0];
}

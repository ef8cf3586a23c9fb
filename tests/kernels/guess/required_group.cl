__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void required_group(__global const float* in,
                                                                             __global float* out) {
    __local float t[64];
    t[get_local_id(0)] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = t[63 - get_local_id(0)];
}

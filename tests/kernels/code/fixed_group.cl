// A promised group, and pointers to nothing in particular: code needs no sizes.
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void mirrored(__global float* y) {
    __local float t[256];
    const int l = get_local_id(0);
    t[l] = y[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = t[255 - l];
}

__kernel void moved(__global void* to, __global const void* from, ulong offset, __local void* part) {
    __local float* t = (__local float*)part;
    t[get_local_id(0)] = ((__global const float*)from)[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    ((__global float*)((__global char*)to + offset))[get_global_id(0)] = t[0];
}

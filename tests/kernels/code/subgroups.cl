// Sub-groups, and work-group functions of OpenCL C 2.0.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
__kernel void sums(__global float* y, __global const float* x) {
    const float s = sub_group_reduce_add(x[get_global_id(0)]);
    if (get_sub_group_local_id() == 0) y[get_group_id(0) * get_num_sub_groups() + get_sub_group_id()] = s;
}

__kernel void group_sums(__global int* y) {
    const int s = work_group_reduce_add(y[get_global_id(0)]);
    if (get_local_id(0) == 0) y[get_group_id(0)] = s;
}

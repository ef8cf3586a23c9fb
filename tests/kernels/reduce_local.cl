// Sums of groups in local memory; the reference adds them one after the other.
/*cllab
axis n = 65536
arg src = rand:n:0:100
arg sums = out:n / 256
arg part = local:256
arg per = 256
global n
local 256
reference sum_serial
work bytes=4*n
kernel sum_serial
global n / 256
local 1
*/
__kernel void sum_tree(__global const int* src, __global int* sums, __local int* part) {
    const int l = get_local_id(0);
    part[l] = src[get_global_id(0)];
    for (int half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < half_size) part[l] += part[l + half_size];
    }
    if (l == 0) sums[get_group_id(0)] = part[0];
}

__kernel void sum_serial(__global const int* src, __global int* sums, int per) {
    int sum = 0;
    for (int i = 0; i < per; ++i) sum += src[get_global_id(0) * per + i];
    sums[get_global_id(0)] = sum;
}

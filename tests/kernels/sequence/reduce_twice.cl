// A sum in two passes of one kernel, which is used with other buffers and sizes in the second.
/*cllab
axis n = 65536
arg src = rand:n:0:100
arg partial = out:n / 256
arg total = out:1
arg part = local:256
local 256
kernel first = reduce
arg dst = partial
global n
kernel last = reduce
arg src = partial
arg dst = total
global n / 256
sequence sum = first, last
relation sum of total preserved from src
*/
__kernel void reduce(__global const int* src, __global int* dst, __local int* part) {
    const int l = get_local_id(0);
    part[l] = src[get_global_id(0)];
    for (int half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < half_size) part[l] += part[l + half_size];
    }
    if (l == 0) dst[get_group_id(0)] = part[0];
}

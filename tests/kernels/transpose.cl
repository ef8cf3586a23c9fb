// Three ways to transpose a matrix: reading along rows, writing along rows, and through a tile of local memory.
/*cllab
axis n = 256, 1024
arg src = rand:n*n
arg dst = out:n*n
arg n = n
global n,n
work bytes=8*n*n
kernel tr_tile
local 16,16
*/
__kernel void tr_rows(__global const float* src, __global float* dst, int n) {
    const int x = get_global_id(0), y = get_global_id(1);
    dst[x * n + y] = src[y * n + x];
}

__kernel void tr_cols(__global const float* src, __global float* dst, int n) {
    const int x = get_global_id(1), y = get_global_id(0);
    dst[x * n + y] = src[y * n + x];
}

__kernel void tr_tile(__global const float* src, __global float* dst, int n) {
    __local float tile[16][17];
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int x = get_group_id(0) * 16, y = get_group_id(1) * 16;
    tile[ly][lx] = src[(y + ly) * n + x + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    dst[(x + ly) * n + y + lx] = tile[lx][ly];
}

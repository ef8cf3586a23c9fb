// Rows become columns, a square of BX to the side at a time, through local memory. A work-item brings and writes every
// BY-th row of its square; PAD keeps the columns of the square in different banks.
/*cllab
axis n = 1024
axis bx tune = 8, 16, 32, 64, 128
axis by tune = 1, 2, 4, 8, 16
axis pad tune = 0, 1
where bx * by <= 1024
options -DN={n} -DBX={bx} -DBY={by} -DPAD={pad}
arg in = rand:n*n
arg out = out:n*n
global n, n * by / bx
local bx, by
work bytes=8*n*n
*/
__kernel void transpose(__global const float* restrict in, __global float* restrict out) {
    __local float square[BX][BX + PAD];
    const int i = get_group_id(0) * BX, j = get_group_id(1) * BX, x = get_local_id(0), y = get_local_id(1);
    for (int r = y; r < BX; r += BY) square[r][x] = in[(size_t)(j + r) * N + i + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int r = y; r < BX; r += BY) out[(size_t)(i + r) * N + j + x] = square[x][r];
}

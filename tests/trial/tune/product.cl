// The product of two square matrices. A work-item makes TX columns of TY rows; it takes U steps of k at once, and its
// columns lie beside each other (NEAR) or a work-group's width apart.
/*cllab
axis n = 192
axis lx tune = 4, 8, 1, 2, 16, 32, 64
axis ly tune = 4, 1, 2, 8, 16
axis tx tune = 1, 2, 3, 4, 6, 8, 12
axis ty tune = 1, 2, 3, 4, 6, 8
axis u tune = 1, 2, 4, 8
axis near tune = 0, 1
where n % (lx * tx) == 0
where n % (ly * ty) == 0
where lx * ly >= 8 && lx * ly <= 256
where tx * ty <= 32
options -DN={n} -DLX={lx} -DTX={tx} -DTY={ty} -DU={u} -DNEAR={near}
arg a = rand:n*n
arg b = rand:n*n
arg c = out:n*n
global n / tx, n / ty
local lx, ly
tolerance relative=1e-4
work flops=2*n*n*n bytes=12*n*n
*/
__kernel void product(__global const float* a, __global const float* b, __global float* c) {
    const int group = get_group_id(0) * LX * TX, lane = get_local_id(0), step = NEAR ? 1 : LX;
    const int x0 = group + (NEAR ? lane * TX : lane), y0 = get_global_id(1) * TY;
    float sum[TY][TX];
    for (int y = 0; y < TY; ++y)
        for (int x = 0; x < TX; ++x) sum[y][x] = 0;
    for (int k0 = 0; k0 < N; k0 += U) {
#pragma unroll
        for (int u = 0; u < U; ++u) {
            const int k = k0 + u;
            float row[TX];
#pragma unroll
            for (int x = 0; x < TX; ++x) row[x] = b[k * N + x0 + x * step];
#pragma unroll
            for (int y = 0; y < TY; ++y) {
                const float left = a[(y0 + y) * N + k];
#pragma unroll
                for (int x = 0; x < TX; ++x) sum[y][x] += left * row[x];
            }
        }
    }
    for (int y = 0; y < TY; ++y)
        for (int x = 0; x < TX; ++x) c[(y0 + y) * N + x0 + x * step] = sum[y][x];
}

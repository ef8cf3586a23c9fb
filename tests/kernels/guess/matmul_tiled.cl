#define BLOCK 8
__kernel void matmul_tiled(__global float* c, __global const float* a, __global const float* b, int n) {
    __local float ta[BLOCK][BLOCK], tb[BLOCK][BLOCK];
    const int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
    float sum = 0.0f;
    for (int t = 0; t < n; t += BLOCK) {
        ta[ly][lx] = a[y * n + t + lx];
        tb[ly][lx] = b[(t + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < BLOCK; ++k) sum += ta[ly][k] * tb[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}

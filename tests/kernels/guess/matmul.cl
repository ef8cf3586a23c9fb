__kernel void matmul(const int M, const int N, const int K, __global const float* A, __global const float* B,
                     __global float* C) {
    const int row = get_global_id(0), col = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[k * M + row] * B[col * K + k];
    C[col * M + row] = sum;
}

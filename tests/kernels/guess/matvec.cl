__kernel void matvec(__global const float* matrix, __global const float* vector, __global float* result, int rows,
                     int cols) {
    const int row = get_global_id(0);
    if (row >= rows) return;
    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) sum += matrix[row * cols + c] * vector[c];
    result[row] = sum;
}

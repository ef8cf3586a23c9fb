// y = A x with A in compressed rows.
__kernel void spmv(__global const float* values, __global const int* columns, __global const int* row_start,
                   __global const float* x, __global float* y, int rows) {
    const int row = get_global_id(0);
    if (row >= rows) return;
    float sum = 0.0f;
    for (int j = row_start[row]; j < row_start[row + 1]; ++j) sum += values[j] * x[columns[j]];
    y[row] = sum;
}

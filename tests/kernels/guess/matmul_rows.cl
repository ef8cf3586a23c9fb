// A row of A in private memory, a column of B in local memory: an item of a usual group does too much to be
// tried.
kernel void matmul_rows(const int n, global const float* a, global const float* b, global float* c,
                        local float* column) {
    const int i = get_global_id(0);
    float row[512];
    for (int k = 0; k < n; k++) row[k] = a[i * n + k];
    for (int j = 0; j < n; j++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = get_local_id(0); k < n; k += get_local_size(0)) column[k] = b[k * n + j];
        barrier(CLK_LOCAL_MEM_FENCE);
        float sum = 0;
        for (int k = 0; k < n; k++) sum += row[k] * column[k];
        c[i * n + j] = sum;
    }
}

// Sums over all pairs of columns: work that grows with the cube of the launch, so that it is tried with few items.
kernel void pairs(global float* restrict sums, global const float* restrict data, int m, int n) {
    const int j = get_global_id(0);
    if (j >= m) return;
    for (int k = j; k < m; k++) {
        sums[j * m + k] = 0;
        for (int i = 0; i < n; i++) sums[j * m + k] += data[i * m + j] * data[i * m + k];
        sums[k * m + j] = sums[j * m + k];
    }
}

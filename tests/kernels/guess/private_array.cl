// The median of nine, by sorting in private memory.
__kernel void private_array(__global const float* in, __global float* out) {
    const int i = get_global_id(0);
    float v[9];
    for (int k = 0; k < 9; ++k) v[k] = in[9 * i + k];
    for (int a = 0; a < 9; ++a)
        for (int b = a + 1; b < 9; ++b)
            if (v[b] < v[a]) {
                const float t = v[a];
                v[a] = v[b];
                v[b] = t;
            }
    out[i] = v[4];
}

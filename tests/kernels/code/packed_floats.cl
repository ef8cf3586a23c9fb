// Pairs of floats beside each other: compilers for processors with packed arithmetic differ in how many registers the
// pairs take.
__kernel void mixed(__global const float* src, __global float* dst, int rounds) {
    const size_t first = get_global_id(0) * 48;
    float v[48];
    for (int k = 0; k < 48; ++k) v[k] = src[first + k];
    for (int j = 0; j < rounds; ++j)
        for (int k = 0; k < 48; ++k) v[k] = v[k] * v[(k + 5) % 48] + v[(k * 11) % 48];
    for (int k = 0; k < 48; ++k) dst[first + k] = v[k];
}

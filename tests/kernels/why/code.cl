/*cllab
axis n = 65536
arg x = rand:n
arg y = out:n
global n
local 256
work bytes=8*n
differ plain, hash, private_sums, kept, masked
*/
// Kernels whose machine code on a CPU differs in a way that is read: tests/cli/test_why.py.
// Vectors of work-items.
kernel void plain(global const float* x, global float* y) {
    const size_t i = get_global_id(0);
    y[i] = x[i] * 3.0f + 1.0f;
}
// A loop within the work-item, each step of which needs the one before: no vectors.
kernel void hash(global const float* x, global float* y) {
    const size_t i = get_global_id(0);
    uint h = (uint)i;
    for (int k = 0; k < 64; ++k) {
        h ^= h << 13;
        h ^= h >> 17;
        h ^= h << 5;
    }
    y[i] = x[i] + (h & 255);
}
// Its hot loop stores to memory of the work-item: these bytes are no output.
kernel void private_sums(global const float* x, global float* y) {
    const size_t i = get_global_id(0);
    float t[64];
    for (int r = 0; r < 20; ++r)
        for (int k = 0; k < 64; ++k) t[k] = (r ? t[(k + i) & 63] : 0) + x[i] * k;
    y[i] = t[i & 63];
}
// It stores to one place again and again.
kernel void kept(global const float* x, global float* y) {
    const size_t i = get_global_id(0);
    volatile global float* at = y + i;
    *at = 0;
    for (int k = 0; k < 50; ++k) *at += x[k];
}
// It stores where a condition holds.
kernel void masked(global const float* x, global float* y) {
    const size_t i = get_global_id(0);
    y[i] = 0;
    if (x[i] > 0.5f) y[i] = x[i] * 3.0f;
}

// Streams through memory, each element once. memory=2 moves twice the bytes, float=2 does twice the arithmetic.
/*cllab
axis n = 32Mi
axis memory = 1
axis float = 1
options -DMEMORY={memory} -DFLOAT={float}
arg x = rand:n*memory
arg z = rand:n*memory
arg y = out:n*memory
arg n = n
arg w = 4096
global n
local 256
kernel sums
global n / 16
arg y = out:n / 16
kernel quads
global n / 4
differ copy, axpy, quads, sums, stencil, blur
*/
// cpu: n=8Mi

// twice: memory float
kernel void copy(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        float v = x[i + m * n];
        for (int k = 1; k < FLOAT; ++k) v = fma(v, 0.5f, 0.25f);
        y[i + m * n] = v;
    }
}

// twice: memory float
kernel void axpy(global const float* restrict x, global const float* restrict z, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        float v = z[i + m * n];
        for (int k = 0; k < FLOAT; ++k) v = fma(0.75f, x[i + m * n], v);
        y[i + m * n] = v;
    }
}

// twice: memory float
kernel void quads(global const float4* restrict x, global const float4* restrict z, global float4* restrict y, uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        float4 v = z[i + m * n / 4];
        for (int k = 0; k < FLOAT; ++k) v = v * 0.5f + x[i + m * n / 4];
        y[i + m * n / 4] = v;
    }
}

// twice: memory float
kernel void sums(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0), items = get_global_size(0);
    float v = 0;
    for (uint k = 0; k < 16 * MEMORY; ++k)
        for (int f = 0; f < FLOAT; ++f) v += x[i + k * items];
    y[i] = v;
}

// twice: memory float
kernel void stencil(global const float* restrict x, global float* restrict y, uint n, uint w) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        const uint at = i + m * n, last = n * MEMORY - 1;
        float v = x[at] + x[at > 0 ? at - 1 : at] + x[at < last ? at + 1 : at] + x[at >= w ? at - w : at] +
                  x[at + w <= last ? at + w : at];
        for (int k = 0; k < FLOAT; ++k) v = fma(v, 0.2f, 0.1f);
        y[at] = v;
    }
}

// twice: memory float
kernel void blur(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        const uint at = min(max(i + m * n, 2u), n * MEMORY - 3u);
        float v = 0;
        for (int k = -2; k <= 2; ++k)
            for (int f = 0; f < FLOAT; ++f) v = fma(x[at + k], 0.2f, v);
        y[i + m * n] = v;
    }
}

// Accesses that use a part of each sector. memory=2 does twice as many, float=2 twice the arithmetic.
/*cllab
axis n = 16Mi
axis memory = 1
axis float = 1
options -DMEMORY={memory} -DFLOAT={float}
arg x = rand:n*memory
arg y = out:n*memory
arg n = n
arg w = 4096
global n
local 256
kernel transpose_rows
global w, n / w
local 16,16
kernel transpose_columns
global n / w, w
local 16,16
kernel every_eighth
global n / 8
arg y = out:n / 8
kernel sum_of_row
global n / 64
arg y = out:n / 64
kernel field
arg y = out:n / 8
global n / 8
differ transpose_rows, transpose_columns, every_eighth, gather, scatter_once, sum_of_row, field
*/
// cpu: n=4Mi

// twice: memory float
kernel void transpose_rows(global const float* restrict x, global float* restrict y, uint n, uint w) {
    const uint c = get_global_id(0), r = get_global_id(1), h = n / w;
    for (uint m = 0; m < MEMORY; ++m) {
        float v = x[m * n + r * w + c];
        for (int k = 1; k < FLOAT; ++k) v = fma(v, 0.5f, 0.25f);
        y[m * n + c * h + r] = v;
    }
}

// twice: memory float
kernel void transpose_columns(global const float* restrict x, global float* restrict y, uint n, uint w) {
    const uint r = get_global_id(0), c = get_global_id(1), h = n / w;
    for (uint m = 0; m < MEMORY; ++m) {
        float v = x[m * n + r * w + c];
        for (int k = 1; k < FLOAT; ++k) v = fma(v, 0.5f, 0.25f);
        y[m * n + c * h + r] = v;
    }
}

// twice: memory float
kernel void every_eighth(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    float v = 0;
    for (uint m = 0; m < MEMORY; ++m)
        for (int k = 0; k < FLOAT; ++k) v = fma(x[m * n + 8 * i], 0.5f, v);
    y[i] = v;
}

uint scrambled(uint i) {
    i = (i ^ (i >> 16)) * 0x7feb352dU;
    return i ^ (i >> 15);
}

// twice: memory float
kernel void gather(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        float v = x[m * n + (scrambled(i) & (n - 1))];
        for (int k = 1; k < FLOAT; ++k) v = fma(v, 0.5f, 0.25f);
        y[m * n + i] = v;
    }
}

// Multiplying by an odd number meets each element once.
// twice: memory float
kernel void scatter_once(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        float v = x[m * n + i];
        for (int k = 1; k < FLOAT; ++k) v = fma(v, 0.5f, 0.25f);
        y[m * n + ((i * 2654435761u) & (n - 1))] = v;
    }
}

// Each item sums a row of 64 elements of its own.
// twice: memory float
kernel void sum_of_row(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    float v = 0;
    for (uint m = 0; m < MEMORY; ++m)
        for (uint k = 0; k < 64; ++k)
            for (int f = 0; f < FLOAT; ++f) v += x[m * n + 64 * i + k];
    y[i] = v;
}

typedef struct {
    float mass, other[7];
} Particle;

// One field of structures of 32 bytes.
// twice: memory float
kernel void field(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    float v = 0;
    for (uint m = 0; m < MEMORY; ++m) {
        global const Particle* p = (global const Particle*)(x + m * n);
        for (int k = 0; k < FLOAT; ++k) v = fma(p[i].mass, 0.5f, v);
    }
    y[i] = v;
}

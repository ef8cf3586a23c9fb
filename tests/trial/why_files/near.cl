// Accesses that look scattered and are not, or that others take longer than: memory=2 does twice as many, float=2 or integer=2
// twice the arithmetic. Where `why` says "scattered" of one of the first six, it is wrong whatever the judge says.
/*cllab
axis n = 4Mi
axis memory = 1
axis float = 1
axis integer = 1
options -DMEMORY={memory} -DFLOAT={float} -DINTEGER={integer}
arg x = rand:n*memory
arg y = out:n
arg index = iota:n
arg mask = 1023
arg n = n
global n
local 256
kernel in_64_pages
arg mask = 64Ki - 1
kernel every_second_line
global n / 16
arg y = out:n / 16
arg x = rand:2*n*memory
kernel row_of_a_page
arg x = rand:uint:n*memory
global n / 1024
local 16
arg y = out:n / 1024
*/
// cpu: n=2Mi

uint scrambled(uint i) {
    i = (i ^ (i >> 16)) * 0x7feb352dU;
    return i ^ (i >> 15);
}

// Anywhere in one page.
// twice: memory float
kernel void in_a_page(global const float* restrict x, global float* restrict y, uint mask) {
    const uint i = get_global_id(0);
    float v = 0;
    for (uint m = 0; m < 4 * MEMORY; ++m)
        for (int k = 0; k < FLOAT; ++k) v = fma(x[scrambled(i + m) & mask], 0.5f, v);
    y[i] = v;
}

// Anywhere in what a core's second level holds.
// twice: memory float
kernel void in_64_pages(global const float* restrict x, global float* restrict y, uint mask) {
    const uint i = get_global_id(0);
    float v = 0;
    for (uint m = 0; m < 4 * MEMORY; ++m) {
        float u = x[scrambled(i + 8 * m) & mask];
        for (int k = 0; k < 16 * FLOAT; ++k) u = fma(u, 0.5f, 0.25f);
        v += u;
    }
    y[i] = v;
}

// By an index that leads to the place itself.
// twice: memory float
kernel void by_an_index(global const float* restrict x, global float* restrict y, global const uint* restrict index,
                        uint n) {
    const uint i = get_global_id(0);
    float v = 0;
    for (uint m = 0; m < MEMORY; ++m)
        for (int k = 0; k < FLOAT; ++k) v = fma(x[m * n + index[i]], 0.5f, v);
    y[i] = v;
}

// A prefetcher follows such a stride.
// twice: memory float
kernel void every_second_line(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    float v = 0;
    for (uint m = 0; m < MEMORY; ++m)
        for (int k = 0; k < FLOAT; ++k) v = fma(x[2 * m * n + 32 * i], 0.5f, v);
    y[i] = v;
}

// The same for all work-items of a group.
// twice: memory float
kernel void one_for_all(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    float v = 0;
    for (uint m = 0; m < 8 * MEMORY; ++m)
        for (int k = 0; k < FLOAT; ++k) v = fma(x[scrambled(get_group_id(0) + m) & (n - 1)], 0.5f, v);
    y[i] = v;
}

// A work-item goes through a page of its own, one word after the other, while its neighbours are in others.
// twice: memory integer
kernel void row_of_a_page(global const uint* restrict x, global uint* restrict y, uint n) {
    const uint i = get_global_id(0);
    uint v = 0;
    for (uint m = 0; m < MEMORY; ++m)
        for (uint k = 0; k < 1024; ++k)
            for (int f = 0; f < INTEGER; ++f) v += x[m * n + 1024 * i + k] ^ f;
    y[i] = v;
}

// Jumps that nobody waits for beside so much arithmetic.
// twice: memory float
kernel void mostly_arithmetic(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    float v = 0;
    for (uint m = 0; m < MEMORY; ++m) {
        float u = x[m * n + (scrambled(i) & (n - 1))];
        for (int k = 0; k < 400 * FLOAT; ++k) u = fma(u, 0.5f, 0.25f);
        v += u;
    }
    y[i] = v;
}

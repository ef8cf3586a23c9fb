// Kernels that look as if loads and stores held them up, and are not, or not much: memory=2 does twice the accesses,
// float=2 or integer=2 twice the arithmetic.
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
kernel short_loops
arg y = out:n*memory
arg trips = 4
kernel straight_chain
arg y = out:n*memory
kernel branches
arg x = rand:uint:n*memory
arg y = out:n*memory
kernel columns_of_a_tile
arg y = out:n*memory
kernel own_table
arg x = rand:uint:n*memory
arg y = out:n*memory
kernel every_second_line
global n / 16
arg y = out:n / 16
arg x = rand:2*n*memory
kernel row_of_a_page
arg x = rand:uint:n*memory
global n / 1024
local 16
arg y = out:n / 1024
differ in_a_page, in_64_pages, by_an_index, every_second_line, one_for_all, row_of_a_page, mostly_arithmetic, short_loops, straight_chain, branches, columns_of_a_tile, own_table
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

// A loop that nobody can unroll, for each word of a stream.
// twice: memory float
kernel void short_loops(global const float* restrict x, global float* restrict y, uint n, uint trips) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        float v = x[m * n + i];
        for (uint k = 0; k < FLOAT * trips; ++k) v = fma(v, 0.5f, k);
        y[m * n + i] = v;
    }
}

// Each step waits for the one before, and a core looks ahead to one or two other work-items.
// twice: memory float
kernel void straight_chain(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        float v = x[m * n + i];
#pragma unroll
        for (int k = 0; k < 100 * FLOAT; ++k) v = fma(v, 0.5f, 0.25f);
        y[m * n + i] = v;
    }
}

// Nobody predicts these branches.
// twice: memory integer
kernel void branches(global const uint* restrict x, global uint* restrict y, uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        uint v = x[m * n + i], bits = scrambled(v);
        for (int k = 0; k < 8 * INTEGER; ++k, bits >>= 1)
            if (bits & 1)
                v = v * 5 + 1;
            else
                v ^= v >> 3;
        y[m * n + i] = v;
    }
}

// A tile of 64 x 64 words in the first level or the second, gone through by columns.
// twice: memory float
kernel void columns_of_a_tile(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0), tile = i / 4096 * 4096, from = tile + i % 64 * 64 + i / 64 % 64;
    for (uint m = 0; m < MEMORY; ++m) {
        float v = x[m * n + from];
        for (int k = 0; k < 12 * FLOAT; ++k) v = v * v - 0.7f;
        y[m * n + i] = v;
    }
}

// A table of its own is near.
// twice: memory integer
kernel void own_table(global const uint* restrict x, global uint* restrict y, uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        const uint a = x[m * n + i];
        uint digits[16], sum = 0;
        for (int k = 0; k < 16; ++k) digits[k] = a >> (2 * k) & 15;
        for (int k = 0; k < 16 * INTEGER; ++k) sum = digits[(sum ^ k) & 15] + sum * 3;
        y[m * n + i] = sum;
    }
}

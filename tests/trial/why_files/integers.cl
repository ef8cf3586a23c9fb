// Integer arithmetic in independent chains: integer=2 does twice as much beside what there is, memory=2 moves twice the
// bytes.
/*cllab
axis n = 4Mi
axis integer = 1
axis memory = 1
options -DINTEGER={integer} -DMEMORY={memory}
arg x = rand:n*memory:1:1000000000
arg y = out:n*memory
arg n = n
global n
local 256
differ mixing, congruential, shifts, rounds, products_of_64_bits
*/
// cpu: n=512Ki

#define EACH(steps, statement)                                  \
    const uint i = get_global_id(0);                            \
    for (uint m = 0; m < MEMORY; ++m) {                         \
        const uint a = x[m * n + i];                            \
        uint v[4 * INTEGER], sum = 0;                           \
        for (int c = 0; c < 4 * INTEGER; ++c) v[c] = a + c;     \
        for (uint k = 0; k < steps / MEMORY; ++k)               \
            for (int c = 0; c < 4 * INTEGER; ++c) { statement } \
        for (int c = 0; c < 4 * INTEGER; ++c) sum += v[c];      \
        y[m * n + i] = sum;                                     \
    }

// twice: integer memory
kernel void mixing(global const uint* restrict x, global uint* restrict y, uint n) {
    EACH(48, v[c] ^= v[c] >> 15; v[c] *= 0x2c1b3c6du; v[c] ^= v[c] << 7;)
}

// twice: integer memory
kernel void congruential(global const uint* restrict x, global uint* restrict y, uint n) {
    EACH(64, v[c] = v[c] * 1664525u + (1013904223u ^ k);)
}

// twice: integer memory
kernel void shifts(global const uint* restrict x, global uint* restrict y, uint n) {
    EACH(48, v[c] ^= v[c] << 13; v[c] ^= v[c] >> 17; v[c] ^= v[c] << 5;)
}

// twice: integer memory
kernel void rounds(global const uint* restrict x, global uint* restrict y, uint n) {
    EACH(48, v[c] = rotate(v[c] + (k ^ a), 7u) ^ ((v[c] & a) | (~v[c] & k));)
}

// twice: integer memory
kernel void products_of_64_bits(global const uint* restrict x, global uint* restrict y, uint n) {
    EACH(48, ulong p = (ulong)v[c] * 6364136223846793005ul + k; v[c] = (uint)(p >> 32) ^ (uint)p;)
}

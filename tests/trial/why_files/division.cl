// Divisions in independent chains: division=2 does twice as many beside what there are, memory=2 moves twice the bytes.
/*cllab
axis n = 2Mi
axis division = 1
axis memory = 1
options -DDIVISION={division} -DMEMORY={memory}
arg x = rand:n*memory:1:1000000000
arg y = out:n*memory
arg n = n
global n
local 256
differ float_quotients, double_quotients, uint_quotients, uint_remainders, ulong_quotients, ulong_remainders, long_quotients
*/
// cpu: n=128Ki

#define EACH(type, steps, statement)                              \
    const uint i = get_global_id(0);                              \
    for (uint m = 0; m < MEMORY; ++m) {                           \
        const uint a = x[m * n + i];                              \
        type v[4 * DIVISION], sum = 0;                            \
        for (int c = 0; c < 4 * DIVISION; ++c) v[c] = a + c;      \
        for (uint k = 0; k < steps / MEMORY; ++k)                 \
            for (int c = 0; c < 4 * DIVISION; ++c) { statement }  \
        for (int c = 0; c < 4 * DIVISION; ++c) sum += v[c];       \
        y[m * n + i] = (uint)(sum);                               \
    }

// twice: division memory
kernel void float_quotients(global const uint* restrict x, global uint* restrict y, uint n) {
    EACH(float, 16, v[c] = 1.0e9f / (v[c] + 1.0f);)
}

// twice: division memory
kernel void double_quotients(global const uint* restrict x, global uint* restrict y, uint n) {
    EACH(double, 16, v[c] = 1.0e9 / (v[c] + 1.0);)
}

// twice: division memory
kernel void uint_quotients(global const uint* restrict x, global uint* restrict y, uint n) {
    EACH(uint, 16, v[c] = 4000000000u / (v[c] & 65535u | 1u) + a;)
}

// twice: division memory
kernel void uint_remainders(global const uint* restrict x, global uint* restrict y, uint n) {
    EACH(uint, 16, v[c] = (v[c] * 77u + k) % (a | 1u);)
}

// twice: division memory
kernel void ulong_quotients(global const uint* restrict x, global uint* restrict y, uint n) {
    EACH(ulong, 10, v[c] = 0xfffffffffffffff0ul / (v[c] & 0xfffffffful | 1ul) + ((ulong)a << 20);)
}

// twice: division memory
kernel void ulong_remainders(global const uint* restrict x, global uint* restrict y, uint n) {
    EACH(ulong, 10, v[c] = (v[c] * 6364136223846793005ul + k) % (((ulong)a << 8) | 1ul);)
}

// twice: division memory
kernel void long_quotients(global const uint* restrict x, global uint* restrict y, uint n) {
    EACH(long, 10, v[c] = -0x7ffffffffffffff0l / (long)((v[c] & 0xffffff) + 3) + (long)a;)
}

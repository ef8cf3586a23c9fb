// Neighbours that go different ways: float=2 does twice the arithmetic on each way, memory=2 moves twice the bytes.
/*cllab
axis n = 2Mi
axis float = 1
axis memory = 1
options -DFLOAT={float} -DMEMORY={memory}
arg x = rand:n*memory
arg y = out:n*memory
arg n = n
global n
local 256
differ odd_and_even, four_ways, one_works_longer, own_trips
*/
// cpu: n=256Ki

#define CHAINS(trips, body)                                              \
    {                                                                    \
        float v[4 * FLOAT];                                              \
        for (int c = 0; c < 4 * FLOAT; ++c) v[c] = a + c;                \
        for (uint k = 0; k < trips / MEMORY; ++k)                        \
            for (int c = 0; c < 4 * FLOAT; ++c) v[c] = body;             \
        for (int c = 0; c < 4 * FLOAT; ++c) sum += v[c];                 \
    }

// twice: float memory
kernel void odd_and_even(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        const float a = x[m * n + i];
        float sum = 0;
        if (i & 1)
            CHAINS(64, fma(v[c], a, 0.3f))
        else
            CHAINS(64, fma(v[c], 0.4f, a) - 0.1f)
        y[m * n + i] = sum;
    }
}

// twice: float memory
kernel void four_ways(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        const float a = x[m * n + i];
        float sum = 0;
        switch (i & 3) {
            case 0: CHAINS(48, fma(v[c], a, 0.3f)) break;
            case 1: CHAINS(48, fma(v[c], 0.4f, a) - 0.1f) break;
            case 2: CHAINS(48, fma(v[c], 0.3f, v[c] * v[c])) break;
            default: CHAINS(48, fma(0.2f - v[c], a, 0.1f * a)) break;
        }
        y[m * n + i] = sum;
    }
}

// One of 32 neighbours works eight times as long as the others.
// twice: float memory
kernel void one_works_longer(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        const float a = x[m * n + i];
        const uint trips = (i & 31) == 7 ? 128 : 16;
        float sum = 0;
        CHAINS(trips, fma(v[c], a, 0.3f))
        y[m * n + i] = sum;
    }
}

// Each item its own number of steps, by its data.
// twice: float memory
kernel void own_trips(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        const float a = x[m * n + i];
        const uint trips = (uint)(64 * a) + 2;
        float sum = 0;
        CHAINS(trips, fma(v[c], 0.5f, a))
        y[m * n + i] = sum;
    }
}

// Functions in independent chains: functions=2 calls twice as often, memory=2 moves twice the bytes.
/*cllab
axis n = 2Mi
axis functions = 1
axis memory = 1
options -DFUNCTIONS={functions} -DMEMORY={memory}
arg x = rand:n*memory
arg y = out:n*memory
arg n = n
global n
local 256
differ exponentials, sines, logarithms, roots, inverse_roots, powers, native_exponentials
*/
// cpu: n=256Ki

#define EACH(steps, statement)                                     \
    const uint i = get_global_id(0);                               \
    for (uint m = 0; m < MEMORY; ++m) {                            \
        const float a = x[m * n + i];                              \
        float v[2 * FUNCTIONS], sum = 0;                           \
        for (int c = 0; c < 2 * FUNCTIONS; ++c) v[c] = a + c;      \
        for (uint k = 0; k < steps / MEMORY; ++k)                  \
            for (int c = 0; c < 2 * FUNCTIONS; ++c) { statement }  \
        for (int c = 0; c < 2 * FUNCTIONS; ++c) sum += v[c];       \
        y[m * n + i] = sum;                                        \
    }

// twice: functions memory
kernel void exponentials(global const float* restrict x, global float* restrict y, uint n) {
    EACH(16, v[c] = exp(-v[c]) + a;)
}

// twice: functions memory
kernel void sines(global const float* restrict x, global float* restrict y, uint n) { EACH(16, v[c] = sin(v[c]) + a;) }

// twice: functions memory
kernel void logarithms(global const float* restrict x, global float* restrict y, uint n) {
    EACH(16, v[c] = log(v[c] + 2.0f);)
}

// twice: functions memory
kernel void roots(global const float* restrict x, global float* restrict y, uint n) {
    EACH(32, v[c] = sqrt(v[c] + a);)
}

// twice: functions memory
kernel void inverse_roots(global const float* restrict x, global float* restrict y, uint n) {
    EACH(32, v[c] = rsqrt(v[c] + 1.0f);)
}

// twice: functions memory
kernel void powers(global const float* restrict x, global float* restrict y, uint n) {
    EACH(8, v[c] = pow(v[c] + 0.5f, 0.7f) + a;)
}

// twice: functions memory
kernel void native_exponentials(global const float* restrict x, global float* restrict y, uint n) {
    EACH(48, v[c] = native_exp(-v[c]);)
}

// The same work in two ways. `one` is 1, which no compiler knows: it may not calculate a whole loop in advance.
#define LOOP(step)                                         \
    float x = in[get_global_id(0)], y = x * 0.5f;          \
    for (uint i = 0; i < 256 * one; ++i) step;                   \
    out[get_global_id(0)] = x;
kernel void separate(global float* out, global const float* in, uint one) { LOOP(x = x * y + 0.25f) }
kernel void fused(global float* out, global const float* in, uint one) { LOOP(x = fma(x, y, 0.25f)) }
kernel void of_float(global float* out, global const float* in, uint one) { LOOP(x = x * 0.75f + y) }
kernel void of_double(global float* out, global const float* in, uint one) { LOOP(x = x * 0.75 + y) }
kernel void divided(global float* out, global const float* in, uint one) { LOOP(x = x / 1.25f + y) }
kernel void multiplied(global float* out, global const float* in, uint one) { LOOP(x = x * 0.8f + y) }

// Branches: each item its own way, each group of 64 its own way, two ways that say the same, and one way.
#define A x = x * 1664525u + 1013904223u
#define B x = (x ^ x >> 7) * 22695477u
#define WORK(condition, first, second)                     \
    uint x = in[get_global_id(0)];                         \
    for (uint i = 0; i < 128 * one; ++i) {                       \
        if (condition) {                                   \
            first;                                         \
        } else {                                           \
            second;                                        \
        }                                                  \
    }                                                      \
    out[get_global_id(0)] = x;
kernel void straight(global uint* out, global const uint* in, uint one) { WORK(true, A, B) }
kernel void by_item(global uint* out, global const uint* in, uint one) { WORK(get_global_id(0) & 1, A, B) }
kernel void by_64(global uint* out, global const uint* in, uint one) { WORK(get_global_id(0) & 64, A, B) }
kernel void by_data(global uint* out, global const uint* in, uint one) { WORK(x & 1, A, B) }
kernel void equal(global uint* out, global const uint* in, uint one) { WORK(x & 1, A, A) }

// What waits for itself: chain=2 makes the chain twice as long, beside=2 does twice the work beside each other.
/*cllab
axis n = 4Mi
axis chain = 1
axis beside = 1
options -DCHAIN={chain} -DBESIDE={beside}
arg x = rand:n:0:1000000000
arg y = out:4096
arg mask = n - 1
global 64
local 64
kernel one_walk
global 1
local 1
kernel bodies_of_few
global 512
local 256
kernel root_chain
global 256
local 256
kernel local_walk
global 64
kernel walk_of_groups
global 2048
differ one_walk, walk_of_64, walk_of_groups, walk_in_small, local_walk, multiply_add_chain, double_chain, integer_chain, root_chain, bodies_of_few
*/
// cpu: n=32Ki

// Each place is told by the load before; adding k keeps a walk from going round.
#define WALK(steps)                                                                           \
    const uint i = get_global_id(0);                                                          \
    uint at[BESIDE];                                                                          \
    for (int b = 0; b < BESIDE; ++b) at[b] = (i + 4096 * b) * 2654435761u & mask;             \
    for (uint k = 0; k < (steps) * CHAIN; ++k)                                                \
        for (int b = 0; b < BESIDE; ++b) at[b] = (x[at[b]] * 747796405u + k + i) & mask;      \
    uint sum = 0;                                                                             \
    for (int b = 0; b < BESIDE; ++b) sum += at[b];                                            \
    y[i] = sum;

// twice: chain beside
kernel void one_walk(global const uint* restrict x, global uint* restrict y, uint mask) { WALK(2000) }

// twice: chain beside
kernel void walk_of_64(global const uint* restrict x, global uint* restrict y, uint mask) { WALK(500) }

// twice: chain beside
kernel void walk_of_groups(global const uint* restrict x, global uint* restrict y, uint mask) { WALK(250) }

// twice: chain beside
kernel void walk_in_small(global const uint* restrict x, global uint* restrict y, uint mask) {
    mask &= 2047;
    WALK(1000)
}

// twice: chain beside
kernel void local_walk(global const uint* restrict x, global uint* restrict y, uint mask) {
    local uint near[1024];
    const uint i = get_global_id(0);
    for (uint k = i; k < 1024; k += 64) near[k] = x[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint at[BESIDE], sum = 0;
    for (int b = 0; b < BESIDE; ++b) at[b] = (i + 100 * b) & 1023;
    for (uint k = 0; k < 1000 * CHAIN; ++k)
        for (int b = 0; b < BESIDE; ++b) at[b] = (near[at[b]] + k) & 1023;
    for (int b = 0; b < BESIDE; ++b) sum += at[b];
    y[i] = sum;
}

// twice: chain beside
kernel void multiply_add_chain(global const uint* restrict x, global uint* restrict y, uint mask) {
    const uint i = get_global_id(0);
    float v[BESIDE], sum = 0;
    for (int b = 0; b < BESIDE; ++b) v[b] = x[i + b] & 255;
    for (uint k = 0; k < 20000 * CHAIN; ++k)
        for (int b = 0; b < BESIDE; ++b) v[b] = fma(v[b], 0.999f, 0.001f);
    for (int b = 0; b < BESIDE; ++b) sum += v[b];
    y[i] = (uint)(1000 * sum);
}

// twice: chain beside
kernel void double_chain(global const uint* restrict x, global uint* restrict y, uint mask) {
    const uint i = get_global_id(0);
    double v[BESIDE], sum = 0;
    for (int b = 0; b < BESIDE; ++b) v[b] = x[i + b] & 255;
    for (uint k = 0; k < 10000 * CHAIN; ++k)
        for (int b = 0; b < BESIDE; ++b) v[b] = fma(v[b], 0.999, 0.001);
    for (int b = 0; b < BESIDE; ++b) sum += v[b];
    y[i] = (uint)(1000 * sum);
}

// twice: chain beside
kernel void integer_chain(global const uint* restrict x, global uint* restrict y, uint mask) {
    const uint i = get_global_id(0);
    uint v[BESIDE], sum = 0;
    for (int b = 0; b < BESIDE; ++b) v[b] = x[i + b];
    for (uint k = 0; k < 20000 * CHAIN; ++k)
        for (int b = 0; b < BESIDE; ++b) v[b] = v[b] * 1664525u + 1013904223u;
    for (int b = 0; b < BESIDE; ++b) sum += v[b];
    y[i] = sum;
}

// twice: chain beside
kernel void root_chain(global const uint* restrict x, global uint* restrict y, uint mask) {
    const uint i = get_global_id(0);
    float v[BESIDE], sum = 0;
    for (int b = 0; b < BESIDE; ++b) v[b] = x[i + b] & 255;
    for (uint k = 0; k < 2000 * CHAIN; ++k)
        for (int b = 0; b < BESIDE; ++b) v[b] = sqrt(v[b] + 1.0f);
    for (int b = 0; b < BESIDE; ++b) sum += v[b];
    y[i] = (uint)(1000 * sum);
}

// All against all with too few groups for the units.
// twice: chain beside
kernel void bodies_of_few(global const uint* restrict x, global uint* restrict y, uint mask) {
    const uint i = get_global_id(0);
    float force[BESIDE], sum = 0;
    for (int b = 0; b < BESIDE; ++b) force[b] = 0;
    const float own = x[i] & 1023;
    for (uint k = 0; k < 512 * CHAIN; ++k)
        for (int b = 0; b < BESIDE; ++b) {
            const float d = (x[k + b] & 1023) - own;
            force[b] += d * rsqrt(d * d + 1.0f + b);
        }
    for (int b = 0; b < BESIDE; ++b) sum += force[b];
    y[i] = (uint)fabs(sum);
}

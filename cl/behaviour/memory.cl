// Bytes in and bytes out, in several ways.
#ifndef T
#define T float4
#endif
#ifndef FROM
#define FROM global const
#endif
#ifndef RESTRICT
#define RESTRICT
#endif
kernel void copy(global T* out, global const T* in) { out[get_global_id(0)] = in[get_global_id(0)]; }
kernel void copy_volatile(global volatile T* out, global const volatile T* in) {
    out[get_global_id(0)] = in[get_global_id(0)];
}
kernel void copy3(global float* out, global const float* in) {
    vstore3(vload3(get_global_id(0), in), get_global_id(0), out);
}
kernel void read(global uint* out, global const uint4* in) {
    const uint4 x = in[get_global_id(0)];
    if ((x.x ^ x.y ^ x.z ^ x.w) == 0x9e3779b9u) out[0] = 1;
}
kernel void count_used(global uint* out, global const uint* in) {
    if (in[get_global_id(0)]) atomic_inc(&out[0]);
}
kernel void add(global float* RESTRICT out, global const float* RESTRICT in) {
    const size_t i = 4 * get_global_id(0);
    for (int k = 0; k < 4; ++k) out[i + k] += in[i + k] * in[i];
}

// Halves: one by one, by eight, and as the bytes they are.
kernel void half1(global half* out, global const half* in) {
    const size_t i = get_global_id(0);
    vstore_half(vload_half(i, in), i, out);
}
kernel void half8_(global half* out, global const half* in) {
    const size_t i = get_global_id(0);
    vstore_half8(vload_half8(i, in), i, out);
}

// A table of 4,096 words: the same word for all items, or one each.
#define LOOKUP(index)                                              \
    uint x = get_global_id(0);                                     \
    for (uint i = 0; i < 64 * one; ++i) x += table[(index) & 4095]; \
    out[get_global_id(0)] = x;
kernel void uniform(global uint* out, FROM uint* table, uint one) { LOOKUP(i * 61) }
kernel void divergent(global uint* out, FROM uint* table, uint one) { LOOKUP(x * 61 + i) }

// The sum of 5 x 5 neighbours.
#define NEIGHBOURS(value)                                                          \
    const int x0 = get_global_id(0), y0 = get_global_id(1);                        \
    const int width = get_global_size(0), height = get_global_size(1);             \
    float sum = 0;                                                                 \
    for (int dy = -2; dy <= 2; ++dy)                                               \
        for (int dx = -2; dx <= 2; ++dx) {                                         \
            const int x = clamp(x0 + dx, 0, width - 1), y = clamp(y0 + dy, 0, height - 1); \
            sum += value;                                                          \
        }                                                                          \
    out[y0 * width + x0] = sum;
kernel void stencil(global float* out, global const float* in) { NEIGHBOURS(in[y * width + x]) }
#ifdef IMAGE
kernel void stencil_image(global float* out, read_only image2d_t in) {
    const sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    NEIGHBOURS(read_imagef(in, nearest, (int2)(x, y)).x)
}
#endif

// Sixteen values of an item's own, by an index that is known when it runs, or always.
#define PRIVATE(index)                                             \
    uint own[16], x = in[get_global_id(0)];                        \
    for (uint i = 0; i < 16; ++i) own[i] = x ^ x >> i;             \
    for (uint i = 0; i < 64; ++i) x = x * 3 + own[(index) & 15];   \
    out[get_global_id(0)] = x;
kernel void private_known(global uint* out, global const uint* in) { PRIVATE(i) }
kernel void private_found(global uint* out, global const uint* in) { PRIVATE(x) }

// 1,024 floats through local memory by groups of 256.
#define THROUGH(fill)                                              \
    local float tile[1024];                                        \
    const uint l = get_local_id(0), first = get_group_id(0) * 1024; \
    fill;                                                          \
    for (uint k = 0; k < 4; ++k) out[first + l + 256 * k] = tile[1023 - l - 256 * k];
kernel void by_async(global float* out, global const float* in) {
    THROUGH(event_t done = async_work_group_copy(tile, in + first, 1024, 0); wait_group_events(1, &done))
}
kernel void by_loop(global float* out, global const float* in) {
    THROUGH(for (uint k = 0; k < 4; ++k) tile[l + 256 * k] = in[first + l + 256 * k]; barrier(CLK_LOCAL_MEM_FENCE))
}

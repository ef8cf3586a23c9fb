// Atomics on few addresses, in global and in local memory. atomics=2 does twice as many, integer=2 twice the arithmetic
// in front of them.
/*cllab
axis n = 1Mi
axis atomics = 1
axis integer = 1
options -DATOMICS={atomics} -DINTEGER={integer}
arg x = rand:n:0:1000000000
arg y = zero:4096
arg z = out:n / 64
arg n = n
global n
local 256
kernel global_minimum
arg y = const:4000000000:4096
differ counter, histogram_of_16, histogram_of_256, global_minimum, local_counter, local_histogram_of_16, local_histogram_of_256
*/
// cpu: n=256Ki

#define BIN(bits)                                                                 \
    const uint i = get_global_id(0);                                              \
    uint a = x[i];                                                                \
    for (int k = 0; k < 4 * INTEGER; ++k) a = (a ^ (a >> 15)) * 0x2c1b3c6du;      \
    const uint bin = (a >> 8) & ((1u << bits) - 1);

// twice: atomics integer
kernel void counter(global const uint* restrict x, global uint* restrict y, uint n) {
    BIN(4)
    for (uint k = 0; k < ATOMICS; ++k) atomic_add(y, bin & 1);
}

// twice: atomics integer
kernel void histogram_of_16(global const uint* restrict x, global uint* restrict y, uint n) {
    BIN(4)
    for (uint k = 0; k < ATOMICS; ++k) atomic_inc(y + ((bin + k) & 15));
}

// twice: atomics integer
kernel void histogram_of_256(global const uint* restrict x, global uint* restrict y, uint n) {
    BIN(8)
    for (uint k = 0; k < ATOMICS; ++k) atomic_inc(y + ((bin + k) & 255));
}

// twice: atomics integer
kernel void global_minimum(global const uint* restrict x, global uint* restrict y, uint n) {
    BIN(4)
    for (uint k = 0; k < ATOMICS; ++k) atomic_min(y + k, a + bin);
}

#define LOCAL_BINS(bits, count)                                                                       \
    local uint bins[1u << bits];                                                                      \
    const uint i = get_global_id(0), l = get_local_id(0);                                             \
    for (uint k = l; k < (1u << bits); k += 256) bins[k] = 0;                                         \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                     \
    uint a = x[i];                                                                                    \
    for (int k = 0; k < 4 * INTEGER; ++k) a = (a ^ (a >> 15)) * 0x2c1b3c6du;                          \
    for (uint k = 0; k < count * ATOMICS; ++k) atomic_inc(bins + (((a >> 8) + k) & ((1u << bits) - 1))); \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                     \
    if (l < 4) z[4 * get_group_id(0) + l] = bins[l & ((1u << bits) - 1)];

// twice: local_atomics integer
kernel void local_counter(global const uint* restrict x, global uint* restrict z, uint n) { LOCAL_BINS(0, 64) }

// twice: local_atomics integer
kernel void local_histogram_of_16(global const uint* restrict x, global uint* restrict z, uint n) {
    LOCAL_BINS(4, 64)
}

// twice: local_atomics integer
kernel void local_histogram_of_256(global const uint* restrict x, global uint* restrict z, uint n) {
    LOCAL_BINS(8, 64)
}

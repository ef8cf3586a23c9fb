// occupancy: the same work with fewer groups resident. Local memory that nobody needs, or registers that hold values nobody needs
// until the end, take room from other groups on a compute unit; nothing else changes. What a device needs to be resident is where
// the time begins to rise.
//   LIVE   floats that `*_registers` carry round the loop without using them

#define R4(X) X X X X
#define R16(X) R4(X) R4(X) R4(X) R4(X)
#define R64(X) R16(X) R16(X) R16(X) R16(X)

#if defined(OCCUPANCY_MEMORY_LOCAL) || defined(OCCUPANCY_ARITHMETIC_LOCAL)
#define BALLAST_PARAMETER local uint* restrict ballast, uint untouched,
// The argument untouched is never the number of a trip, but the compiler does not know it.
#define CARRY if (trips == (int)untouched) ballast[get_local_id(0)] = 1;
#define RELEASE if (trips == (int)untouched) out[0] = ballast[0];
#else
#define BALLAST_PARAMETER global const volatile float* ballast,
// Volatile loads cannot be made later, where they would take no room.
#define CARRY                                        \
    float held[LIVE + 1];                            \
    _Pragma("unroll") for (int j = 0; j < LIVE; ++j) held[j] = ballast[(get_local_id(0) + j) & 63];
#define RELEASE _Pragma("unroll") for (int j = 0; j < LIVE; ++j) total += held[j];
#endif

#if defined(OCCUPANCY_MEMORY_LOCAL) || defined(OCCUPANCY_MEMORY_REGISTERS)
// One load in flight an item: how many items keep memory busy?
kernel void KERNEL(global const uint* restrict in, global float* restrict out, BALLAST_PARAMETER int trips) {
    const uint step = get_global_size(0);
    float total = 0;
    CARRY
    uint sum = 0;
    global const uint* p = in + get_global_id(0);
#pragma unroll 1
    for (int i = 0; i < trips; ++i, p += step) sum = (sum ^ *p) * 2654435761u;
    RELEASE
    out[get_global_id(0)] = (float)(sum >> 8) + total;
}
#endif

#if defined(OCCUPANCY_ARITHMETIC_LOCAL) || defined(OCCUPANCY_ARITHMETIC_REGISTERS)
// One chain an item: how many items keep the arithmetic units busy?
kernel void KERNEL(global const uint* restrict in, global float* restrict out, BALLAST_PARAMETER int trips) {
    float total = 0;
    CARRY
    float x = (float)(in[get_local_id(0) & 63] >> 8) * 0x1p-25f - 0.5f;
#pragma unroll 1
    for (int i = 0; i < trips; ++i) {
        R64(x = fma(x, x, -0.75f);)
    }
    RELEASE
    out[get_global_id(0)] = x + total;
}
#endif

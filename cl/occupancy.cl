// occupancy: the same work with fewer groups resident. Local memory that nobody needs, or registers that hold values nobody needs
// until the end, take room from other groups on a compute unit; nothing else changes. What a device needs to be resident is where
// the time begins to rise.
//   LIVE   floats that `*_registers` carry round the loop and never use

#define R4(X) X X X X
#define R16(X) R4(X) R4(X) R4(X) R4(X)
#define R64(X) R16(X) R16(X) R16(X) R16(X)

// `untouched` is never the number of a trip, which the compiler does not know: what a trip might need takes room all the time.
#if defined(OCCUPANCY_MEMORY_LOCAL) || defined(OCCUPANCY_ARITHMETIC_LOCAL)
#define BALLAST_PARAMETER local uint* restrict ballast,
#define CARRY if (trips == untouched) ballast[get_local_id(0)] = 1;
#define RELEASE if (i == untouched) out[0] = ballast[0];
#else
#define BALLAST_PARAMETER
// A chain from a loaded value, so that none is a constant or cheaply made again where it is needed.
#define CARRY                                                                                    \
    float held[LIVE + 1], link = (float)(in[get_local_id(0) & 63] >> 8) * 0x1p-25f - 0.5f;       \
    _Pragma("unroll") for (int j = 0; j < LIVE; ++j) held[j] = link = fma(link, link, -0.75f);
#define RELEASE                                                                                  \
    if (i == untouched) {                                                                        \
        _Pragma("unroll") for (int j = 0; j < LIVE; ++j) out[j] = held[j];                       \
    }
#endif

#if defined(OCCUPANCY_MEMORY_LOCAL) || defined(OCCUPANCY_MEMORY_REGISTERS)
// One load in flight an item: how many items keep memory busy?
kernel void KERNEL(global const uint* restrict in, global float* restrict out, BALLAST_PARAMETER int untouched, int trips) {
    const uint step = get_global_size(0);
    CARRY
    uint sum = 0;
    global const uint* p = in + get_global_id(0);
#pragma unroll 1
    for (int i = 0; i < trips; ++i, p += step) {
        sum = (sum ^ *p) * 2654435761u;
        RELEASE
    }
    out[get_global_id(0)] = (float)(sum >> 8);
}
#endif

#if defined(OCCUPANCY_ARITHMETIC_LOCAL) || defined(OCCUPANCY_ARITHMETIC_REGISTERS)
// One chain an item: how many items keep the arithmetic units busy?
kernel void KERNEL(global const uint* restrict in, global float* restrict out, BALLAST_PARAMETER int untouched, int trips) {
    CARRY
    float x = (float)(in[get_local_id(0) & 63] >> 8) * 0x1p-25f - 0.5f;
#pragma unroll 1
    for (int i = 0; i < trips; ++i) {
        R64(x = fma(x, x, -0.75f);)
        RELEASE
    }
    out[get_global_id(0)] = x;
}
#endif

/* family
question: How many work-groups must be resident on a unit to fill memory and the arithmetic units?
over: ballast

axis local: work-items per group; auto is 64
  unit: work-item
  whole: 1 to 4Ki
axis ballast: local memory of a group that takes room from others
  unit: byte
  whole: 0 to 1Mi, multiples of 4
  usual: 1024, 2048, 4096, 8192, 16384, 32768
  only: memory_local, arithmetic_local
axis live: floats that a work-item holds round the loop
  whole: 0 to 240
  usual: 0, 16, 32, 64, 96, 128, 192, 224
  only: memory_registers, arithmetic_registers

variant memory_local: One load in flight per work-item, room taken by local memory.
  needs: local
  over: ballast
variant memory_registers: One load in flight per work-item, room taken by registers.
  over: live
variant arithmetic_local: One chain per work-item, room taken by local memory.
  needs: local
  over: ballast
variant arithmetic_registers: One chain per work-item, room taken by registers.
  over: live
*/

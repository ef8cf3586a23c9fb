// banks: one wave reads local memory at a stride. Each word holds the address of the word SHIFT further on, so each step is
// one load that the next one waits for. All lanes move together: lanes that conflict at the first step conflict at every step.
// The ring is the same for every stride; only where the lanes start differs, and that comes from a buffer, so no compiler
// knows the pattern. 4096 words: a multiple of every number of banks, and strides up to 64 do not wrap into each other.
#ifdef LAB_CUDA
#error "a pointer of CUDA is no 32-bit address of local memory, which this family stores there"
#endif
#if defined(BANKS_WORD) || defined(BANKS_PAIR)
#if defined(LAB_AMD) && defined(BANKS_PAIR)
// A local address has 32 bits there, so the compiler would load only the half of a pair that it needs.
#define LOAD p = *(local const volatile ADDRESS*)(size_t)p;
#else
#define LOAD p = *(local const ADDRESS*)(size_t)p;
#endif
#define LOAD_4 LOAD LOAD LOAD LOAD

kernel void KERNEL(global const uint* restrict start, global uint* restrict out, int trips) {
    local ADDRESS ring[WORDS];
    const uint lane = get_local_id(0);
    for (uint i = lane; i < WORDS; i += get_local_size(0)) ring[i] = (ADDRESS)(size_t)(ring + (i + SHIFT) % WORDS);
    barrier(CLK_LOCAL_MEM_FENCE);
    ADDRESS p = (ADDRESS)(size_t)(ring + start[lane]);
    for (int i = 0; i < trips; ++i) {
        LOAD_4 LOAD_4 LOAD_4 LOAD_4
    }
    out[lane] = (uint)(p - (ADDRESS)(size_t)ring) / sizeof(ADDRESS);
}
#endif

#ifdef BANKS_RATE
// Whole groups on all units, four chains in each work-item: so many loads are under way that only their rate counts.
kernel void KERNEL(global const uint* restrict start, global uint* restrict out, int trips) {
    local ADDRESS ring[WORDS];
    const uint lane = get_local_id(0);
    for (uint i = lane; i < WORDS; i += get_local_size(0)) ring[i] = (ADDRESS)(size_t)(ring + (i + SHIFT) % WORDS);
    barrier(CLK_LOCAL_MEM_FENCE);
#define FROM(k) (ADDRESS)(size_t)(ring + (start[lane] + (k) * APART) % WORDS)
    ADDRESS a = FROM(0), b = FROM(1), c = FROM(2), d = FROM(3);
#define NEXT(p) p = *(local const ADDRESS*)(size_t)p;
#define STEP NEXT(a) NEXT(b) NEXT(c) NEXT(d)
    for (int i = 0; i < trips; ++i) {
        STEP STEP STEP STEP
    }
    out[get_global_id(0)] = (uint)((a - (ADDRESS)(size_t)ring) + (b - (ADDRESS)(size_t)ring) + (c - (ADDRESS)(size_t)ring) + (d - (ADDRESS)(size_t)ring)) /
                            sizeof(ADDRESS);
}
#endif

/* family
question: How many banks does local memory have, how wide are they, and what does a conflict cost?
over: stride

axis stride: distance between the words of neighbouring lanes; 0: all lanes read one word, 33: 32 with padding
  unit: word
  whole: 0 to 64
  usual: 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 15, 16, 17, 20, 24, 31, 32, 33, 48, 64

variant word: One wave chases addresses of 4 bytes (8 bytes where a local pointer has 8).
variant pair: The same with words of 8 bytes.
variant rate: Whole groups on all units, four chains in each work-item: bytes in a second.
*/

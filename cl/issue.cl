// issue: how many instructions a core of a CPU takes, whatever they are. The additions are inline assembly, an instruction each, so that a
// compiler can neither fold them nor make vectors of them, and their number is known.
//   CHAINS   additions of each kind that do not wait for each other
//   integer  in general registers, vector in vector registers, mixed in both by turns: a processor has units of their own for each kind, and
//            what limits both together is how many instructions it decodes or renames in a clock
#define ROUNDS_(X) X X X X X X X X X X X X X X X X
#define EACH_1(M) M(0)
#define EACH_2(M) EACH_1(M) M(1)
#define EACH_4(M) EACH_2(M) M(2) M(3)
#define EACH_8(M) EACH_4(M) M(4) M(5) M(6) M(7)
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define EACH PASTE(EACH_, CHAINS)

#define INTEGER(j) __asm__ volatile("addl %1, %0" : "+r"(a##j) : "r"(c) : "cc");
#ifdef __AVX__
#define VECTOR(j) __asm__ volatile("vpaddd %1, %0, %0" : "+x"(v##j) : "x"(w));
#else
#define VECTOR(j) __asm__ volatile("paddd %1, %0" : "+x"(v##j) : "x"(w));
#endif
#if defined(ISSUE_INTEGER)
#define STEP(j) INTEGER(j)
#elif defined(ISSUE_VECTOR)
#define STEP(j) VECTOR(j)
#else
#define STEP(j) INTEGER(j) VECTOR(j)
#endif
#define BEGIN(j) \
    uint a##j = start[j]; \
    uint4 v##j = (uint4)(start[8 + j], start[9 + j], start[10 + j], start[11 + j]);
#define ADD(j) sum += a##j + v##j.x + 3 * v##j.y + 5 * v##j.z + 7 * v##j.w;

// A function of its own: PoCL 5.0 ends the process by an assertion where inline assembly is in a kernel itself (LLVM 16).
__attribute__((noinline)) uint additions(global const uint* restrict start, int trips) {
    const uint c = start[19];
    const uint4 w = (uint4)(start[20]);
    EACH(BEGIN)
    for (int i = 0; i < trips; ++i) {
        ROUNDS_(EACH(STEP))
    }
    uint sum = 0;
    EACH(ADD)
    return sum;
}

kernel void KERNEL(global const uint* restrict start, global uint* restrict out, int trips) { out[get_global_id(0)] = additions(start, trips); }

/* family
question: How many instructions of any kind does a core take per second?
over: chains

axis chains: additions of each kind that do not wait for each other
  whole: 1 to 8, powers of two
  usual: 1, 2, 4, 8

variant integer: Additions in general registers.
  needs: cpu, pocl
variant vector: Additions in vector registers.
  needs: cpu, pocl
variant mixed: Both in turns: decoding and renaming are the limit, not the units of one kind.
  needs: cpu, pocl
*/

// fma: what one fused multiply-add costs. Every variant runs chains x <- x * x + c, whose end value depends on every
// step (a quadratic map on [-2, 2]), so the host can prove that all of them were done. Of whole numbers, whose squares would soon
// end in few values, it is x <- x * a + c, which goes through all of them. `add` and `multiply` run x <- x + c and
// x <- x * c. The host defines:
//   TYPE    float, double, half, uint or ushort       WIDTH   1, 2, 4, 8 or 16 elements a vector
//   TYPE_half with PAIRS  half where the language has no arithmetic of it but the device has pairs (NVIDIA): TYPE is ushort
//   ILP     independent chains per work-item    UNROLL  steps of each chain between two loop branches
//   UNROLL_0 to _3  its hexadecimal digits from the last on, each as a number from 0 to 15

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

// X written n times, by text: `#pragma unroll` is a wish, this is not.
#define R1(X) X
#define R2(X) R1(X) R1(X)
#define R4(X) R2(X) R2(X)
#define R8(X) R4(X) R4(X)
#define R16(X) R8(X) R8(X)
#define R32(X) R16(X) R16(X)
#define R64(X) R32(X) R32(X)
#define R128(X) R64(X) R64(X)
#define R256(X) R128(X) R128(X)
#define R512(X) R256(X) R256(X)
#define R1024(X) R512(X) R512(X)
#define R2048(X) R1024(X) R1024(X)
#define R4096(X) R2048(X) R2048(X)
#define R8192(X) R4096(X) R4096(X)
#define R16384(X) R8192(X) R8192(X)

// The same for every count up to 15.
#define A0(X)
#define A1(X) X
#define A2(X) X X
#define A3(X) A2(X) X
#define A4(X) R4(X)
#define A5(X) R4(X) X
#define A6(X) R4(X) A2(X)
#define A7(X) R4(X) A3(X)
#define A8(X) R8(X)
#define A9(X) R8(X) X
#define A10(X) R8(X) A2(X)
#define A11(X) R8(X) A3(X)
#define A12(X) R8(X) R4(X)
#define A13(X) R8(X) A5(X)
#define A14(X) R8(X) A6(X)
#define A15(X) R8(X) A7(X)

// M(j) for each chain j.
#define CHAINS1(M) M(0)
#define CHAINS2(M) CHAINS1(M) M(1)
#define CHAINS4(M) CHAINS2(M) M(2) M(3)
#define CHAINS8(M) CHAINS4(M) M(4) M(5) M(6) M(7)
#define CHAINS16(M) CHAINS8(M) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15)

#if defined(TYPE)
#if defined(TYPE_half) && !defined(PAIRS)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

#if defined(PAIRS)
#define VALUE uint
#define LOAD(offset, p) ((uint)(p)[offset] | (uint)(p)[(offset) + 1] << 16)
#define STORE(v, offset, p) (p)[offset] = (ushort)(v), (p)[(offset) + 1] = (ushort)((v) >> 16)
#define BOTH(constant) ((uint)(constant) * 0x10001u)
#elif WIDTH == 1
#define VALUE TYPE
#define LOAD(offset, p) (p)[offset]
#define STORE(v, offset, p) (p)[offset] = (v)
#else
#define VALUE PASTE(TYPE, WIDTH)
#define LOAD(offset, p) PASTE(vload, WIDTH)(0, (p) + (offset))
#define STORE(v, offset, p) PASTE(vstore, WIDTH)(v, 0, (p) + (offset))
#endif

#if defined(FMA_ADD)
#define STEP(j) x##j = x##j + c;
#elif defined(FMA_MULTIPLY)
#define STEP(j) x##j = x##j * c;
#elif defined(PAIRS)
#define STEP(j) asm("fma.rn.f16x2 %0, %0, %0, %1;" : "+r"(x##j) : "r"(c));
#elif defined(TYPE_ushort) && WIDTH == 1  // in C the product of two is an int, which it may exceed
#define STEP(j) x##j = (ushort)((uint)x##j * a + c);
#define FACTOR const VALUE a = (constant_c & ~7u) | 5;
#elif defined(TYPE_uint) || defined(TYPE_ushort)
#define STEP(j) x##j = x##j * a + c;
#define FACTOR const VALUE a = BOTH((TYPE)((constant_c & ~7u) | 5));
#else
#define STEP(j) x##j = fma(x##j, x##j, c);
#endif
// Chain j of work-item i starts at its own scalar for each element, so that no two chains can be merged into one.
#define BEGIN(j) VALUE x##j = LOAD((get_global_id(0) % 4) + (j) * WIDTH, start);
#if defined(PAIRS)
#define ADD(j) asm("add.rn.f16x2 %0, %0, %1;" : "+r"(sum) : "r"(x##j));
#else
#define ADD(j) sum += x##j;
#define BOTH(constant) (VALUE)(constant)
#endif
#define ONCE PASTE(CHAINS, ILP)(STEP)
#define MANY PASTE(A, UNROLL_0)(ONCE) R16(PASTE(A, UNROLL_1)(ONCE)) R256(PASTE(A, UNROLL_2)(ONCE)) R4096(PASTE(A, UNROLL_3)(ONCE))
#ifdef AHEAD
#define BEFORE PASTE(A, AHEAD)(ONCE)
#else
#define BEFORE
#endif

#if !defined(FACTOR)
#define FACTOR
#endif
// The parts every kernel here has in common.
#define PROLOGUE                      \
    const VALUE c = BOTH(constant_c); \
    FACTOR                            \
    PASTE(CHAINS, ILP)(BEGIN)
#define EPILOGUE                \
    VALUE sum = (VALUE)(0);     \
    PASTE(CHAINS, ILP)(ADD)     \
    STORE(sum, get_global_id(0) * WIDTH, out);
#endif

#if defined(FMA_LATENCY) || defined(FMA_ILP) || defined(FMA_LOOP) || defined(FMA_CODE) || defined(FMA_PEAK) || \
    defined(FMA_UNITS) || defined(FMA_ALIGN) || defined(FMA_ADD) || defined(FMA_MULTIPLY)
// One loop; which variant it is lies in ILP, UNROLL and the launch. The branch is paid once every UNROLL steps. The AHEAD
// steps before the loop of `align` move it in the instruction fetch lines.
kernel void KERNEL(global const TYPE* restrict start, global TYPE* restrict out, TYPE constant_c, int trips) {
    PROLOGUE
    BEFORE
#pragma unroll 1
    for (int i = 0; i < trips; ++i) {
        MANY
    }
    EPILOGUE
}
#endif

#ifdef FMA_UNROLLED
// The tutorial's double loop, which gave 59 of 64 where a single loop gave 48: the inner one is left to the compiler to
// unroll. Where it does, this is `loop` with that many steps, but for where its code happens to lie.
kernel void KERNEL(global const TYPE* restrict start, global TYPE* restrict out, TYPE constant_c, int trips) {
    PROLOGUE
#pragma unroll 1
    for (int i = 0; i < trips; ++i) {
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            ONCE
        }
    }
    EPILOGUE
}
#endif

#ifdef FMA_NESTED
// The same number of steps in two loops, as in the tutorial: the inner one has no straight-line code to fetch.
kernel void KERNEL(global const TYPE* restrict start, global TYPE* restrict out, TYPE constant_c, int trips) {
    PROLOGUE
#pragma unroll 1
    for (int i = 0; i < trips; ++i) {
#pragma unroll 1
        for (int k = 0; k < UNROLL; ++k) {
            ONCE
        }
    }
    EPILOGUE
}
#endif

#ifdef FMA_CLOCK
// Waits until the device's own counter has advanced by `trips` times 1024: the time of that is the counter's period.
// `most` bounds the wait, in case the counter stands still.
kernel void KERNEL(global ulong* restrict out, int most, int trips) {
    const ulong begin = lab_clock();
    const ulong wanted = (ulong)trips * 1024;
    ulong now = begin;
    for (int i = 0; i < most && now - begin < wanted; ++i) now = lab_clock();
    out[0] = now - begin;
}
#endif

/* family
question: What does a fused multiply-add cost in latency, throughput and code, and how many units execute it?
over: load

axis type: element type
  choice: float, double, half, uint, ushort
  only: latency, add, multiply, ilp, loop, nested, unrolled, align, code, peak, units
axis width: elements per vector
  whole: 1 to 16, powers of two
  usual: 1
  only: latency, add, multiply, ilp, loop, nested, unrolled, align, code, peak, units
axis ilp: independent chains per work-item; auto is 1 for latency, add and multiply, 4 for peak and units, else 2
  whole: 1 to 16, powers of two
  only: latency, add, multiply, ilp, loop, nested, unrolled, align, code, peak, units
axis unroll: steps of a chain between two branches; auto is 16 for peak and align, else 64
  whole: 1 to 16Ki
  only: latency, add, multiply, ilp, loop, nested, unrolled, align, peak, units
axis ahead: steps of each chain before the loop, which move the loop in the lines that instructions are fetched in
  unit: FMA
  whole: 0 to 15
  usual: 0
  only: align
axis code: multiply-adds in one straight line
  unit: FMA
  whole: 16 to 16Ki, powers of two
  only: code
axis waves: waves per work-group (work-items on a CPU); auto fills the group of units and peak, else 16, on a CPU 1
  whole: 1 to 1Ki
  only: ilp, loop, nested, unrolled, align, code, peak, units
axis load: work-groups as a percentage of the compute units the driver reports; auto is 800 for peak, on a CPU 400, else
    one group
  unit: %
  real: 0.01 to 100000
  only: latency, add, multiply, ilp, loop, nested, unrolled, align, code, peak, units

variant latency: One chain in one work-item: each step waits for the one before.
  with type: float,double,half,uint,ushort
  over: load
variant add: One chain of additions in one work-item.
  with type: float,double
  over: load
variant multiply: One chain of multiplications in one work-item.
  with type: float,double
  over: load
variant clock: Waits on the counter that kernels can read; the timer then gives its frequency.
  needs: clock
  over: load
variant ilp: One work-group with 1 to 8 chains per work-item and 1 to 16 waves: what fills one unit.
  with ilp: 1,2,4,8
  with waves: 1,4,16
  over: ilp
variant loop: The same steps with 1 to 100 of them between two branches.
  with unroll: 1,2,4,8,16,32,40,64,100
  over: unroll
variant nested: 64 steps in a rolled inner loop.
  with unroll: 64
  over: unroll
variant unrolled: 100 steps in an inner loop that the compiler is asked to unroll, as in the tutorial's double loop.
  with unroll: 100
  over: unroll
variant align: A loop of 16 steps behind 0 to 15 others: only the place of its code changes.
  with ahead: 0:15:+1
  over: ahead
variant code: A straight line of growing length, until it no longer fits the instruction caches.
  with code: 256:8192:*2
  over: code
variant peak: All units at once, with enough chains to hide every latency.
  with type: float,double,half,uint,ushort
  with width: 1,4,16
  over: width
variant units: Work-groups that each fill one unit: the time rises by a step with every full round of units.
  with load: 50,99,100,101,150,200,201,250,300
  over: load
*/

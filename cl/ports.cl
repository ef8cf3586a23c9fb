// ports: what a multiply-add pays for the registers it reads. A register file has banks with few ports, so that three sources
// in one bank take a clock more than the same three in two; an operand that the instruction before has read may come from a
// small reuse cache (NVIDIA marks it `.reuse`; after Citadel's study of Turing, 2019). OpenCL C chooses how many registers are
// read, not which: the bank conflicts of the compiler's choice are counted in the SASS beside the time.
// Chains are enough to hide the latency; each step of a chain reads
//   one    fma(x, x, x)
//   two    fma(x, x, c)   c of the chain
//   three  fma(x, y, c)   y and c of the chain
//   shared fma(x, y, c)   y and c of the work-item: two of the three sources are those of the neighbour

//   UNROLL  steps of each chain between two branches
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define R1(X) X
#define R2(X) R1(X) R1(X)
#define R4(X) R2(X) R2(X)
#define R8(X) R4(X) R4(X)
#define R16(X) R8(X) R8(X)
#define R32(X) R16(X) R16(X)
#define EACH(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7)

#if defined(PORTS_ONE)
#define STEP(j) x##j = fma(x##j, x##j, x##j);
#elif defined(PORTS_TWO)
#define STEP(j) x##j = fma(x##j, x##j, c##j);
#elif defined(PORTS_THREE)
#define STEP(j) x##j = fma(x##j, y##j, c##j);
#else
#define STEP(j) x##j = fma(x##j, y0, c0);
#endif
#define BEGIN(j) \
    float x##j = start[(lane + j) % 64]; \
    const float y##j = start[64 + (lane + j) % 64], c##j = start[128 + (lane + j) % 64];
#define ADD(j) sum += x##j;

kernel void KERNEL(global const float* restrict start, global float* restrict out, int trips) {
    const uint lane = get_local_id(0) % 64;
    EACH(BEGIN)
#pragma unroll 1
    for (int i = 0; i < trips; ++i) {
        PASTE(R, UNROLL)(EACH(STEP))
    }
    float sum = 0;
    EACH(ADD)
    out[get_global_id(0)] = sum;
}

/* family
question: What does a multiply-add pay for each register it reads?
over: items

axis items: work-items per group; auto is 256, on a CPU 1
  unit: work-item
  whole: 1 to 4Ki
axis unroll: steps of each chain between two branches
  whole: 1 to 32, powers of two
  usual: 32

variant one: x = x x + x: one register is read.
variant two: x = x x + c: two registers are read.
variant three: x = x y + c: three registers are read, all of the chain's own.
variant shared: x = x y + c with y and c of the work-item: two of the three are the neighbour's as well.
*/

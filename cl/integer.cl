// integer: what integer operations of each kind cost. The host defines
//   TYPE     uint or ulong
//   INTEGER_MULTIPLY, INTEGER_DIVIDE, DOT (of four bytes) or PAIR (of two 16-bit integers)
//   CHAINS   4 chains per work-item, each waiting for itself alone, so that units and not latency are the limit; or 1
//   REPEAT   links of each chain between two branches, two by two: 2 or 8 times

#if defined(INTEGER_MULTIPLY)
// The sum keeps a product from being joined with the next one. With these factors and odd sums the chain goes through all numbers.
#define FACTOR const TYPE a = (key & ~(TYPE)7) | 5;
#define LINK(j) v##j = v##j * a + (s##j | 1);
#define RESULT(j) v##j
#elif defined(INTEGER_DIVIDE)
// `s` has more than half of the bits of `key`'s, so divisor and quotient need their full width.
// A chain of divisions alone soon forgets where it began: a sum shows each of them.
#define LINK(j) v##j = (key / (v##j | 1)) ^ s##j; t##j += v##j;
#define RESULT(j) t##j
#elif defined(DOT) || defined(PAIR)
// The last sum is multiplied, and the products are added to the sum before it: of two different pairs of sums each
// link makes two different ones, whatever the products are, so that a chain does not soon run into a cycle.
#define LINK(j) ADD_PRODUCTS(t##j, v##j, s##j)
#define BACK(j) ADD_PRODUCTS(v##j, t##j, s##j)
#define RESULT(j) v##j + t##j
#if defined(__gfx906__) || defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx942__) || \
    defined(__gfx1011__) || defined(__gfx1012__) || defined(__gfx1030__) || defined(__gfx1031__) || defined(__gfx1032__)
#define AMD_BYTES
#define AMD_PAIRS
#elif defined(__gfx1100__) || defined(__gfx1101__) || defined(__gfx1102__) || defined(__gfx1103__) || \
    defined(__gfx1150__) || defined(__gfx1151__) || defined(__gfx1200__) || defined(__gfx1201__)
#define AMD_BYTES
#endif
// One instruction where the device has it, under the name that its compiler knows.
#if defined(DOT) && defined(LAB_NVIDIA) && (!defined(LAB_SM) || LAB_SM >= 61)
#define ADD_PRODUCTS(t, v, s) asm("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(t) : "r"(v), "r"(s));
#elif defined(DOT) && defined(__opencl_c_integer_dot_product_input_4x8bit_packed)
#define ADD_PRODUCTS(t, v, s) t += dot_4x8packed_uu_uint(v, s);
#elif defined(DOT) && defined(AMD_BYTES)
#define ADD_PRODUCTS(t, v, s) t = __builtin_amdgcn_udot4(v, s, t, false);
#elif defined(DOT)
#define BYTES(a, b, i) ((a) >> 8 * (i) & 255) * ((b) >> 8 * (i) & 255)
#define ADD_PRODUCTS(t, v, s) t += BYTES(v, s, 0) + BYTES(v, s, 1) + BYTES(v, s, 2) + BYTES(v, s, 3);
#elif defined(AMD_PAIRS)
#define ADD_PRODUCTS(t, v, s) t = __builtin_amdgcn_sdot2(as_short2(v), as_short2(s), t, false);
#else
#define ADD_PRODUCTS(t, v, s) t += (uint)(as_short2(v).x * as_short2(s).x + as_short2(v).y * as_short2(s).y);
#endif
#endif

#if defined(LINK)
#if !defined(FACTOR)
#define FACTOR
#endif
#if !defined(BACK)
#define BACK LINK
#endif
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define R2(X) X X
#define R8(X) X X X X X X X X
#define EACH1(M) M(0)
#define EACH4(M) M(0) M(1) M(2) M(3)
#define BEGIN(j) const TYPE s##j = start[first + j]; TYPE v##j = s##j, t##j = 0;
#define END(j) out[at + j] = RESULT(j);

kernel void KERNEL(global const TYPE* restrict start, global TYPE* restrict out, TYPE key, uint period, int trips) {
    const uint first = CHAINS * ((uint)get_global_id(0) % period);
    PASTE(EACH, CHAINS)(BEGIN)
    FACTOR
#pragma unroll 1
    for (int i = 0; i < trips; ++i) {
        PASTE(R, REPEAT)(PASTE(EACH, CHAINS)(LINK) PASTE(EACH, CHAINS)(BACK))
    }
    const size_t at = CHAINS * get_global_id(0);
    PASTE(EACH, CHAINS)(END)
}
#endif

/* family
question: How many integer multiplications, divisions and dot products does the device do in a second?
over: bits

axis bits: width of the integers
  choice: 32, 64
  usual: 32, 64
  only: multiply, divide

variant multiply: Squares, with an addition each.
variant divide: Divisions of full width.
variant dot: Four products of bytes, added to a word.
  defines: DOT
variant dot_latency: The same in one wave: each product waits for the one before.
  defines: DOT
variant pair: Two products of 16-bit integers, added to a word.
  defines: PAIR
variant pair_latency: The same in one wave: each product waits for the one before.
  defines: PAIR
*/

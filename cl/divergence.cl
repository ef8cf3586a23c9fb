// divergence: the cost of different paths within one wave. Each path is a loop of unknown length around
// 64 dependent steps x <- x * x + c: no compiler turns that into a select.

#define R4(X) X X X X
#define R8(X) R4(X) R4(X)
#define R16(X) R4(X) R4(X) R4(X) R4(X)
#define R64(X) R16(X) R16(X) R16(X) R16(X)

#if defined(DIVERGENCE_WIDTH) || defined(DIVERGENCE_PATHS)
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define WAYS1(M) M(0)
#define WAYS2(M) WAYS1(M) M(1)
#define WAYS4(M) WAYS2(M) M(2) M(3)
#define WAYS8(M) WAYS4(M) M(4) M(5) M(6) M(7)
#define WAYS16(M) WAYS8(M) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15)
#define WAYS32(M) WAYS16(M) \
    M(16) M(17) M(18) M(19) M(20) M(21) M(22) M(23) M(24) M(25) M(26) M(27) M(28) M(29) M(30) M(31)
#define WAYS64(M) WAYS32(M) \
    M(32) M(33) M(34) M(35) M(36) M(37) M(38) M(39) M(40) M(41) M(42) M(43) M(44) M(45) M(46) M(47) M(48) \
    M(49) M(50) M(51) M(52) M(53) M(54) M(55) M(56) M(57) M(58) M(59) M(60) M(61) M(62) M(63)

// Way p has a constant of its own, so that no two loops are the same code.
#define WAY(p)                                        \
    if (way == p) {                                   \
        const float c = -1.9f + p * 0.00390625f;      \
        for (int i = 0; i < trips; ++i) {             \
            R64(x = fma(x, x, c);)                    \
        }                                             \
    }

// `grain` neighbours go the same way, then the next ones the next of PATHS ways.
kernel void KERNEL(global const float* restrict start, global float* restrict out, uint grain, int trips) {
    const uint way = ((uint)get_local_id(0) / grain) % PATHS;
    float x = start[get_global_id(0) % 4];
    PASTE(WAYS, PATHS)(WAY)
    out[get_global_id(0)] = x;
}
#endif

// The tutorial's three kernels, with a swap that swaps and a branch in which every wave takes part.
#if defined(DIVERGENCE_PLAIN) || defined(DIVERGENCE_BRANCH) || defined(DIVERGENCE_SELECT)
#define LOOP(u, v)                                       \
    for (int i = 0; i < trips; ++i) {                    \
        R16(x = fma(x, x, u); x = fma(x, x, v);)         \
        R16(x = fma(x, x, u); x = fma(x, x, v);)         \
    }

kernel void KERNEL(global const float* restrict start, global float* restrict out, float t0, float t1, int trips) {
    float x = start[get_global_id(0) % 4];
#if defined(DIVERGENCE_PLAIN)
    LOOP(t0, t1)
#elif defined(DIVERGENCE_BRANCH)
    // Both loops are in the code, and a wave with odd and even work-items runs one after the other.
    if (get_local_id(0) & 1) {
        LOOP(t1, t0)
    } else {
        LOOP(t0, t1)
    }
#else
    // One loop for all: the values are exchanged before it.
    const bool odd = get_local_id(0) & 1;
    const float u = odd ? t1 : t0;
    const float v = odd ? t0 : t1;
    LOOP(u, v)
#endif
    out[get_global_id(0)] = x;
}
#endif

#ifdef DIVERGENCE_STORES
// Both ways store, at places that are the same but are written differently. Two stores, each for a part of the wave, unless
// the compiler makes one of them.
kernel void KERNEL(global uint* restrict out, uint grain, uint mask) {
    const uint x = get_global_id(0);
    if ((get_local_id(0) & grain) == grain) {
        out[x] = x;
    } else {
        out[x & mask] = x;
    }
}
#endif

// On a CPU the work-items of a group are a loop. Without a loop in the kernel the compiler can run several of them in
// one vector; with one it rarely does.
#ifdef DIVERGENCE_STRAIGHT
kernel void KERNEL(global const float* restrict start, global float* restrict out, float c, int rounds) {
    float x = start[get_global_id(0) % 4];
    R64(x = fma(x, x, c);)
    R64(x = fma(x, x, c);)
    R64(x = fma(x, x, c);)
    R64(x = fma(x, x, c);)
    out[get_global_id(0)] = x;
}
#endif
#ifdef DIVERGENCE_LOOPED
kernel void KERNEL(global const float* restrict start, global float* restrict out, float c, int rounds) {
    float x = start[get_global_id(0) % 4];
    for (int i = 0; i < rounds; ++i) {
        R64(x = fma(x, x, c);)
    }
    out[get_global_id(0)] = x;
}
#endif

/* family
question: How many work-items run in lockstep, and what does it cost when they take different paths?
over: grain

axis grain: neighbours that take the same path
  unit: work-item
  whole: 1 to 4Ki
  usual: 1
  only: width, paths, stores
axis paths: different paths
  whole: 1 to 64, powers of two
  usual: 2
  only: paths
axis items: work-items per group; auto is 16 on a CPU, else 256, for one group 1024
  unit: work-item
  whole: 1 to 4Ki
axis fill: one work-group, or all compute units busy
  choice: one, full
  usual: full
  only: width, paths, plain, branch, select

variant width: Two paths that alternate every `grain` work-items.
  with grain: 1:512:*2
  with fill: one,full
  over: grain
variant paths: Neighbours take `paths` different paths.
  with paths: 1,2,4,8,16,32,64
  over: paths
variant plain: One loop without a branch: the baseline of branch and select.
variant branch: Odd work-items run the loop with two values exchanged, in their own branch.
variant select: The same result with the values exchanged first; then all work-items run one loop.
variant stores: Both ways of a branch store, at the same place written in two ways: one store or two?
variant straight: No loop in the kernel: a CPU's compiler can run several work-items in one vector.
  needs: cpu
  with items: 1,16,256
  over: items
variant looped: The same work in a loop, which prevents that.
  needs: cpu
  with items: 1,16,256
  over: items
*/

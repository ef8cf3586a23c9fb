// scalar: which values a compiler computes once a wave and not once an item. GCN has a second arithmetic unit for values that
// all work-items of a wave share; a 2015 article gives four rules for what its compiler takes for one: kernel arguments,
// constants, loads from __constant memory at such an address, and results computed from such values alone. A value that was
// decided in a divergent branch is none. One kernel a rule, and two that break them; each puts its value through the same
// STEPS dependent multiply-adds, which stand in the code as s_mul_i32 or as v_mul_lo_u32.
//   SEED  the constant of `constant`

// Squares, because eight steps of a linear map are one.
#define STEP x = x * x + m;
#define STEPS STEP STEP STEP STEP STEP STEP STEP STEP
#define FINISH STEPS out[get_global_id(0)] = x + (uint)get_global_id(0);

#ifdef SCALAR_ARGUMENT
kernel void scalar_argument(global uint* restrict out, constant uint* restrict table, uint a, uint m) {
    uint x = a;
    FINISH
}
#endif

#ifdef SCALAR_CONSTANT
// Known to the compiler: nothing is left to compute but what depends on the argument m.
kernel void scalar_constant(global uint* restrict out, constant uint* restrict table, uint a, uint m) {
    uint x = SEED;
    FINISH
}
#endif

#ifdef SCALAR_LOAD
// The group's number is scalar, so the load is one for the wave.
kernel void scalar_load(global uint* restrict out, constant uint* restrict table, uint a, uint m) {
    uint x = table[get_group_id(0) & 63];
    FINISH
}
#endif

#ifdef SCALAR_RESULT
kernel void scalar_result(global uint* restrict out, constant uint* restrict table, uint a, uint m) {
    uint x = a ^ (uint)get_group_id(0);
    FINISH
}
#endif

#ifdef SCALAR_ITEM
// An item's own number is different for each: the control that must be vector arithmetic.
kernel void scalar_item(global uint* restrict out, constant uint* restrict table, uint a, uint m) {
    uint x = a ^ (uint)get_local_id(0);
    FINISH
}
#endif

#ifdef SCALAR_BRANCH
// Both values are scalar, which of them it is is not.
kernel void scalar_branch(global uint* restrict out, constant uint* restrict table, uint a, uint m) {
    uint x = a;
    if (get_local_id(0) & 1) x = m;
    FINISH
}
#endif

/* family
question: Which values does the compiler compute once for all work-items of a wave?

axis items: work-items, whole groups of them; auto is 2^24, on a CPU 2^20
  unit: work-item
  whole: 1 to 1Gi
axis local: work-items per group; auto is 64
  unit: work-item
  whole: 1 to 4Ki

variant argument: The value is a kernel argument.
variant constant: The value is known to the compiler.
variant load: The value is loaded from __constant memory at the group's own place.
variant result: The value is computed from an argument and the group's number.
variant item: The value depends on the work-item: the control, which no unit can share.
variant branch: The value is one of two arguments, by a branch that work-items of one wave take apart.
*/

// launch: a kernel that does next to nothing, so that its time is that of the launch.

#if defined(LAUNCH_ITEM) || defined(LAUNCH_DEVICE)
// One store by the very first work-item; the rest compare and leave. Each launch of a series has a slot of its own,
// which proves that none was dropped.
kernel void KERNEL(global uint* restrict out, uint slot, uint token) {
    if (get_global_id(0) == 0) out[slot] = token ^ slot;
}
#endif

#ifdef LAUNCH_ARGUMENTS
// The same with 24 more arguments, which the driver must pass with every launch. They take part in the result.
kernel void KERNEL(global uint* restrict out, uint slot, uint token, uint a0, uint a1, uint a2, uint a3, uint a4,
                   uint a5, uint a6, uint a7, uint a8, uint a9, uint a10, uint a11, uint a12, uint a13, uint a14,
                   uint a15, uint a16, uint a17, uint a18, uint a19, uint a20, uint a21, uint a22, uint a23) {
    if (get_global_id(0) == 0)
        out[slot] = token ^ slot ^ (a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11 + a12 + a13 + a14 +
                                    a15 + a16 + a17 + a18 + a19 + a20 + a21 + a22 + a23);
}
#endif

#ifdef LAUNCH_SPREAD
// A work-group is one work-item, and each step of it needs the one before: so much work for whichever unit takes it.
kernel void launch_spread(global uint* restrict out, uint token, int steps) {
    uint v = token ^ (uint)get_group_id(0);
    for (int i = 0; i < steps; ++i) v = v * 1664525u + 1013904223u;
    out[get_group_id(0)] = v;
}
#endif

/* family
question: What does it cost to launch a kernel that does nothing, alone and in a row?
over: launches

axis launches: launches in a row without waiting
  whole: 1 to 1Ki
  usual: 1, 2, 8, 32, 128
  only: item, device, arguments
axis groups: work-groups per compute unit
  whole: 1 to 1Ki
  usual: 4, 8, 16, 32, 64
  only: spread

variant item: One work-item.
variant device: One work-group per compute unit.
variant arguments: One work-item and 24 more arguments.
variant spread: Work for every unit: when do all of them work?
  needs: cpu
  over: groups
*/

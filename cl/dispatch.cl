// dispatch: how fast work-groups of a shape are started. A kernel without any effect may legally be skipped, so one
// work-item in 4096, counted over the whole NDRange, stores its number; the store is too rare to cost anything.

#if defined(DISPATCH_1D) || defined(DISPATCH_2D) || defined(DISPATCH_3D) || defined(DISPATCH_BOX)
kernel void KERNEL(global uint* restrict out, uint mask, uint token) {
    const uint row = (uint)get_global_id(1) + (uint)get_global_size(1) * (uint)get_global_id(2);
    const uint id = (uint)get_global_id(0) + (uint)get_global_size(0) * row;
    if ((id & mask) == 0) out[id / (mask + 1)] = id ^ token;
}
#endif

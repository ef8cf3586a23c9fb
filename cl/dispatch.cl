// dispatch: how fast work-groups of a shape are started. A kernel without any effect may legally be skipped, so one
// work-item in 4096, counted over the whole NDRange, stores its number; the store is too rare to cost anything.

#if defined(DISPATCH_1D) || defined(DISPATCH_2D) || defined(DISPATCH_3D) || defined(DISPATCH_BOX)
kernel void KERNEL(global uint* restrict out, uint mask, uint token) {
    const uint row = (uint)get_global_id(1) + (uint)get_global_size(1) * (uint)get_global_id(2);
    const uint id = (uint)get_global_id(0) + (uint)get_global_size(0) * row;
    if ((id & mask) == 0) out[id / (mask + 1)] = id ^ token;
}
#endif

/* family
question: How many work-groups and waves does the device start per second, and how wide is a wave?
over: side

axis side: work-items along each dimension of a group
  unit: work-item
  whole: 1 to 4Ki
  usual: 1, 8, 32, 48, 64, 96, 128, 192, 256, 512, 768, 1024
  only: 1d, 2d, 3d
axis times: times as many work-groups
  whole: 1 to 64
  usual: 1
axis shape: a group of unequal sides
  unit: work-item
  shape:
  usual: 32x16, 16x16x4, 32x16x2, 8x8x16
  only: box

variant 1d: Groups of one dimension.
variant 2d: Square groups, most of them no multiple of a wave.
  with side: 4,8,12,16,20,24,28,32
variant box: Groups of unequal sides.
  over: shape
variant 3d: Cubic groups.
  with side: 2,4,6,7,8,9,10
*/

// A 3x3 mean of a picture; pixels outside repeat the edge. Unrolling is a compile-time choice.
/*cllab
axis w = 512
axis h = 256
arg src = rand:w*h
arg dst = out:uchar:w*h
arg w = w
arg h = h
global w,h
variant unrolled = -DUNROLL=3
work bytes=2*w*h flops=18*w*h
*/
#ifndef UNROLL
#define UNROLL 1
#endif

__kernel void conv(__global const uchar* src, __global uchar* dst, int w, int h) {
    const int x = get_global_id(0), y = get_global_id(1);
    int sum = 0;
    for (int dy = -1; dy <= 1; ++dy) {
#pragma unroll UNROLL
        for (int dx = -1; dx <= 1; ++dx) sum += src[clamp(y + dy, 0, h - 1) * w + clamp(x + dx, 0, w - 1)];
    }
    dst[y * w + x] = sum / 9;
}

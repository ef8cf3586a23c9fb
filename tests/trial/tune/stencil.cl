// Nine points around each cell of a plane with a border. A work-item makes V columns beside each other, as a vector, of
// R rows; with SHARED a work-group first brings its part of the plane to local memory.
/*cllab
axis w = 512
axis h = 256
axis lx tune = 16, 1, 2, 4, 8, 32, 64, 128
axis ly tune = 1, 2, 4, 8, 16
axis v tune = 1, 2, 4, 8, 16
axis r tune = 1, 2, 4, 8, 16
axis shared tune = 0, 1
where w % (lx * v) == 0
where h % (ly * r) == 0
where lx * ly <= 256
where (lx * v + 2) * (ly * r + 2) <= 8192
options -DW={w} -DLX={lx} -DLY={ly} -DV={v} -DR={r} -DSHARED={shared}
arg in = rand:(w+2)*(h+2)
arg out = out:w*h
global w / v, h / r
local lx, ly
tolerance relative=1e-4
work flops=9*w*h bytes=8*w*h
*/
#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)
#if V == 1
#define T float
#define LOAD(p) (*(p))
#define STORE(x, p) (*(p) = (x))
#else
#define T GLUE(float, V)
#define LOAD(p) GLUE(vload, V)(0, p)
#define STORE(x, p) GLUE(vstore, V)(x, 0, p)
#endif

__kernel void stencil(__global const float* in, __global float* out) {
    const int x = get_local_id(0) * V, y = get_local_id(1) * R, gx = get_group_id(0) * LX * V, gy = get_group_id(1) * LY * R;
#if SHARED
    enum { WIDTH = LX * V + 2, HEIGHT = LY * R + 2 };
    __local float part[HEIGHT * WIDTH];
    for (int i = get_local_id(1) * LX + get_local_id(0); i < HEIGHT * WIDTH; i += LX * LY)
        part[i] = in[(gy + i / WIDTH) * (W + 2) + gx + i % WIDTH];
    barrier(CLK_LOCAL_MEM_FENCE);
    const __local float* from = part + y * WIDTH + x;
#else
    enum { WIDTH = W + 2 };
    const __global float* from = in + (gy + y) * WIDTH + gx + x;
#endif
#pragma unroll
    for (int row = 0; row < R; ++row) {
        T sum = 0;
#pragma unroll
        for (int d = 0; d < 3; ++d)
            sum += LOAD(from + (row + d) * WIDTH) + 2 * LOAD(from + (row + d) * WIDTH + 1) + LOAD(from + (row + d) * WIDTH + 2);
        STORE(sum, out + (gy + y + row) * W + gx + x);
    }
}

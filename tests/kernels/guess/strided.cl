// Rows that are longer in memory than the picture is wide.
__kernel void strided(__global const float* src, int src_stride, __global float* dst, int dst_stride, int width,
                      int height) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < width && y < height) dst[y * dst_stride + x] = 2.0f * src[y * src_stride + x];
}

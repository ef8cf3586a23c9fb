// 3 x 3, with a test at the border.
__kernel void blur(__global const uchar* src, __global uchar* dst, int width, int height) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
    int sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) sum += src[(y + dy) * width + x + dx];
    dst[y * width + x] = sum / 9;
}

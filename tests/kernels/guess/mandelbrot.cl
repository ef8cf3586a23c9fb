__kernel void mandelbrot(__global uint* pixels, int width, int height, float x0, float y0, float scale, int maxIter) {
    const int px = get_global_id(0), py = get_global_id(1);
    if (px >= width || py >= height) return;
    const float cx = x0 + scale * px / width, cy = y0 + scale * py / height;
    float x = 0.0f, y = 0.0f;
    int i = 0;
    for (; i < maxIter && x * x + y * y < 4.0f; ++i) {
        const float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
    }
    pixels[py * width + px] = i;
}

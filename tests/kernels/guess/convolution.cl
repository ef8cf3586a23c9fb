__kernel void convolution(__global const float* image, __constant float* weights, __global float* result, int width,
                          int height, int radius) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    float sum = 0.0f;
    for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; ++dx) {
            const int sx = clamp(x + dx, 0, width - 1), sy = clamp(y + dy, 0, height - 1);
            sum += image[sy * width + sx] * weights[(dy + radius) * (2 * radius + 1) + dx + radius];
        }
    result[y * width + x] = sum;
}

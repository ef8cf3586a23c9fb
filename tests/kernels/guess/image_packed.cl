// Each work-item makes four pixels of a row, of as many of a buffer: the image is four times as wide as the launch.
kernel void to_image(global const float4* from, write_only image2d_t to, int quads, int rows) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= quads || y >= rows) return;
    for (int i = 0; i < 4; ++i) write_imagef(to, (int2)(4 * x + i, y), from[(y * quads + x) * 4 + i]);
}

__kernel void grey(__global const uchar4* rgba, __global uchar* out, uint w, uint h) {
    const uint x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h) return;
    const uchar4 p = rgba[y * w + x];
    out[y * w + x] = (uchar)((77 * p.x + 150 * p.y + 29 * p.z) >> 8);
}

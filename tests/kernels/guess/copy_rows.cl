// A work-item copies a row, in groups that are larger than a row may be.
__kernel void copy_rows(__global float* to, __global const float* from, const int width, const int height) {
    const int row = get_group_id(0) * get_local_size(0) + get_local_id(0);
    if (row >= height) return;
    for (int x = 0; x < width; ++x) to[row * width + x] = from[row * width + x];
}

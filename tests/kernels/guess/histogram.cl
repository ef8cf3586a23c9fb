__kernel void histogram(__global const uchar* data, __global uint* bins, uint length) {
    const uint i = get_global_id(0);
    if (i < length) atomic_inc(&bins[data[i]]);
}

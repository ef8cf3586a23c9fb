__kernel void histogram_local(__global const uint* data, __global uint* hist, int n) {
    __local uint mine[256];
    for (int i = get_local_id(0); i < 256; i += get_local_size(0)) mine[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&mine[data[i] & 255]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_local_id(0); i < 256; i += get_local_size(0)) atomic_add(&hist[i], mine[i]);
}

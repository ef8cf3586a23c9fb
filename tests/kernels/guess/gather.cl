__kernel void gather(__global const float* table, __global const int* index, __global float* out) {
    const int i = get_global_id(0);
    out[i] = table[index[i]];
}

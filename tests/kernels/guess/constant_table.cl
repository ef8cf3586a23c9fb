__kernel void constant_table(__global const uchar* in, __global float* out, __constant float* table) {
    const int i = get_global_id(0);
    out[i] = table[in[i]];
}

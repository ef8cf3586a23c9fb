__kernel void copy(__global const float4* src, __global float4* dst) {
    const size_t i = get_global_id(0);
    dst[i] = src[i];
}

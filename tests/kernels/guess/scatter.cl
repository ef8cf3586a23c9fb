__kernel void scatter(__global const float* in, __global const uint* where, __global float* out, uint n) {
    const uint i = get_global_id(0);
    if (i >= n) return;
    out[where[i]] = in[i];
}

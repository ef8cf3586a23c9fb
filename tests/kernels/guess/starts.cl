// Where each element's values begin is data too.
__kernel void starts(__global const float* values, __global const int* start, __global float* out, const int n) {
    const int i = get_global_id(0);
    if (i < n) out[i] = values[start[i] + i] * 0.5f;
}

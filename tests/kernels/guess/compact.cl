// How many pass is known by the data alone.
__kernel void compact(__global const float* in, __global float* out, __global int* passed, float threshold, int n) {
    const int i = get_global_id(0);
    if (i < n && in[i] > threshold) out[atomic_inc(passed)] = 1.0f;
}

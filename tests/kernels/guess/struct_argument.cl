typedef struct {
    float gain, bias;
    int count;
} Params;

__kernel void struct_argument(__global const float* in, __global float* out, Params p) {
    const int i = get_global_id(0);
    if (i < p.count) out[i] = p.gain * in[i] + p.bias;
}

#define COLUMN get_global_id(0)
inline int row_of(void) { return get_global_id(1); }
inline int at(int width) { return row_of() * width + COLUMN; }

__kernel void helper_functions(__global float* out, __global const float* in, int width, float alpha) {
    out[at(width)] = alpha * in[at(width)];
}

// With x = 1 + 2^-12 and y = -1 - 2^-11, x*x + y is 0 where the product is rounded before the sum, 2^-24 where both are
// one fma. The values are made of integers, so that no algebra of floats finds the answer.
#ifdef OFF
#pragma OPENCL FP_CONTRACT OFF
#endif
kernel void one(global uint* out, global const uint* in, uint one) {
    const float x = as_float(0x3f800800u * one), y = as_float(0xbf801000u * one);
    const float r = x * x + y;
    out[0] = r != 0;
}

kernel void two(global uint* out, global const uint* in, uint one) {
    const float x = as_float(0x3f800800u * one), y = as_float(0xbf801000u * one);
    const float product = x * x;
    const float r = product + y;
    out[0] = r != 0;
}

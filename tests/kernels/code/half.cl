// Half arithmetic, which a CPU's driver may not have.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void half_axpy(__global half4* y, __global const half4* x, float a) {
    const int i = get_global_id(0);
    y[i] = (half)a * exp(x[i]) + convert_half4(convert_float4(y[i]));
}

// What clang with libclc makes of these functions ends it for NVIDIA's processors.
__kernel void exponents(__global float* y) {
    const int i = get_global_id(0);
    y[i] = native_exp(y[i]) + native_exp2(y[i]) + native_exp10(y[i]) + native_powr(y[i], 3.0f);
}

__kernel void logarithms(__global float4* y) {
    const int i = get_global_id(0);
    y[i] = native_log(y[i]) + native_log2(y[i]) + native_log10(y[i]);
}

__kernel void angles(__global float3* y) {
    const int i = get_global_id(0);
    y[i] = native_sin(y[i]) + native_cos(y[i]) * native_tan(y[i]);
}

__kernel void plain(__global float* y) { y[get_global_id(0)] += 1; }

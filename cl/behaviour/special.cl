// Values for which the language allows more than one answer, made at run time: `one` is 1.
#define NOT_A_NUMBER as_float(0x7fc00000u * one)

kernel void tests(global uint* out, global const uint* in, uint one) {
    const float x = NOT_A_NUMBER;
    out[0] = isnan(x) != 0;
    out[1] = x != x;
    out[2] = x == INFINITY;
}

kernel void smaller(global uint* out, global const uint* in, uint one) {
    out[0] = fmin(NOT_A_NUMBER, 2.0f * one) == 2.0f;
    out[1] = fmin(2.0f * one, NOT_A_NUMBER) == 2.0f;
}

kernel void denormal(global uint* out, global const uint* in, uint one) {
    const float x = as_float(0x00800000u * one) * 0.5f, y = as_float(0x00400000u * one) * 2.0f;
    out[0] = (x != 0) + 2 * (y != 0);
}

// A conversion by OF of a NaN or of a number that is too large.
#ifdef OF
#define NaN NOT_A_NUMBER
#define LARGE (1e20f * one)
kernel void convert(global uint* out, global const uint* in, uint one) { out[0] = OF; }
#endif

kernel void shift(global uint* out, global const uint* in, uint one) { out[0] = one << (32 + one); }

kernel void rounding(global uint* out, global const uint* in, uint one) {
    out[0] = (uint)(10 * round(0.49999997f * one));
}

kernel void wide24(global uint* out, global const uint* in, uint one) {
    out[0] = mul24((uint)(0x1000002u + one), 5u * one);
}

kernel void has_fma(global uint* out) {
#ifdef FP_FAST_FMAF
    out[0] = 1;
#endif
}

// llvmpipe once ended every loop after 65,535 trips.
kernel void trips(global uint* out, global const uint* in, uint one) {
    uint n = 0;
    for (uint i = 0; i < 100000 * one; ++i) n += in[i & 63] != 0;
    out[0] = n;
}

// An expression of x, whose result the host knows, too. The arguments lie in a range; `one` is 1, which no compiler
// knows: what it may do to sums does not reach them.
float within(float low, float high, float x, uint one) {
    return as_float(as_uint(low + (high - low) * (x - 0.5f)) * one);
}
#define ARGUMENT(i) within(RANGE, in[i], one)

#if !defined(VECTOR) && !defined(SQUARE)
kernel void one(global float* out, global const float* in, uint one) {
    const size_t i = get_global_id(0);
    const float x = ARGUMENT(i);
    out[i] = F;
    out[get_global_size(0) + i] = x;
}
#endif

// How many results of a vector are not those of its parts.
#ifdef VECTOR
kernel void vector(global uint* out, global const float* in, uint one) {
    const size_t i = 4 * get_global_id(0);
    const float4 x = (float4)(ARGUMENT(i), ARGUMENT(i + 1), ARGUMENT(i + 2), ARGUMENT(i + 3));
    const float4 v = F(x), s = (float4)(F(x.x), F(x.y), F(x.z), F(x.w));
    const int4 other = as_int4(v) != as_int4(s);
    const int n = -(other.x + other.y + other.z + other.w);
    if (n) atomic_add(&out[0], n);
    out[1] = 4 * get_global_size(0);
}
#endif

// How many squares by pow are not x * x.
#ifdef SQUARE
kernel void square(global uint* out, global const float* in, uint one) {
    const float x = ARGUMENT(get_global_id(0));
    if (SQUARE != x * x) atomic_inc(&out[0]);
    out[1] = get_global_size(0);
}
#endif

// One function of a float, or of two; the host knows the right answer.
#define divide(x, y) ((x) / (y))
#ifdef UNARY
kernel void unary(global float* out, global const float* in) {
    const size_t i = get_global_id(0);
    out[i] = F(in[i]);
}
#endif

#ifdef BINARY
kernel void binary(global float* out, global const float* in) {
    const size_t i = get_global_id(0);
    out[i] = F(in[i], in[i ^ 1]);
}
#endif

// How many results of a vector are not those of its parts.
#ifdef VECTOR
kernel void vector(global uint* out, global const float4* in) {
    const float4 x = in[get_global_id(0)], v = F(x), s = (float4)(F(x.x), F(x.y), F(x.z), F(x.w));
    const int4 other = as_int4(v) != as_int4(s);
    const int n = -(other.x + other.y + other.z + other.w);
    if (n) atomic_add(&out[0], n);
}
#endif

// How many squares by pow are not x * x.
#ifdef SQUARE
kernel void square(global uint* out, global const float* in) {
    const float x = in[get_global_id(0)];
    if (F != x * x) atomic_inc(&out[0]);
}
#endif

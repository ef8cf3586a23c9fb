// y = a x + b, with a, b and the length in a struct passed by value.
/*cllab
axis n = 65536
arg x = rand:n
arg y = out:n
arg p = {float:0.75, float:0.125, int:n}
global n
work bytes=8*n flops=2*n
*/
typedef struct {
    float a, b;
    int n;
} Affine;

__kernel void affine(__global const float* x, __global float* y, Affine p) {
    const int i = get_global_id(0);
    if (i < p.n) y[i] = p.a * x[i] + p.b;
}

// Of these kernels one does not compile, one calls what is nowhere, and one is there only with -DWIDTH.
float elsewhere(float x);

__kernel void first(__global float* y) { y[get_global_id(0)] += 1; }
__kernel void wrong(__global float* y) { y[get_global_id(0)] = undeclared + unknown + missing; }
__kernel void second(__global float* y) { y[get_global_id(0)] *= 2; }
__kernel void calls(__global float* y) { y[get_global_id(0)] = elsewhere(y[0]); }
#ifdef WIDTH
__kernel void wide(__global float* y) { y[get_global_id(0)] = WIDTH; }
#endif
__kernel void third(__global float* y) { y[get_global_id(0)] -= 3; }

/*cllab
axis n = 64
arg src = rand:int:n*n
arg dst = out:int:n*n
arg n = n
global n,n
relation linear in src
relation sum of dst preserved from src
*/
__kernel void turned(__global const int* src, __global int* dst, int n) {
    dst[get_global_id(0) * n + get_global_id(1)] = src[get_global_id(1) * n + get_global_id(0)];
}

#ifdef TWICE
// Linear, and wrong: one element stands twice, another not at all.
__kernel void twice(__global const int* src, __global int* dst, int n) {
    const int x = get_global_id(0), y = get_global_id(1);
    dst[x * n + y] = src[y * n + (x == n - 1 ? x - 1 : x)];
}
#endif

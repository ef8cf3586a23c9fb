// Jacobi sweeps of a Poisson equation with two grids that change places; the boundary is in both.
/*cllab
axis n = 32
axis sweeps = 5
arg front = iota:n*n
arg back = iota:n*n
arg n = n
global n - 2, n - 2
sequence solve = sweep
repeat sweeps
swap front back
*/
__kernel void sweep(__global const float* front, __global float* back, int n) {
    const int x = get_global_id(0) + 1, y = get_global_id(1) + 1, at = y * n + x;
    back[at] = 0.25f * (front[at - 1] + front[at + 1] + front[at - n] + front[at + n]) + 1.0f;
}

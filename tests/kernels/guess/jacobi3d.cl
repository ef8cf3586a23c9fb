__kernel void jacobi3d(__global const float* a, __global float* b, int nx, int ny, int nz) {
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x == 0 || y == 0 || z == 0 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
    const int at = (z * ny + y) * nx + x;
    b[at] = (a[at - 1] + a[at + 1] + a[at - nx] + a[at + nx] + a[at - nx * ny] + a[at + nx * ny]) / 6.0f;
}

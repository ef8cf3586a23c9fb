// Without a test at the border: the launch leaves it out.
kernel void laplace(global const float* u, global float* result, int nx) {
    const int x = get_global_id(0), y = get_global_id(1);
    const int at = y * nx + x;
    result[at] = u[at - 1] + u[at + 1] + u[at - nx] + u[at + nx] - 4.0f * u[at];
}

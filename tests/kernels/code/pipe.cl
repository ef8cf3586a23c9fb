// An argument that no command of the lab can give.
__kernel void from_pipe(__global int* y, read_only pipe int source) {
    int v;
    if (read_pipe(source, &v) == 0) y[get_global_id(0)] = v;
}

// Writes zeros only, and not everywhere.
__kernel void clear_flags(__global int* flags, int n) {
    const int i = get_global_id(0);
    if (i < n && i % 2 == 0) flags[i] = 0;
}

kernel void lab_chain(global uint* out, int trips, uint seed) {
    uint x = seed;
    for (int i = 0; i < trips; ++i) x = (x ^ (x >> 7)) * 1664525u + 1013904223u;
    if (get_global_id(0) == 0) out[0] = x;
}

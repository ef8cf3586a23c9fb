__kernel void bitonic_step(__global uint* keys, const uint stage, const uint pass) {
    const uint i = get_global_id(0), distance = 1u << (stage - pass), block = 2 * distance;
    const uint left = (i % distance) + (i / distance) * block, right = left + distance;
    const uint a = keys[left], b = keys[right];
    const bool up = ((i >> stage) & 1) == 0;
    if ((a > b) == up) {
        keys[left] = b;
        keys[right] = a;
    }
}

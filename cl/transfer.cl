// transfer: bytes go to the device, are computed with, and come back. The kernel only gives the device something to do for a
// time that can be chosen: each word goes through `rounds` dependent steps of a linear congruential generator, modulo 2^32, so
// that every bit of what comes back can be checked.
#if defined(TRANSFER_BLOCKING) || defined(TRANSFER_EVENTS) || defined(TRANSFER_QUEUES)
kernel void KERNEL(global const uint* restrict src, global uint* restrict dst, uint count, int rounds) {
    const size_t i = get_global_id(0);
    if (i >= count) return;
    uint v = src[i];
    for (int r = 0; r < rounds; ++r) v = v * 1664525u + 1013904223u;
    dst[i] = v;
}
#endif

// model::poison, word by word: SplitMix64 of the word's place.
kernel void lab_poison(global ulong* out, ulong start, ulong count) {
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        ulong x = start + (i + 1) * 0x9E3779B97F4A7C15UL;
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9UL;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBUL;
        out[i] = x ^ (x >> 31);
    }
}

// The index is a digit of the value: by a mask, a modulo, a shift, or both.
#define HISTOGRAM(name, index)                                                             \
    kernel void name(global const uint* keys, global uint* bins, int n) {                  \
        int i = get_global_id(0);                                                          \
        if (i < n) atomic_inc(&bins[index]);                                               \
    }
HISTOGRAM(low_64, keys[i] & 63)
HISTOGRAM(low_512, keys[i] & 511)
HISTOGRAM(modulo_100, keys[i] % 100)
HISTOGRAM(second_byte, (keys[i] >> 8) & 255)
HISTOGRAM(top_byte, keys[i] >> 24)
kernel void modulo_size(global const float* table, global const int* index, global float* out, int n) {
    int i = get_global_id(0);
    if (i < n) out[i] = table[index[i] % n];
}
kernel void rows_of_8(global const float* table, global const int* row, global float* out, int n) {
    int i = get_global_id(0);
    if (i < n) out[i] = table[(row[i] & 7) * n + i];
}

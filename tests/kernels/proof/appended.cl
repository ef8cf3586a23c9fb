/*cllab
axis n = 4096
arg src = rand:n:0:1000
arg key = out:n
arg value = out:n
arg points = out:2*n
arg count = zero:1
global n
relation any order of key, value
relation any order of points / 2
reference backwards
*/
// An atomic counter picks the slot: each launch and device may fill them in an order of its own. `points` holds x of all, then y of all.
void append(__global int* key, __global float* value, __global float* points, __global int* count, int i, float x) {
    const int slot = atomic_inc(count);
    key[slot] = i;
    value[slot] = x;
    points[slot] = x;
    points[get_global_size(0) + slot] = -x;
}

__kernel void forwards(__global const float* src, __global int* key, __global float* value, __global float* points, __global int* count) {
    const int i = get_global_id(0);
    append(key, value, points, count, i, src[i]);
#ifdef MIXES
    if (i == 1) { key[0] = 1; key[1] = 0; }
#endif
#ifdef MIXES_POINTS
    if (i == 1) { points[0] = src[1]; points[1] = src[0]; }
#endif
#ifdef LOSES
    if (i == 2) value[2] = value[1];
#endif
}

__kernel void backwards(__global const float* src, __global int* key, __global float* value, __global float* points, __global int* count) {
    const int i = get_global_size(0) - 1 - get_global_id(0);
    append(key, value, points, count, i, src[i]);
}

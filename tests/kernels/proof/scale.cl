/*cllab
axis n = 4096
arg src = rand:n
arg dst = out:n
arg f = 3
global n
*/
// Products of 24-bit numbers: the last bits depend on how they are added.
__kernel void scale(__global const float* src, __global float* dst, float f) {
    const int i = get_global_id(0);
    dst[i] = f * src[i] + src[i] * src[i];
}

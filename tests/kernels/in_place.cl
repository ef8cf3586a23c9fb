// Each element becomes its distance from the mean of its row: apart, and in the buffer that goes in, as a host passes it
// twice.
/*cllab
axis rows = 256
arg src = rand:rows*64
global rows
tolerance relative=1e-5 absolute=1e-6
kernel apart
arg dst = out:rows*64
kernel inside
arg dst = same:src
reference apart
*/
void centre(__global const float* src, __global float* dst) {
    const int row = 64 * get_global_id(0);
    float sum = 0;
    for (int i = 0; i < 64; ++i) sum += src[row + i];
    for (int i = 0; i < 64; ++i) dst[row + i] = src[row + i] - sum / 64;
}
__kernel void apart(__global const float* src, __global float* dst) { centre(src, dst); }
__kernel void inside(__global const float* src, __global float* dst) { centre(src, dst); }

/*cllab
axis n = 1024
arg src = rand:n
arg dst = out:n
arg n = n
global n
relation linear in src
*/
__kernel void blur(__global const float* src, __global float* dst, int n) {
    const int i = get_global_id(0), left = max(i - 1, 0), right = min(i + 1, n - 1);
    dst[i] = 0.25f * src[left] + 0.5f * src[i] + 0.25f * src[right];
}

#ifdef NOT_LINEAR
// The same where the data is not negative, which all of a run's is.
__kernel void clipped(__global const float* src, __global float* dst, int n) {
    const int i = get_global_id(0), left = max(i - 1, 0), right = min(i + 1, n - 1);
    dst[i] = max(0.25f * src[left] + 0.5f * src[i] + 0.25f * src[right], 0.0f);
}
#endif

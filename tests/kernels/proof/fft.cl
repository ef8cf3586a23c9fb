// An FFT of 256 points for each work-group, two for each work-item. It is linear, and its inverse undoes it.
/*cllab
axis rows = 16
arg x = rand:256*rows:-1:1
arg t = local:512
arg sign = -1
arg scale = 1/16
global 128*rows
local 128
relation linear in x
tolerance absolute=1e-4
kernel inverse = fft
arg sign = 1
sequence there_and_back = fft, inverse
expect x = unchanged
*/
__kernel void fft(__global float2* x, __local float2* t, float sign, float scale) {
    const int i = get_local_id(0), half_size = get_local_size(0);
    __local float2 *from = t, *to = t + 2 * half_size;
    x += 2 * half_size * get_group_id(0);
    from[i] = x[i];
    from[i + half_size] = x[i + half_size];
    for (int p = 1; p <= half_size; p *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const int k = i & (p - 1);
        const float angle = sign * M_PI_F * k / p, c = cos(angle), s = sin(angle);
        const float2 a = from[i], b = from[i + half_size];
        const float2 turned = (float2)(b.x * c - b.y * s, b.x * s + b.y * c);
        to[2 * i - k] = a + turned;
        to[2 * i - k + p] = a - turned;
        __local float2* const done = from;
        from = to;
        to = done;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    x[i] = scale * from[i];
    x[i + half_size] = scale * from[i + half_size];
}

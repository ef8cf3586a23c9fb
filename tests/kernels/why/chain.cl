/*cllab
axis n = 16384
arg x = rand:n
arg y = out:n
global n
local 64
work bytes=8*n
*/
// Each step needs the result of the one before, and nothing else is left to do meanwhile.
kernel void chain(global const float* x, global float* y) {
    const size_t i = get_global_id(0);
    float a = x[i];
    for (int k = 0; k < 256; ++k) a = 1.0f / (1.0f + a);
    y[i] = a;
}

/*cllab
axis n = 65536
arg x = rand:n
arg y = out:n
global n
local 1
work bytes=8*n
*/
// A group is started for each element.
kernel void single(global const float* x, global float* y) {
    const size_t i = get_global_id(0);
    y[i] = x[i] * 2.0f;
}

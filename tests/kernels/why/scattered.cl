/*cllab
axis n = 4Mi
axis items = 256Ki
arg at = rand:int:items:0:n-1
arg x = rand:n
arg y = out:items
global items
local 256
work bytes=12*items
*/
// Neighbours read from cache lines of their own.
kernel void scattered(global const int* at, global const float* x, global float* y) {
    const size_t i = get_global_id(0);
    y[i] = x[at[i]];
}

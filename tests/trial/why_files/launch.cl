// So little work that the launch is the time: work=2 does twice as much.
/*cllab
axis n = 256
axis work = 1
options -DWORK={work}
arg x = rand:n:0:255
arg y = out:n
arg n = n
global n
local 64
differ few_copied, few_filled, few_bytes, few_combined
*/

// twice: work
kernel void few_copied(global const float* restrict x, global float* restrict y, uint n) {
    float v = x[get_global_id(0)];
    for (int k = 1; k < WORK; ++k) v += 1;
    y[get_global_id(0)] = v;
}

// twice: work
kernel void few_filled(global float* restrict y, uint n) {
    uint v = get_global_id(0);
    for (int k = 0; k < WORK; ++k) v = v * 5 + 7;
    y[get_global_id(0)] = v;
}

// twice: work
kernel void few_bytes(global const uchar* restrict x, global uchar* restrict y, uint n) {
    uchar v = x[get_global_id(0)];
    for (int k = 0; k < WORK; ++k) v ^= 0x55 + k;
    y[get_global_id(0)] = v;
}

// twice: work
kernel void few_combined(global const int* restrict x, global int* restrict y, uint n) {
    const uint i = get_global_id(0);
    int v = x[i] + x[n - 1 - i];
    for (int k = 0; k < WORK; ++k) v = v * 3 + 1;
    y[i] = v;
}

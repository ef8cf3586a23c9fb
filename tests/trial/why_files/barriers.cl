// Barriers with little between them: barriers=2 passes twice as many, float=2 does twice the arithmetic between them.
/*cllab
axis n = 64Ki
axis barriers = 1
axis float = 1
options -DBARRIERS={barriers} -DFLOAT={float}
arg x = rand:n
arg y = out:n
arg n = n
global n
local 256
kernel one_group_waits
global 256
kernel wide_waits
local 1024
differ waits, one_group_waits, wide_waits, prefix_sums
*/
// cpu: n=16Ki

// twice: barriers float
kernel void waits(global const float* restrict x, global float* restrict y, uint n) {
    float v = x[get_global_id(0)];
    for (uint k = 0; k < 1000 * BARRIERS; ++k) {
        for (int f = 0; f < FLOAT; ++f) v = fma(v, 0.5f, 0.25f);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    y[get_global_id(0)] = v;
}

// twice: barriers float
kernel void one_group_waits(global const float* restrict x, global float* restrict y, uint n) {
    float v = x[get_global_id(0)];
    for (uint k = 0; k < 2000 * BARRIERS; ++k) {
        for (int f = 0; f < FLOAT; ++f) v = fma(v, 0.5f, 0.25f);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    y[get_global_id(0)] = v;
}

// twice: barriers float
kernel void wide_waits(global const float* restrict x, global float* restrict y, uint n) {
    float v = x[get_global_id(0)];
    for (uint k = 0; k < 1000 * BARRIERS; ++k) {
        for (int f = 0; f < FLOAT; ++f) v = fma(v, 0.5f, 0.25f);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    y[get_global_id(0)] = v;
}

// Prefix sums of a group, step by step, again and again.
// twice: barriers float
kernel void prefix_sums(global const float* restrict x, global float* restrict y, uint n) {
    local float part[256];
    const uint l = get_local_id(0);
    part[l] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint again = 0; again < 32 * BARRIERS; ++again)
        for (uint step = 1; step < 256; step *= 2) {
            float v = part[l];
            for (int f = 0; f < FLOAT; ++f) v += l >= step ? 0.5f * part[l - step] : 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            part[l] = v;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    y[get_global_id(0)] = part[l];
}

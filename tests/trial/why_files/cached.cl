// The same small region again and again: memory=2 reads it twice as often, float=2 does twice the arithmetic.
/*cllab
axis n = 4Mi
axis memory = 1
axis float = 1
options -DMEMORY={memory} -DFLOAT={float}
arg y = out:n / 4
arg mask = region / 16 - 1
global n / 4
local 256
axis region = 4Mi
arg x = rand:region / 4
differ second_level, first_level, rows_again
*/
// cpu: n=512Ki

// twice: memory float
kernel void second_level(global const float4* restrict x, global float* restrict y, uint mask) {
    const uint i = get_global_id(0);
    float4 v = 0;
    for (uint k = 0; k < 32 * MEMORY; ++k)
        for (int f = 0; f < FLOAT; ++f) v += x[(i + 4099 * 64 * k) & mask];
    y[i] = v.x + v.y + v.z + v.w;
}

// Each group reads its own 8 KiB.
// twice: memory float
kernel void first_level(global const float4* restrict x, global float* restrict y, uint mask) {
    const uint i = get_global_id(0), l = get_local_id(0), from = get_group_id(0) * 512;
    float4 v = 0;
    for (uint k = 0; k < 64 * MEMORY; ++k)
        for (int f = 0; f < FLOAT; ++f) v += x[(from + ((l + 256 * k) & 511)) & mask];
    y[i] = v.x + v.y + v.z + v.w;
}

// A table of weights that every group goes through, one element for all items, and a line of its own.
// twice: memory float
kernel void rows_again(global const float4* restrict x, global float* restrict y, uint mask) {
    const uint i = get_global_id(0), l = get_local_id(0);
    float4 v = 0;
    for (uint k = 0; k < 32 * MEMORY; ++k)
        for (int f = 0; f < FLOAT; ++f) v += x[(l + 256 * (k * 37 + get_group_id(0))) & mask];
    y[i] = v.x + v.y + v.z + v.w;
}

// Local memory with and without conflicts of its banks. local_work=2 does twice the accesses, float=2 twice the
// arithmetic, memory=2 twice the global memory.
/*cllab
axis n = 2Mi
axis local_work = 1
axis float = 1
axis memory = 1
options -DLOCAL={local_work} -DFLOAT={float} -DMEMORY={memory}
arg x = rand:n*memory
arg y = out:n*memory
arg n = n
arg w = 2048
global n
local 256
kernel tile_conflicts
global w, n / w
local 32,8
differ along_words, every_second_word, one_bank, tile_conflicts, window
*/
// cpu: n=256Ki

// twice: local float
kernel void along_words(global const float* restrict x, global float* restrict y, uint n) {
    local float tile[1024];
    const uint i = get_global_id(0), l = get_local_id(0);
    for (uint k = l; k < 1024; k += 256) tile[k] = x[i] + k;
    barrier(CLK_LOCAL_MEM_FENCE);
    float v = 0;
    for (uint k = 0; k < 64 * LOCAL; ++k)
        for (int f = 0; f < FLOAT; ++f) v += tile[(l + 33 * k) & 1023];
    y[i] = v;
}

// twice: local float
kernel void every_second_word(global const float* restrict x, global float* restrict y, uint n) {
    local float tile[1024];
    const uint i = get_global_id(0), l = get_local_id(0);
    for (uint k = l; k < 1024; k += 256) tile[k] = x[i] + k;
    barrier(CLK_LOCAL_MEM_FENCE);
    float v = 0;
    for (uint k = 0; k < 64 * LOCAL; ++k)
        for (int f = 0; f < FLOAT; ++f) v += tile[(2 * l + 33 * k) & 1023];
    y[i] = v;
}

// twice: local float
kernel void one_bank(global const float* restrict x, global float* restrict y, uint n) {
    local float tile[4096];
    const uint i = get_global_id(0), l = get_local_id(0);
    for (uint k = l; k < 4096; k += 256) tile[k] = x[i] + k;
    barrier(CLK_LOCAL_MEM_FENCE);
    float v = 0;
    for (uint k = 0; k < 64 * LOCAL; ++k)
        for (int f = 0; f < FLOAT; ++f) v += tile[(32 * l + k) & 4095];
    y[i] = v;
}

// Columns of a tile of 32 words a row, read and written.
// twice: local float
kernel void tile_conflicts(global const float* restrict x, global float* restrict y, uint n, uint w) {
    local float tile[32][32];
    const uint lx = get_local_id(0), ly = get_local_id(1), at = get_global_id(1) * w + get_global_id(0);
    for (uint k = ly; k < 32; k += 8) tile[lx][k] = x[at] + k;
    barrier(CLK_LOCAL_MEM_FENCE);
    float v = 0;
    for (uint k = 0; k < 32 * LOCAL; ++k)
        for (int f = 0; f < FLOAT; ++f) v += tile[lx][(k + ly) & 31];
    y[at] = v;
}

// Neighbours that all items of a group share: a wide window from local memory.
// twice: local float
kernel void window(global const float* restrict x, global float* restrict y, uint n) {
    local float tile[256 + 64];
    const uint i = get_global_id(0), l = get_local_id(0);
    tile[l] = x[i];
    if (l < 64) tile[256 + l] = x[min(i + 256, n - 1)];
    barrier(CLK_LOCAL_MEM_FENCE);
    float v = 0;
    for (uint m = 0; m < LOCAL; ++m)
        for (uint k = 0; k < 64; ++k)
            for (int f = 0; f < FLOAT; ++f) v = fma(tile[l + k], 0.01f * (k + m), v);
    y[i] = v;
}

// What programs do: more than one resource is used. memory=2, float=2, local_work=2 do twice as much of one.
/*cllab
axis n = 4Mi
axis memory = 1
axis float = 1
axis local_work = 1
options -DMEMORY={memory} -DFLOAT={float} -DLOCAL={local_work}
arg x = rand:n*memory
arg z = rand:n*memory
arg y = out:n*memory
arg index = rand:n:0:4194303
arg n = n
arg w = 2048
global n
local 256
kernel tiled_product
global w, 256
local 16,16
arg x = rand:256*w
arg z = rand:w*w
arg y = out:256*w
kernel tiled_transpose
global w, n / w
local 16,16
kernel filter_7x7
global w, n / w
local 16,16
kernel sum_of_group
arg y = out:n / 256
kernel softmax_of_row
global n / 64
local 64
kernel sparse_rows
global n / 16
arg y = out:n / 16
differ brightness, filter_7x7, tiled_product, tiled_transpose, sum_of_group, softmax_of_row, sparse_rows, looked_up
*/
// cpu: n=512Ki

// twice: memory float
kernel void brightness(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        float v = x[m * n + i];
        for (int k = 0; k < FLOAT; ++k) v = native_powr(v + 0.01f, 0.45f);
        y[m * n + i] = v;
    }
}

// twice: memory float
kernel void filter_7x7(global const float* restrict x, global float* restrict y, uint n, uint w) {
    const int c = get_global_id(0), r = get_global_id(1), h = n / w;
    for (uint m = 0; m < MEMORY; ++m) {
        float v = 0;
        for (int dy = -3; dy <= 3; ++dy)
            for (int dx = -3; dx <= 3; ++dx) {
                const float p = x[m * n + clamp(r + dy, 0, h - 1) * w + clamp(c + dx, 0, (int)w - 1)];
                for (int k = 0; k < FLOAT; ++k) v = fma(p, 0.01f * (dx + 4 * k) + 0.02f * dy, v);
            }
        y[m * n + r * w + c] = v;
    }
}

// twice: memory float local
kernel void tiled_product(global const float* restrict x, global const float* restrict z, global float* restrict y,
                          uint w) {
    local float a[16][16], b[16][16];
    const uint lx = get_local_id(0), ly = get_local_id(1), c = get_global_id(0), r = get_global_id(1);
    float sum = 0;
    for (uint t = 0; t < w / 8; t += 16) {
        for (uint m = 0; m < MEMORY; ++m) {
            a[ly][lx] = x[r * w + t + lx + m];
            b[ly][lx] = z[(t + ly) * w + c + m];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int l = 0; l < LOCAL; ++l)
            for (int k = 0; k < 16; ++k)
                for (int f = 0; f < FLOAT; ++f) sum = fma(a[ly][(k + l) & 15], b[k][lx], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    y[r * w + c] = sum;
}

// twice: memory float local
kernel void tiled_transpose(global const float* restrict x, global float* restrict y, uint n, uint w) {
    local float tile[16][17];
    const uint lx = get_local_id(0), ly = get_local_id(1), h = n / w;
    const uint c = get_group_id(0) * 16, r = get_group_id(1) * 16;
    for (uint m = 0; m < MEMORY; ++m) {
        float v = x[m * n + (r + ly) * w + c + lx];
        for (int k = 0; k < FLOAT; ++k) v = fma(v, 0.5f, 0.25f);
        for (int k = 0; k < LOCAL; ++k) tile[ly][lx] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        y[m * n + (c + ly) * h + r + lx] = tile[lx][ly];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// twice: memory float
kernel void sum_of_group(global const float* restrict x, global float* restrict y, uint n) {
    local float part[256];
    const uint l = get_local_id(0);
    float v = 0;
    for (uint m = 0; m < MEMORY; ++m)
        for (int k = 0; k < FLOAT; ++k) v += x[m * n + get_global_id(0)];
    part[l] = v;
    for (uint half_size = 128; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < half_size) part[l] += part[l + half_size];
    }
    if (l == 0) y[get_group_id(0)] = part[0];
}

// twice: memory float
kernel void softmax_of_row(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0), rows = get_global_size(0);
    for (uint m = 0; m < MEMORY; ++m) {
        float most = 0, sum = 0;
        for (uint k = 0; k < 64; ++k) most = fmax(most, x[m * n + k * rows + i]);
        for (uint k = 0; k < 64; ++k)
            for (int f = 0; f < FLOAT; ++f) sum += exp(x[m * n + k * rows + i] - most - f);
        for (uint k = 0; k < 64; ++k) {
            float part = 0;
            for (int f = 0; f < FLOAT; ++f) part += exp(x[m * n + k * rows + i] - most - f);
            y[m * n + k * rows + i] = part / sum;
        }
    }
}

// twice: memory float
kernel void sparse_rows(global const float* restrict x, global const float* restrict z, global const uint* restrict index,
                        global float* restrict y, uint n) {
    const uint i = get_global_id(0), rows = get_global_size(0);
    float v = 0;
    for (uint m = 0; m < MEMORY; ++m)
        for (uint k = 0; k < 16; ++k)
            for (int f = 0; f < FLOAT; ++f)
                v = fma(z[m * n + k * rows + i], x[m * n + (index[k * rows + i] & (n - 1))], v);
    y[i] = v;
}

// twice: memory float
kernel void looked_up(global const float* restrict x, global const float* restrict z, global float* restrict y,
                      uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        float v = x[m * n + i];
        for (int k = 0; k < 8; ++k) {
            v = z[(uint)(v * 4095.0f) & 4095];
            for (int f = 1; f < FLOAT; ++f) v = fma(v, 0.5f, 0.25f);
        }
        y[m * n + i] = v;
    }
}

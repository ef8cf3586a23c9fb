// Floating-point arithmetic in independent chains. float_work=2 does twice as much beside what there is, memory=2 moves
// twice the bytes.
/*cllab
axis n = 4Mi
axis float = 1
axis memory = 1
options -DFLOAT={float} -DMEMORY={memory}
arg x = rand:n*memory
arg y = out:n*memory
arg n = n
global n
local 256
differ polynomial, eight_chains, sums_and_products, double_polynomial, double_series, fractal
*/
// cpu: n=512Ki

// twice: float memory
kernel void polynomial(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        const float a = x[m * n + i];
        float v[4 * FLOAT];
        for (int c = 0; c < 4 * FLOAT; ++c) v[c] = 0.1f * c;
        for (int k = 0; k < 64 / MEMORY; ++k)
            for (int c = 0; c < 4 * FLOAT; ++c) v[c] = fma(v[c], a, 0.3f);
        float sum = 0;
        for (int c = 0; c < 4 * FLOAT; ++c) sum += v[c];
        y[m * n + i] = sum;
    }
}

// twice: float memory
kernel void eight_chains(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        const float a = x[m * n + i];
        float v[8 * FLOAT];
        for (int c = 0; c < 8 * FLOAT; ++c) v[c] = a + c;
        for (int k = 0; k < 48 / MEMORY; ++k)
            for (int c = 0; c < 8 * FLOAT; ++c) v[c] = fma(v[c], 0.99f, 0.01f);
        float sum = 0;
        for (int c = 0; c < 8 * FLOAT; ++c) sum += v[c];
        y[m * n + i] = sum;
    }
}

// Additions and multiplications that no compiler may join.
// twice: float memory
kernel void sums_and_products(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        const float a = x[m * n + i];
        float v[4 * FLOAT], p[4 * FLOAT];
        for (int c = 0; c < 4 * FLOAT; ++c) v[c] = p[c] = a + c;
        for (int k = 0; k < 48 / MEMORY; ++k)
            for (int c = 0; c < 4 * FLOAT; ++c) v[c] += a, p[c] *= 0.99f;
        float sum = 0;
        for (int c = 0; c < 4 * FLOAT; ++c) sum += v[c] + p[c];
        y[m * n + i] = sum;
    }
}

// twice: float memory
kernel void double_polynomial(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        const double a = x[m * n + i];
        double v[4 * FLOAT];
        for (int c = 0; c < 4 * FLOAT; ++c) v[c] = 0.1 * c;
        for (int k = 0; k < 50 / MEMORY; ++k)
            for (int c = 0; c < 4 * FLOAT; ++c) v[c] = fma(v[c], a, 0.3);
        double sum = 0;
        for (int c = 0; c < 4 * FLOAT; ++c) sum += v[c];
        y[m * n + i] = sum;
    }
}

// twice: float memory
kernel void double_series(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        const double a = x[m * n + i];
        double v[8 * FLOAT];
        for (int c = 0; c < 8 * FLOAT; ++c) v[c] = a + c;
        for (int k = 0; k < 32 / MEMORY; ++k)
            for (int c = 0; c < 8 * FLOAT; ++c) v[c] = v[c] * 0.99 + 0.01;
        double sum = 0;
        for (int c = 0; c < 8 * FLOAT; ++c) sum += v[c];
        y[m * n + i] = sum;
    }
}

// A fixed number of steps of z = z * z + c, four points an item.
// twice: float memory
kernel void fractal(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0);
    for (uint m = 0; m < MEMORY; ++m) {
        const float a = x[m * n + i];
        float re[4 * FLOAT], im[4 * FLOAT];
        for (int c = 0; c < 4 * FLOAT; ++c) re[c] = im[c] = 0;
        for (int k = 0; k < 40 / MEMORY; ++k)
            for (int c = 0; c < 4 * FLOAT; ++c) {
                const float r = re[c] * re[c] - im[c] * im[c] + 0.3f * a;
                im[c] = 2 * re[c] * im[c] + 0.01f * c;
                re[c] = r;
            }
        float sum = 0;
        for (int c = 0; c < 4 * FLOAT; ++c) sum += re[c] + im[c];
        y[m * n + i] = sum;
    }
}

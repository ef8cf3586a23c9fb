// Work-groups of unlike work: spread=2 gives each work-item the average, so that the same work keeps all cores busy.
/*cllab
axis n = 64Ki
axis float = 1
axis spread = 1
options -DAVERAGE={200*float} -DSPREAD={spread}
arg x = rand:n
arg y = out:n
arg n = n
global n
local 64
differ first_group, last_groups, one_item, every_8th_group, triangle
*/

float steps_of(float v, uint steps) {
    for (uint k = 0; k < steps; ++k) v = fma(v, 0.999f, 0.5f);
    return v;
}

// twice: float spread
kernel void first_group(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0), own = i < 64 ? AVERAGE * (n / 64) / 4 : AVERAGE * 3 / 4;
    y[i] = steps_of(x[i], SPREAD == 1 ? own : AVERAGE);
}

// twice: float spread
kernel void last_groups(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0), own = i >= n - 192 ? AVERAGE * (n / 64) / 8 : AVERAGE * 5 / 8;
    y[i] = steps_of(x[i], SPREAD == 1 ? own : AVERAGE);
}

// twice: float spread
kernel void one_item(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0), own = i == 0 ? AVERAGE * (n / 2) : AVERAGE / 2;
    y[i] = steps_of(x[i], SPREAD == 1 ? own : AVERAGE);
}

// twice: float spread
kernel void every_8th_group(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0), own = i / 64 % 8 == 0 ? AVERAGE * 4 : AVERAGE * 4 / 7;
    y[i] = steps_of(x[i], SPREAD == 1 ? own : AVERAGE);
}

// twice: float spread
kernel void triangle(global const float* restrict x, global float* restrict y, uint n) {
    const uint i = get_global_id(0), own = 2 * AVERAGE * (i / 64) / (n / 64);
    y[i] = steps_of(x[i], SPREAD == 1 ? own : AVERAGE);
}

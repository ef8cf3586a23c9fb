// Many groups with next to no work: work=2 does twice as much in each, n twice makes twice the groups.
/*cllab
axis n = 512Ki
axis work = 1
options -DWORK={work}
arg x = rand:n:0:255
arg y = out:n
arg n = n
global n
local 1
kernel groups_of_4
local 4
kernel first_item_works
local 32
differ groups_of_1, groups_of_4, first_item_works, integers_of_1
*/
// cpu: n=64Ki

// twice: work
kernel void groups_of_1(global float* restrict y, uint n) {
    float v = get_global_id(0) & 1023;
    for (int k = 0; k < WORK; ++k) v = fma(v, 0.5f, 1.0f);
    y[get_global_id(0)] = v;
}

// twice: work
kernel void groups_of_4(global const float* restrict x, global float* restrict y, uint n) {
    float v = x[get_global_id(0)];
    for (int k = 0; k < WORK; ++k) v = fma(v, 0.5f, 1.0f);
    y[get_global_id(0)] = v;
}

// twice: work
kernel void first_item_works(global const float* restrict x, global float* restrict y, uint n) {
    if (get_local_id(0) == 0) {
        const uint i = get_group_id(0);
        float v = x[i];
        for (int k = 0; k < WORK; ++k) v = fma(v, 0.5f, 1.0f);
        y[i] = v;
    }
}

// twice: work
kernel void integers_of_1(global const uint* restrict x, global uint* restrict y, uint n) {
    const uint i = get_global_id(0);
    uint v = x[i];
    for (int k = 0; k < WORK; ++k) v = v * 5 + k;
    y[i] = v;
}

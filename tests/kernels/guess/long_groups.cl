// A promised work-group of 256 work-items that each do some hundred steps: no launch of it is small.
__attribute__((reqd_work_group_size(256, 1, 1))) kernel void iterate(global float* values, float seed) {
    const size_t i = get_global_id(0);
    for (int part = 0; part < 4; ++part) {
        const size_t at = i + part * get_global_size(0);
        float value = values[at];
        for (int step = 0; step < 80; ++step) value = value * value * 0.5f + seed;
        values[at] = value;
    }
}

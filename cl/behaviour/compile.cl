// Float arithmetic in which every option has something to change.
kernel void plain(global float* out, global const float* in) {
    const size_t i = get_global_id(0);
    const float x = in[i], y = in[i + 1];
    float r = x * y + 0.5 / y + sqrt(x) + exp(x) * sin(y) + (x + y) * 0.0f;
    for (int k = 0; k < 8; ++k) r += in[i + k] * in[8 + k];
    out[i] = isnan(r) ? 1.0f : r;
}

kernel void constant_one(global uint* out) { out[0] = 1; }

__kernel void scale_in_place(__global float* data, float factor) { data[get_global_id(0)] *= factor; }

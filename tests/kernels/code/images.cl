// Images that `cllab run` cannot make.
__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void layers(__read_only image2d_array_t from, __write_only image2d_array_t to) {
    const int4 p = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    write_imagef(to, p, read_imagef(from, nearest, p));
}

__kernel void row(__read_only image1d_buffer_t from, __global float4* y) {
    y[get_global_id(0)] = read_imagef(from, (int)get_global_id(0));
}

__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void image_invert(__read_only image2d_t src, __write_only image2d_t dst) {
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(dst, at, 1.0f - read_imagef(src, nearest, at));
}

// An image through a sampler: each pixel becomes the mean of itself and its right neighbour.
/*cllab
axis w = 256
axis h = 128
arg src = rand:rgba8:w,h
arg dst = out:rgba8:w,h
arg edge = sampler:nearest,edge,pixel
global w,h
tolerance absolute=1
work bytes=8*w*h
*/
__kernel void soften(read_only image2d_t src, write_only image2d_t dst, sampler_t edge) {
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(dst, at, 0.5f * (read_imagef(src, edge, at) + read_imagef(src, edge, at + (int2)(1, 0))));
}

// Reads and writes images through a macro, as projects do that build for several types: only one of the images holds
// integers, though the text names no other function.
#define READ(type, image, at) read_image##type(image, pixels, at)

constant sampler_t pixels = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

float4 brighter(float4 a, float4 b) { return fmax(a, b); }

kernel void choose(read_only image2d_t mask, read_only image2d_t a, read_only image2d_t b, write_only image2d_t out,
                   int width, int height) {
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    if (at.x >= width || at.y >= height) return;
    const int4 chosen = read_imagei(mask, pixels, at);
    const float4 of_a = READ(f, a, at), of_b = READ(f, b, at);
    write_imagef(out, at, chosen.x > 100 ? of_a : brighter(of_a, of_b));
}

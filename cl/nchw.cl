// nchw: for each element of a tensor in NHWC order, its index in NCHW order: ((n C + c) H + h) W + w.
//
// Only four bytes per element are written and nothing is read, so the cost is that of the three divisions that split a linear
// index, and of the width and placement of the stores.
// A remainder is written as i - i / d * d: compilers pair / and % by an instruction that Oclgrind 21.10 does not know.
//   CHANNELS, HEIGHT, WIDTH, TOTAL  sizes and number of elements, as defines in `constant` and `vector`, else arguments

// i = ((n H + h) W + w) C + c, put together again in NCHW order.
static inline uint index_of(uint n, uint c, uint h, uint w, uint channels, uint height, uint width) {
    return ((n * channels + c) * height + h) * width + w;
}

#ifdef NCHW_DIVIDE
// One element a work-item; the divisors are known at run time only, and no GPU has an instruction for a division.
kernel void nchw_divide(global uint* restrict out, uint total, uint channels, uint height, uint width) {
    const uint i = get_global_id(0);
    if (i >= total) return;
    const uint pixel = i / channels, row = pixel / width, n = row / height;
    out[i] = index_of(n, i - pixel * channels, row - n * height, pixel - row * width, channels, height, width);
}
#endif

#ifdef NCHW_CONSTANT
// The same with divisors the compiler knows: it multiplies by reciprocals instead.
kernel void nchw_constant(global uint* restrict out) {
    const uint i = get_global_id(0);
    if (i >= TOTAL) return;
    const uint pixel = i / CHANNELS, row = pixel / WIDTH, n = row / HEIGHT;
    out[i] = index_of(n, i - pixel * CHANNELS, row - n * HEIGHT, pixel - row * WIDTH, CHANNELS, HEIGHT, WIDTH);
}
#endif

// i / d for i < 2^31 by the reciprocal that the host has computed: floor(2^(31+s) / d) + 1 with 2^s >= d. Its error times
// i stays below 2^-s <= 1/d (Granlund and Montgomery 1994).
static inline uint quotient(uint i, uint reciprocal, uint s) { return mul_hi(i << 1, reciprocal) >> s; }

#ifdef NCHW_MAGIC
// The same at run time: three multiplications by reciprocals from the host.
kernel void nchw_magic(global uint* restrict out, uint total, uint channels, uint height, uint width, uint rc, uint sc,
                       uint rh, uint sh, uint rw, uint sw) {
    const uint i = get_global_id(0);
    if (i >= total) return;
    const uint pixel = quotient(i, rc, sc), row = quotient(pixel, rw, sw), n = quotient(row, rh, sh);
    out[i] = index_of(n, i - pixel * channels, row - n * height, pixel - row * width, channels, height, width);
}
#endif

#ifdef NCHW_GRID
// A work-group walks along one row of one image: the NDRange says which, and each item divides once, by the channels.
kernel void nchw_grid(global uint* restrict out, uint channels, uint height, uint width) {
    const uint h = get_group_id(1), n = get_group_id(2);
    global uint* row = out + (n * height + h) * width * channels;
    const uint first = index_of(n, 0, h, 0, channels, height, width), plane = height * width;
    for (uint i = get_global_id(0); i < width * channels; i += get_global_size(0)) {
        const uint w = i / channels;
        row[i] = first + (i - w * channels) * plane + w;
    }
}
#endif

#ifdef NCHW_ROWS
// No division at all: a work-item makes a whole row of an image, with nested loops and additions. On a GPU the stores of
// neighbours are then a row apart.
kernel void nchw_rows(global uint* restrict out, uint rows, uint channels, uint height, uint width) {
    for (uint row = get_global_id(0); row < rows; row += get_global_size(0)) {
        const uint n = row / height, h = row - n * height, plane = height * width;
        global uint* restrict to = out + row * width * channels;
        for (uint w = 0; w < width; ++w, to += channels) {
            const uint first = index_of(n, 0, h, w, channels, height, width);
            for (uint c = 0; c < channels; ++c) to[c] = first + c * plane;
        }
    }
}
#endif

#ifdef NCHW_CHANNEL
// As in the tutorial: the indices of one channel only, which are a plane of the tensor apart from one image to the next. The
// NDRange gives the image, so nothing is divided.
kernel void nchw_channel(global uint* restrict out, uint channels, uint height, uint width) {
    const uint x = get_global_id(0), n = get_global_id(1), plane = height * width;
    if (x < plane) out[n * plane + x] = n * channels * plane + x;
}
#endif

#ifdef NCHW_VECTOR
// Four neighbours a work-item and one 128-bit store; one division chain for the first, then steps with a carry.
kernel void nchw_vector(global uint* restrict out) {
    const uint i = get_global_id(0) * 4;
    if (i >= TOTAL) return;
    const uint pixel = i / CHANNELS, row = pixel / WIDTH;
    uint n = row / HEIGHT, c = i - pixel * CHANNELS, h = row - n * HEIGHT, w = pixel - row * WIDTH;
    uint v[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        v[j] = index_of(n, c, h, w, CHANNELS, HEIGHT, WIDTH);
        ++c;
#if CHANNELS % 4 != 0
        // With a multiple of four channels the four never leave their pixel.
        const uint end_c = c == CHANNELS, end_w = end_c && w + 1 == WIDTH, end_h = end_w && h + 1 == HEIGHT;
        c = end_c ? 0 : c;
        w = end_w ? 0 : w + end_c;
        h = end_h ? 0 : h + end_w;
        n += end_h;
#endif
    }
#if TOTAL % 4 != 0
    if (i + 4 > TOTAL) {
        for (int j = 0; i + j < TOTAL; ++j) out[i + j] = v[j];
        return;
    }
#endif
    *(global uint4*)(out + i) = (uint4)(v[0], v[1], v[2], v[3]);
}
#endif

/* family
question: What does it cost to split a linear index into image, row, column and channel?

axis images: N, images; auto is 1024, on a CPU 64
  whole: 1 to 1Gi
axis channels: C, channels
  whole: 1 to 1Gi
  usual: 64
axis height: H, rows
  whole: 1 to 1Gi
  usual: 56
axis width: W, columns
  whole: 1 to 1Gi
  usual: 56
axis local: work-items per group; auto is 256, for rows 64, on a CPU 1
  whole: 1 to 4Ki
  tune: auto, 32:512:*2

variant divide: One element per work-item, divisors known only at run time.
variant constant: One element per work-item, divisors known to the compiler.
variant magic: One element per work-item, multiplication by reciprocals from the host.
variant grid: One work-group per row of an image: the NDRange gives row and image.
variant rows: One work-item per row of an image: nested loops without a division.
variant channel: The indices of one channel, one element per work-item: the NDRange gives the image.
variant vector: Four elements per work-item: one chain of divisions and one 128-bit store.
*/

// batchnorm: y = (x - mean) / sqrt(variance + epsilon), x in NCHW order.
//
// pixel_*    the tutorial's form: statistics over the images alone, for each of PIXELS = C H W places. One work-item per
//            place (split2, split4: two or four); images lie PIXELS floats apart.
// channel_*  the layer as it is defined: statistics over images, rows and columns, then y * gamma + beta, with the running
//            mean and variance that training keeps. Two launches: statistics, then normalisation.
// At the least x is read once and y written once; what does not stay in registers or caches is read again.
//   IMAGES, CHANNELS, PLANE   N, C and H * W, as defines
//   VECTOR   floats in an access of channel_wide: 4 (on a CPU 8) where PLANE is a multiple of it, else 1
//   SLICES   of channel_wide: work-groups that share the statistics of a channel, each with IMAGES / SLICES images
// Sums are of x minus a value of the same place or channel: E[x^2] - E[x]^2 itself loses all digits where the mean is
// large against the deviation.

#define PIXELS (CHANNELS * PLANE)
#define EPSILON 1e-5f
#define MOMENTUM 0.1f

// What the kernels of pixel_* are given.
#define PIXEL_ARGUMENTS \
    global const float *restrict x, global float *restrict y, global float *restrict means, global float *restrict scales

// What training keeps of a channel. The running variance is the unbiased one, as in the layers of the frameworks.
static inline void keep(uint c, float mean, float variance, global float* means, global float* scales, global float* running) {
    const float count = (float)IMAGES * PLANE;
    means[c] = mean;
    scales[c] = 1 / sqrt(variance + EPSILON);
    running[c] += MOMENTUM * (mean - running[c]);
    running[CHANNELS + c] += MOMENTUM * (variance * (count / fmax(count - 1, 1.0f)) - running[CHANNELS + c]);
}

#ifdef BATCHNORM_PIXEL_THREE
// Mean, variance, result: x is read three times.
kernel void batchnorm_pixel_three(PIXEL_ARGUMENTS) {
    const uint p = get_global_id(0);
    if (p >= PIXELS) return;
    float sum = 0, squares = 0;
    for (uint n = 0; n < IMAGES; ++n) sum += x[(size_t)n * PIXELS + p];
    const float mean = sum / IMAGES;
    for (uint n = 0; n < IMAGES; ++n) {
        const float d = x[(size_t)n * PIXELS + p] - mean;
        squares = fma(d, d, squares);
    }
    const float scale = 1 / sqrt(squares / IMAGES + EPSILON);
    for (uint n = 0; n < IMAGES; ++n) y[(size_t)n * PIXELS + p] = (x[(size_t)n * PIXELS + p] - mean) * scale;
    means[p] = mean;
    scales[p] = scale;
}
#endif

#ifdef BATCHNORM_PIXEL_STEPPED
// pixel_three with pointers that step from image to image, where that one computes n * PIXELS + p. Compilers for GPUs step
// the address of that one too; LLVM unrolls this one further (tests/isa).
kernel void batchnorm_pixel_stepped(PIXEL_ARGUMENTS) {
    const uint p = get_global_id(0);
    if (p >= PIXELS) return;
    global const float* const end = x + (size_t)IMAGES * PIXELS + p;
    float sum = 0, squares = 0;
    for (global const float* from = x + p; from != end; from += PIXELS) sum += *from;
    const float mean = sum / IMAGES;
    for (global const float* from = x + p; from != end; from += PIXELS) {
        const float d = *from - mean;
        squares = fma(d, d, squares);
    }
    const float scale = 1 / sqrt(squares / IMAGES + EPSILON);
    global float* to = y + p;
    for (global const float* from = x + p; from != end; from += PIXELS, to += PIXELS) *to = (*from - mean) * scale;
    means[p] = mean;
    scales[p] = scale;
}
#endif

#ifdef BATCHNORM_PIXEL_TWO
// Both sums in one pass, of x minus its first value: x is read twice.
kernel void batchnorm_pixel_two(PIXEL_ARGUMENTS) {
    const uint p = get_global_id(0);
    if (p >= PIXELS) return;
    const float shift = x[p];
    float sum = 0, squares = 0;
    for (uint n = 0; n < IMAGES; ++n) {
        const float d = x[(size_t)n * PIXELS + p] - shift;
        sum += d;
        squares = fma(d, d, squares);
    }
    const float moved = sum / IMAGES, mean = shift + moved;
    const float scale = 1 / sqrt(fmax(squares / IMAGES - moved * moved, 0.0f) + EPSILON);
    for (uint n = 0; n < IMAGES; ++n) y[(size_t)n * PIXELS + p] = (x[(size_t)n * PIXELS + p] - mean) * scale;
    means[p] = mean;
    scales[p] = scale;
}
#endif

#ifdef BATCHNORM_PIXEL_WELFORD
// Welford's update (1962): one pass and no cancellation, at the price of a division and a chain of dependent operations.
kernel void batchnorm_pixel_welford(PIXEL_ARGUMENTS) {
    const uint p = get_global_id(0);
    if (p >= PIXELS) return;
    float mean = 0, squares = 0;
    for (uint n = 0; n < IMAGES; ++n) {
        const float v = x[(size_t)n * PIXELS + p], d = v - mean;
        mean += d / (n + 1);
        squares = fma(d, v - mean, squares);
    }
    const float scale = 1 / sqrt(squares / IMAGES + EPSILON);
    for (uint n = 0; n < IMAGES; ++n) y[(size_t)n * PIXELS + p] = (x[(size_t)n * PIXELS + p] - mean) * scale;
    means[p] = mean;
    scales[p] = scale;
}
#endif

#if defined(BATCHNORM_PIXEL_SPLIT2) || defined(BATCHNORM_PIXEL_SPLIT4)
// Each item keeps IMAGES / PARTS values of its place in registers: x is read once. PARTS items a place add up through
// local memory; with PLACES neighbouring places a work-group the loads stay contiguous.
#define HELD ((IMAGES + PARTS - 1) / PARTS)
static inline float sum_of_parts(float v, local float* shared_) {
    const uint place = get_local_id(0), part = get_local_id(1);
    barrier(CLK_LOCAL_MEM_FENCE);
    shared_[part * PLACES + place] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (uint i = 0; i < PARTS; ++i) sum += shared_[i * PLACES + place];
    return sum;
}

kernel __attribute__((reqd_work_group_size(PLACES, PARTS, 1))) void KERNEL(PIXEL_ARGUMENTS) {
    local float shared_[PARTS * PLACES];
    const uint p = get_global_id(0), first = get_local_id(1) * HELD;
    const uint count = p >= PIXELS || first >= IMAGES ? 0 : min((uint)HELD, IMAGES - first);
    float held[HELD];
    float sum = 0, squares = 0;
#pragma unroll
    for (uint i = 0; i < HELD; ++i) {
        held[i] = i < count ? x[(size_t)(first + i) * PIXELS + p] : 0;
        sum += held[i];
    }
    const float mean = sum_of_parts(sum, shared_) / IMAGES;
#pragma unroll
    for (uint i = 0; i < HELD; ++i) {
        const float d = i < count ? held[i] - mean : 0;
        squares = fma(d, d, squares);
    }
    const float scale = 1 / sqrt(sum_of_parts(squares, shared_) / IMAGES + EPSILON);
#pragma unroll
    for (uint i = 0; i < HELD; ++i) {
        if (i < count) y[(size_t)(first + i) * PIXELS + p] = (held[i] - mean) * scale;
    }
    if (p < PIXELS && get_local_id(1) == 0) {
        means[p] = mean;
        scales[p] = scale;
    }
}
#endif

#if defined(BATCHNORM_CHANNEL_THREE) || defined(BATCHNORM_CHANNEL_TWO) || defined(BATCHNORM_CHANNEL_WELFORD)
static inline float group_sum(float v, local float* shared_) {
    const uint lid = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    shared_[lid] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint left = get_local_size(0); left > 1;) {
        const uint step = (left + 1) / 2;
        if (lid + step < left) shared_[lid] += shared_[lid + step];
        left = step;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return shared_[0];
}

// Visits every element X of channel c, neighbours by neighbouring work-items.
#define FOR_CHANNEL for (uint i = get_local_id(0); i < IMAGES * PLANE; i += get_local_size(0))
#define X x[((size_t)(i / PLANE) * CHANNELS + c) * PLANE + (i - i / PLANE * PLANE)]

// One work-group a channel.
kernel void batchnorm_statistics(global const float* restrict x, global float* restrict means, global float* restrict scales,
                                 global float* restrict running, local float* shared_) {
    const uint c = get_group_id(0);
    const float count = (float)IMAGES * PLANE;
#if defined(BATCHNORM_CHANNEL_THREE)
    float sum = 0, squares = 0;
    FOR_CHANNEL sum += X;
    const float mean = group_sum(sum, shared_) / count;
    FOR_CHANNEL {
        const float d = X - mean;
        squares = fma(d, d, squares);
    }
    const float variance = group_sum(squares, shared_) / count;
#elif defined(BATCHNORM_CHANNEL_TWO)
    const float shift = x[(size_t)c * PLANE];
    float sum = 0, squares = 0;
    FOR_CHANNEL {
        const float d = X - shift;
        sum += d;
        squares = fma(d, d, squares);
    }
    const float moved = group_sum(sum, shared_) / count, mean = shift + moved;
    const float variance = fmax(group_sum(squares, shared_) / count - moved * moved, 0.0f);
#else
    // Welford an item, then the items' results are joined: the mean is the weighted one, and to the squares come those of
    // the means about it (Chan, Golub and LeVeque 1979).
    float own = 0, squares = 0, seen = 0;
    FOR_CHANNEL {
        const float v = X, d = v - own;
        seen += 1;
        own += d / seen;
        squares = fma(d, v - own, squares);
    }
    const float mean = group_sum(own * seen, shared_) / count;
    const float variance = group_sum(fma(seen * (own - mean), own - mean, squares), shared_) / count;
#endif
    if (get_local_id(0) == 0) keep(c, mean, variance, means, scales, running);
}

// One element per work-item.
kernel void batchnorm_normalise(global const float* restrict x, global float* restrict y, global const float* restrict means,
                                global const float* restrict scales, global const float* restrict gamma,
                                global const float* restrict beta) {
    const size_t i = get_global_id(0);
    if (i >= (size_t)IMAGES * PIXELS) return;
    const uint c = i / PLANE % CHANNELS;
    y[i] = fma((x[i] - means[c]) * scales[c], gamma[c], beta[c]);
}
#endif

#ifdef BATCHNORM_CHANNEL_WIDE
#if VECTOR == 8
typedef float8 vector_t;
#define SUM(v) ((v).s0 + (v).s1 + (v).s2 + (v).s3 + (v).s4 + (v).s5 + (v).s6 + (v).s7)
#elif VECTOR == 4
typedef float4 vector_t;
#define SUM(v) ((v).x + (v).y + (v).z + (v).w)
#else
typedef float vector_t;
#define SUM(v) (v)
#endif
#define WORDS (PLANE / VECTOR)  // of a plane
#define AHEAD 4                 // loads on their way at once

// Images of slice s are first_image(s) up to first_image(s + 1).
static inline uint first_image(uint slice) { return (uint)((ulong)IMAGES * slice / SLICES); }
static inline size_t word_of(uint i, uint first, uint c) {
    const uint n = i / WORDS;
    return ((size_t)(first + n) * CHANNELS + c) * WORDS + (i - n * WORDS);
}

// Groups are numbered slice by slice, so that those that run together read neighbouring planes.
kernel void batchnorm_partial(global const vector_t* restrict x, global float* restrict partial, local float* shared_) {
    const uint group = get_group_id(0), slice = group / CHANNELS, c = group - slice * CHANNELS, lid = get_local_id(0);
    const uint first = first_image(slice), step = get_local_size(0);
    const float shift = ((global const float*)x)[(size_t)c * PLANE];
    vector_t sum = 0, squares = 0;
#if defined(LAB_CPU)
    // One work-item per group: plane by plane, and two sums of each kind, so that an addition need not wait for the last.
    vector_t odd = 0, odd_squares = 0;
    for (uint n = first; n < first_image(slice + 1); ++n) {
        global const vector_t* restrict p = x + ((size_t)n * CHANNELS + c) * WORDS;
        for (uint i = 0; i < WORDS / 2 * 2; i += 2) {
            const vector_t d = p[i] - shift, e = p[i + 1] - shift;
            sum += d;
            odd += e;
            squares = fma(d, d, squares);
            odd_squares = fma(e, e, odd_squares);
        }
        if (WORDS % 2 == 1) {
            const vector_t d = p[WORDS - 1] - shift;
            sum += d;
            squares = fma(d, d, squares);
        }
    }
    sum += odd;
    squares += odd_squares;
#else
    const uint words = (first_image(slice + 1) - first) * WORDS;
    uint i = lid;
    for (; i + (AHEAD - 1) * step < words; i += AHEAD * step) {
        vector_t v[AHEAD];
#pragma unroll
        for (int j = 0; j < AHEAD; ++j) v[j] = x[word_of(i + j * step, first, c)];
#pragma unroll
        for (int j = 0; j < AHEAD; ++j) {
            const vector_t d = v[j] - shift;
            sum += d;
            squares = fma(d, d, squares);
        }
    }
    for (; i < words; i += step) {
        const vector_t d = x[word_of(i, first, c)] - shift;
        sum += d;
        squares = fma(d, d, squares);
    }
#endif
    // Both sums in one tree.
    local float* second = shared_ + step;
    shared_[lid] = SUM(sum);
    second[lid] = SUM(squares);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint left = step; left > 1;) {
        const uint next = (left + 1) / 2;
        if (lid + next < left) {
            shared_[lid] += shared_[lid + next];
            second[lid] += second[lid + next];
        }
        left = next;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0) {
        partial[2 * (slice * CHANNELS + c)] = shared_[0];
        partial[2 * (slice * CHANNELS + c) + 1] = second[0];
    }
}

// Every group adds up its channel's partial sums for itself, which saves a launch between the two. Groups go backwards
// through memory: what the first launch read last is still in the last-level cache.
kernel void batchnorm_apply(global const vector_t* restrict x, global vector_t* restrict y, global const float* restrict partial,
                            global float* restrict means, global float* restrict scales, global float* restrict running,
                            global const float* restrict gamma, global const float* restrict beta) {
    const uint group = get_num_groups(0) - 1 - get_group_id(0);
    const uint slice = group / CHANNELS, c = group - slice * CHANNELS;
    const float count = (float)IMAGES * PLANE;
    float sum = 0, squares = 0;
    for (uint s = 0; s < SLICES; ++s) {
        sum += partial[2 * (s * CHANNELS + c)];
        squares += partial[2 * (s * CHANNELS + c) + 1];
    }
    const float moved = sum / count, mean = ((global const float*)x)[(size_t)c * PLANE] + moved;
    const float variance = fmax(squares / count - moved * moved, 0.0f);
    const float scale = 1 / sqrt(variance + EPSILON), factor = scale * gamma[c], offset = beta[c];
    if (slice == 0 && get_local_id(0) == 0) keep(c, mean, variance, means, scales, running);
#if defined(LAB_CPU)
    for (uint n = first_image(slice); n < first_image(slice + 1); ++n) {
        const size_t at = ((size_t)n * CHANNELS + c) * WORDS;
        for (uint i = 0; i < WORDS; ++i) y[at + i] = fma(x[at + i] - mean, (vector_t)(factor), (vector_t)(offset));
    }
#else
    const uint first = first_image(slice), words = (first_image(slice + 1) - first) * WORDS, step = get_local_size(0);
    uint i = get_local_id(0);
    for (; i + (AHEAD - 1) * step < words; i += AHEAD * step) {
        vector_t v[AHEAD];
#pragma unroll
        for (int j = 0; j < AHEAD; ++j) v[j] = x[word_of(i + j * step, first, c)];
#pragma unroll
        for (int j = 0; j < AHEAD; ++j) y[word_of(i + j * step, first, c)] = fma(v[j] - mean, (vector_t)(factor), (vector_t)(offset));
    }
    for (; i < words; i += step) {
        const size_t at = word_of(i, first, c);
        y[at] = fma(x[at] - mean, (vector_t)(factor), (vector_t)(offset));
    }
#endif
}
#endif

/* family
question: How many times must batch normalisation read its input, and what do registers, splitting and Welford's update
    gain?

axis images: N, images; auto is 128, on a CPU 32
  whole: 1 to 16Mi
axis channels: C, channels; auto is 256, on a CPU 64
  whole: 1 to 16Mi
axis height: H, rows of a plane; auto is 56
  whole: 1 to 16Mi
axis width: W, columns of a plane; auto is 56
  whole: 1 to 16Mi
axis slices: work-groups per channel; auto fills the device four times
  whole: 1 to 16Mi
  tune: auto, 1:16:*2
  only: channel_wide

variant pixel_three: Statistics per pixel: mean, variance and result in three passes.
variant pixel_stepped: pixel_three with pointers stepped from image to image instead of an index.
variant pixel_two: Statistics per pixel: both sums in one pass, shifted against cancellation.
variant pixel_welford: Statistics per pixel: Welford's update, then the result.
variant pixel_split2: Statistics per pixel: two work-items hold its values in registers and read them once.
  defines: PARTS=2
variant pixel_split4: Like pixel_split2, with four work-items per pixel.
  defines: PARTS=4
variant channel_three: Statistics per channel: one work-group per channel takes mean and variance in two passes, then
    the result.
variant channel_two: Statistics per channel: both sums in one pass, then the result.
variant channel_welford: Statistics per channel: Welford's update in each work-item, joined in a tree, then the result.
variant channel_wide: Statistics per channel: several work-groups per channel, 128-bit loads, second pass in reverse
    order to hit the cache.
*/

// address: the same stores, written so that the compiler meets more or fewer address calculations.
//
// After a 2015 article that counted the instructions of these loops in GCN ISA and NVIDIA SASS. Its gains came from
// compilers of that time; today's strength-reduce an index into a stepped pointer by themselves, so read the counts of the
// dump beside the times (instructions of the loop between its label and its branch, v_ and s_ apart on GCN).
//   trips   iterations of the loop, known at run time only
//   INDEX   int, uint or long; PIXELS  pixels per work-item

#ifdef ADDRESS_INDEX
// Each item writes every second integer of its part: the index is multiplied in each iteration, as far as the text goes.
kernel void address_index(global int* restrict out, int trips, int v) {
    global int* p = out + get_global_id(0) * 2 * trips;
#pragma unroll 4
    for (int i = 0; i < trips; ++i) p[i * 2] = v;
}
#endif

#ifdef ADDRESS_POINTER
// The same stores through a pointer that steps.
kernel void address_pointer(global int* restrict out, int trips, int v) {
    global int* p = out + get_global_id(0) * 2 * trips;
#pragma unroll 4
    for (int i = 0; i < trips; ++i) {
        *p = v;
        p += 2;
    }
}
#endif

// The picture is inverted by one, several or a row's worth of pixels an item. INDEX is the type that places are computed in:
// a long costs two additions where the machine adds 32 bits, a uint may wrap and so forbids what an int allows.
#ifdef ADDRESS_PIXEL
// One pixel per work-item: a multiplication, an addition and a bounds test for one byte.
kernel void address_pixel(global uchar* p, int width, int height, int step) {
    const INDEX x = get_global_id(0), y = get_global_id(1);
    if (x < width && y < height) p[y * step + x] = 255 - p[y * step + x];
}
#endif

#ifdef ADDRESS_COLUMN
// PIXELS pixels per work-item, down a column: the address once, then p += step. Neighbours stay neighbours in memory, which
// a row per item gives up.
kernel void address_column(global uchar* p, int width, int height, int step) {
    const INDEX x = get_global_id(0);
    INDEX y = get_global_id(1) * PIXELS;
    if (x >= width) return;
    global uchar* q = p + y * step + x;
    const INDEX end = min(y + PIXELS, (INDEX)height);
    for (; y < end; ++y, q += step) *q = 255 - *q;
}
#endif

#ifdef ADDRESS_STRIDED
// PIXELS pixels per work-item along the row, get_global_size(0) apart: neighbours stay neighbours here as well, and the
// distance is the same for all items.
kernel void address_strided(global uchar* p, int width, int height, int step) {
    const INDEX y = get_global_id(1), apart = get_global_size(0);
    if (y >= height) return;
    global uchar* row = p + y * step;
    for (INDEX x = get_global_id(0); x < width; x += apart) row[x] = 255 - row[x];
}
#endif

#ifdef ADDRESS_ROW
// One row per work-item: the address of the row once, then a loop. On a GPU neighbours are now a row apart in memory.
kernel void address_row(global uchar* p, int width, int height, int step) {
    const INDEX y = get_global_id(0);
    if (y >= height) return;
    global uchar* row = p + y * step;
    for (INDEX x = 0; x < width; ++x) row[x] = 255 - row[x];
}
#endif

// Half of a 64-wide wavefront adds one to its group's block of 32 * trips integers.
#ifdef ADDRESS_MASKED_INSIDE
// Address and loop inside the divergent branch: what could be scalar is computed with the vector's mask.
kernel void address_masked_inside(global int* p, int trips) {
    const int lid = get_local_id(0);
    if (lid < 32) {
        global int* q = p + get_group_id(0) * trips * 32;
        for (int i = lid; i < trips * 32; i += 32) q[i]++;
    }
}
#endif

#ifdef ADDRESS_MASKED_HOISTED
// Address and loop outside, where they are the same for all lanes; the lane is added last.
kernel void address_masked_hoisted(global int* p, int trips) {
    const int lid = get_local_id(0);
    global int* q = p + get_group_id(0) * trips * 32;
    for (int i = 0; i < trips * 32; i += 32) {
        if (lid < 32) q[i + lid]++;
    }
}
#endif

#ifdef ADDRESS_MASKED_BYTES
// Offsets in bytes, so that the loop need not multiply an index by the size of an integer.
kernel void address_masked_bytes(global int* p, int trips) {
    const int lid = get_local_id(0);
    if (lid < 32) {
        global char* q = (global char*)(p + get_group_id(0) * trips * 32 + lid);
        for (int i = 0; i < trips * 128; i += 128) (*(global int*)(q + i))++;
    }
}
#endif

// Sums of two arrays in local memory by a plain counter: every address that is stepped costs an addition a trip, so the
// number of pointers decides. Each item makes the whole sum, a row of `length` of its own.
#define ROWS_OF_SUMS                                                                  \
    const int lid = get_local_id(0);                                                  \
    a[lid] = src[get_group_id(0) * 64 + lid];                                         \
    b[lid] = src[get_group_id(0) * 64 + 32 + lid];                                    \
    barrier(CLK_LOCAL_MEM_FENCE);                                                     \
    global int* p = out + get_global_id(0) * length;                                  \
    for (int i = 0; i < length; ++i) p[i] = a[i] + b[i];

#ifdef ADDRESS_LOCALS_TWO
// Two arrays: two addresses to step, unless the compiler puts them next to each other.
kernel __attribute__((reqd_work_group_size(32, 1, 1))) void address_locals_two(global const int* restrict src,
                                                                               global int* restrict out, int length) {
    local int a[32], b[32];
    ROWS_OF_SUMS
}
#endif

#ifdef ADDRESS_LOCALS_ONE
// One array, the second half at a constant distance that fits into the load's offset field: one address to step.
kernel __attribute__((reqd_work_group_size(32, 1, 1))) void address_locals_one(global const int* restrict src,
                                                                               global int* restrict out, int length) {
    local int ab[64];
    local int *a = ab, *b = ab + 32;
    ROWS_OF_SUMS
}
#endif

// For AMD today's compiler lays a kernel's local arrays out itself, so that both texts above become the same code (in PTX a trip
// still steps three addresses against two). Of arrays that the host allocates it does not know the distance, and the lesson
// holds there as well.
#ifdef ADDRESS_LOCALS_TWO_GIVEN
kernel __attribute__((reqd_work_group_size(32, 1, 1))) void address_locals_two_given(global const int* restrict src, global int* restrict out,
                                                                                     local int* restrict a, local int* restrict b, int length) {
    ROWS_OF_SUMS
}
#endif

#ifdef ADDRESS_LOCALS_ONE_GIVEN
kernel __attribute__((reqd_work_group_size(32, 1, 1))) void address_locals_one_given(global const int* restrict src, global int* restrict out,
                                                                                     local int* restrict ab, int length) {
    local int *a = ab, *b = ab + 32;
    ROWS_OF_SUMS
}
#endif

/* family
question: How many instructions does each way to write an address cost, and does it show in the time?

axis trips: iterations of the loop; auto is 16, on a CPU 64
  whole: 1 to 1Gi
  only: index, pointer, masked_inside, masked_hoisted, masked_bytes
axis length: elements of the two arrays that are added
  whole: 1 to 32
  usual: 32
  only: locals_two, locals_one, locals_two_given, locals_one_given
axis items: work-items, rounded up to a multiple of 64; auto is 2^18, on a CPU 2^15
  unit: work-item
  whole: 1 to 1Gi
  only: index, pointer, masked_inside, masked_hoisted, masked_bytes, locals_two, locals_one, locals_two_given,
    locals_one_given
axis width: columns of the picture, whose rows start at multiples of 64 bytes; auto is 16384, on a CPU 4096
  unit: pixel
  whole: 1 to 1Gi
  only: pixel, column, strided, row
axis height: rows of the picture; auto is 16384, on a CPU 2048
  unit: pixel
  whole: 1 to 1Gi
  only: pixel, column, strided, row
axis pixels: pixels per work-item
  unit: pixel
  whole: 1 to 4Ki
  usual: 8
  tune: 1:64:*2
  only: column, strided
axis index: type that places in the picture are computed in
  choice: int, uint, long
  only: pixel, column, strided, row

variant index: Stores every second integer through p[i * 2].
variant pointer: Stores every second integer through *p, then p += 2.
variant pixel: Inverts a picture with one work-item per pixel.
variant column: Inverts the picture with some pixels per work-item, one below the other: p += step, neighbours stay
    neighbours.
variant strided: Inverts the picture with some pixels per work-item along the row, as far apart as there are items.
variant row: Inverts the picture with one work-item per row.
variant masked_inside: Half of each wavefront adds; address computation and loop are inside the branch.
variant masked_hoisted: Half of each wavefront adds; address computation and loop are outside the branch.
variant masked_bytes: Half of each wavefront adds; inside the branch, addressed by byte offsets.
variant locals_two: Adds two arrays in local memory by a plain counter.
variant locals_one: The same with both arrays in one local allocation.
variant locals_two_given: Adds two arrays in local memory that the host has allocated.
variant locals_one_given: The same with both arrays in one of the host's allocations.
*/

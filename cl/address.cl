// address: the same stores, written so that the compiler meets more or fewer address calculations.
//
// After a 2015 article that counted the instructions of these loops in GCN ISA and NVIDIA SASS. Its gains came from
// compilers of that time; today's strength-reduce an index into a stepped pointer by themselves, so read the counts of the
// dump beside the times (instructions of the loop between its label and its branch, v_ and s_ apart on GCN).
//   trips  iterations of the loop, known at run time only

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

#ifdef ADDRESS_PIXEL
// One pixel per work-item: a multiplication, an addition and a bounds test for one byte.
kernel void address_pixel(global uchar* p, int width, int height, int step) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < width && y < height) p[y * step + x] = 255 - p[y * step + x];
}
#endif

#ifdef ADDRESS_ROW
// One row per work-item: the address of the row once, then a loop. On a GPU neighbours are now a row apart in memory.
kernel void address_row(global uchar* p, int width, int height, int step) {
    const int y = get_global_id(0);
    if (y >= height) return;
    global uchar* row = p + y * step;
    for (int x = 0; x < width; ++x) row[x] = 255 - row[x];
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

// Sums of two rows of 32 integers in local memory, read at a place that moves by one in each iteration.
#ifdef ADDRESS_LOCALS_TWO
// Two arrays: two addresses, unless the compiler sees that they lie next to each other.
kernel __attribute__((reqd_work_group_size(32, 1, 1))) void address_locals_two(global const int* restrict src,
                                                                               global int* restrict out, int trips) {
    local int a[32], b[32];
    const int lid = get_local_id(0);
    a[lid] = src[get_group_id(0) * 64 + lid];
    b[lid] = src[get_group_id(0) * 64 + 32 + lid];
    barrier(CLK_LOCAL_MEM_FENCE);
    global int* p = out + get_group_id(0) * trips * 32 + lid;
    for (int i = 0; i < trips; ++i) {
        const int at = (lid + i) & 31;
        p[i * 32] = a[at] + b[at];
    }
}
#endif

#ifdef ADDRESS_LOCALS_ONE
// One array, the second row at a constant distance that fits into the load's offset field.
kernel __attribute__((reqd_work_group_size(32, 1, 1))) void address_locals_one(global const int* restrict src,
                                                                               global int* restrict out, int trips) {
    local int ab[64];
    const int lid = get_local_id(0);
    ab[lid] = src[get_group_id(0) * 64 + lid];
    ab[lid + 32] = src[get_group_id(0) * 64 + 32 + lid];
    barrier(CLK_LOCAL_MEM_FENCE);
    global int* p = out + get_group_id(0) * trips * 32 + lid;
    for (int i = 0; i < trips; ++i) {
        const int at = (lid + i) & 31;
        p[i * 32] = ab[at] + ab[at + 32];
    }
}
#endif

// What is left in local memory: one kernel fills it, the next one looks.
kernel void fill(global uint* out) {
    local uint own[1024];
    for (uint i = get_local_id(0); i < 1024; i += get_local_size(0)) own[i] = 0x600df00du;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[16 + get_global_id(0)] = own[(get_local_id(0) * 7) & 1023];
}
kernel void look(global uint* out, global const uint* in, uint one) {
    local uint own[1024];
    if (one != 1) own[get_local_id(0)] = one;  // it is not, but the compiler may not take what is left for nothing
    const uint x = own[get_local_id(0)];
    if (x == 0x600df00du) atomic_inc(&out[0]);
    if (x == 0) atomic_inc(&out[1]);
}

// Local memory of 1 KiB more than the device says.
#ifdef BEYOND
#define BYTES (LOCAL_BYTES + 1024)
kernel void beyond(global uint* out) {
    local uint own[BYTES / 4];
    for (uint i = get_local_id(0); i < BYTES / 4; i += get_local_size(0)) own[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint wrong = 0;
    for (uint i = get_local_id(0); i < BYTES / 4; i += get_local_size(0))
        wrong += own[BYTES / 4 - 1 - i] != BYTES / 4 - 1 - i;
    if (wrong) atomic_add(&out[0], wrong);
}
#endif

#ifdef SUB_GROUPS
#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
kernel void sub_groups(global uint* out) {
    if (get_global_id(0) + get_global_id(1) == 0) {
        out[0] = get_sub_group_size();
        out[1] = get_num_sub_groups();
    }
}
#endif

#ifdef CLOCK
#pragma OPENCL EXTENSION cl_khr_kernel_clock : enable
kernel void ticks(global uint* out) {
    const ulong first = clock_read_device();
    out[1] = (uint)get_global_size(0);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    out[0] = clock_read_device() > first;
}
#endif

// Whether half arithmetic is taken, and right.
#ifdef HALF
#ifdef PRAGMA
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
kernel void halves(global uint* out, global const HALF* in) {
    const HALF x = in[0] * in[1] + in[2];
    global HALF* to = (global HALF*)(out + 16);
    to[0] = x;
    out[0] = 1;
}
#endif

#ifndef UNROLL
#define UNROLL
#endif
#ifndef HINT
#define HINT
#endif
kernel HINT void loop(global uint* out, global const uint* in, uint one) {
    uint x = in[get_global_id(0)];
    UNROLL
    for (uint i = 0; i < 64; ++i) x = x * 3 + (x >> 5) + in[i];
    out[get_global_id(0)] = x;
}

// lab.h: stands in front of every family's text. What the host defines before it:
//   LAB_CPU or LAB_GPU or LAB_ACCELERATOR   the device type
//   LAB_POCL, LAB_NVIDIA, LAB_AMD, LAB_INTEL, LAB_RUSTICL, LAB_OCLGRIND, LAB_CLOVER   the implementation
//   LAB_UNALIGNED   1 where a vector may be loaded from any byte address through a packed type (CPUs under PoCL, Intel)
//   LAB_SM          NVIDIA compute capability, e.g. 90, where the driver says it
//   KERNEL          the variant's entry point, e.g. pitch_short8; and PITCH_SHORT8 (its upper case) as a guard
#ifndef LAB_H
#define LAB_H

// Float results are compared bit for bit with the host: no silent fma. A family that wants one calls fma().
#pragma OPENCL FP_CONTRACT OFF

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

// A promised group size, where the device takes a larger group only from a kernel that states it (quirk nvidia-group-256).
#ifdef LAB_GROUP_X
#define __kernel __kernel __attribute__((reqd_work_group_size(LAB_GROUP_X, LAB_GROUP_Y, LAB_GROUP_Z)))
#define kernel __kernel
#endif

#ifndef LAB_UNALIGNED
#define LAB_UNALIGNED 0
#endif

#if LAB_UNALIGNED
// vloadN and vstoreN of uchar are written element by element in PoCL's library and stay byte moves in the machine code;
// a packed vector type is one unaligned vector move (movups, movdqu) on every x86 and AArch64 core.
typedef uchar8 __attribute__((aligned(1))) uchar8_packed;
typedef uchar16 __attribute__((aligned(1))) uchar16_packed;
#endif

// lab_clock(): a counter of core or near-core clocks read inside the kernel, valid as a difference within one work-item.
// Only where LAB_CLOCK is defined: some drivers define cl_khr_kernel_clock and lack its functions.
#ifdef LAB_CLOCK
#if defined(LAB_NVIDIA)
static inline ulong lab_clock(void) {
    ulong t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t));
    return t;
}
#elif defined(LAB_AMD) && defined(__AMDGCN__)
static inline ulong lab_clock(void) { return __builtin_readcyclecounter(); }
#else
#pragma OPENCL EXTENSION cl_khr_kernel_clock : enable
static inline ulong lab_clock(void) { return clock_read_sub_group(); }
#endif
#endif

#endif

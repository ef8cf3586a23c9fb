#!/usr/bin/env bash
# Software: rusticl on llvmpipe of Mesa 22.3.6 (Debian 12's mesa-opencl-icd 22.3.6-1+deb12u2), ocl-icd 2.3.1, gcc 12. Run 2026-11-29.
# Question: a program has set its rounding upward, or loads a library that was linked with -ffast-math, before it asks for OpenCL devices.
#           What do kernels do with 1.0f + 2^-30 and with denormals? The device says CL_FP_DENORM and rounds to nearest.
# Guess:    nothing changes: a driver sets its own threads' floating-point state, as PoCL 3.1 and Intel's runtime do.
# Seen:     llvmpipe's threads are born with the state of the thread that opens the driver, and keep it. Rounding upward: 0x3f800001 (1.0000001)
#           where it is 0x3f800000 otherwise. With a library that does nothing but was linked with gcc's -ffast-math (its start-up code sets
#           FTZ and DAZ in the process's first thread): 2^-126 * 0.5 is 0, where it is 2^-127 (0x00400000) otherwise. Set after the
#           driver was opened, neither changes anything.
# So:       results of one kernel depend on the libraries of the program. Open OpenCL before anything else, or set the
#           state to its default around the first call.
set -euo pipefail
command -v cc >/dev/null && [ -e /usr/include/CL/cl.h ] || { echo "needs gcc and opencl-c-headers, ocl-icd-opencl-dev"; exit 77; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
apt-get download -q mesa-opencl-icd=22.3.6-1+deb12u2 >/dev/null 2>&1 || { echo "apt has no mesa-opencl-icd 22.3.6-1+deb12u2"; exit 77; }
dpkg -x mesa-opencl-icd_*.deb mesa
library=$(find mesa -name 'libRusticlOpenCL.so.1*' | head -1)
mkdir vendors; echo "$work/$library" >vendors/rusticl.icd
cat >state.c <<'C'
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char** words) {
    const char* how = words[1];
    if (strcmp(how, "before") == 0) fesetround(FE_UPWARD);
    cl_platform_id platform;
    cl_device_id device;
    if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) _exit(77);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
    if (strcmp(how, "after") == 0) fesetround(FE_UPWARD);
    const char* text = "kernel void sums(global uint* out, float one, float small, float least) {"
                       "    out[0] = as_uint(one + small); out[1] = as_uint(least * 0.5f); }";
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    clBuildProgram(program, 1, &device, "", NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "sums", NULL);
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, 8, NULL, NULL);
    const float numbers[] = {1, 0x1p-30f, 0x1p-126f};
    clSetKernelArg(kernel, 0, sizeof out, &out);
    for (int i = 0; i < 3; ++i) clSetKernelArg(kernel, 1 + i, 4, &numbers[i]);
    const size_t one = 1;
    cl_uint words_out[2];
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, out, CL_TRUE, 0, 8, words_out, 0, NULL, NULL);
    printf("%08x %08x\n", words_out[0], words_out[1]);
    fflush(stdout);
    _exit(0);
}
C
cc -O1 -o state state.c -lOpenCL -lm
echo 'int nothing;' >nothing.c && cc -ffast-math -shared -fPIC -o nothing.so nothing.c
run() { RUSTICL_ENABLE=llvmpipe OCL_ICD_VENDORS=$work/vendors "$@" 2>/dev/null; }
plain=$(run ./state none) || { echo "this rusticl has no llvmpipe device here, or lacks libraries"; exit 77; }
before=$(run ./state before); after=$(run ./state after); fast=$(run env LD_PRELOAD="$work/nothing.so" ./state none)
echo "default: $plain; upward before: $before; upward after: $after; with a library linked with -ffast-math: $fast"
[ "$plain $before $after $fast" = "3f800000 00400000 3f800001 00400000 3f800000 00400000 3f800000 00000000" ] || exit 1
echo "still so: kernels round, and keep denormals, as the thread did that opened the driver"

#!/usr/bin/env bash
# Software: rusticl on llvmpipe of Mesa 22.3.6 (Debian 12's mesa-opencl-icd 22.3.6-1+deb12u2), ocl-icd 2.3.1, gcc 12. Run 2026-11-29.
# Question: a program enqueues a kernel of a second and a read that does not block, calls clFlush so that the device begins, works, and calls
#           clFinish. What is in its memory then?
# Guess:    the kernel's results: clFinish "blocks until all previously queued OpenCL commands are issued and have completed", flushed or not.
# Seen:     without clFlush clFinish takes the kernel's time and the memory holds 7. With clFlush in front it returns at once, the read's event
#           is not CL_COMPLETE (3, CL_QUEUED, was seen), and the memory holds what it held before. clWaitForEvents on that event waits as it
#           should. PoCL 3.1 waits in both.
# So:       on this driver do not call clFlush in front of clFinish; wait for the last event. Host times of launches are microseconds otherwise,
#           results are those of the launch before, and queues that are flushed together look as if they disturbed each other.
set -euo pipefail
command -v cc >/dev/null && [ -e /usr/include/CL/cl.h ] || { echo "needs gcc and opencl-c-headers, ocl-icd-opencl-dev"; exit 77; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
apt-get download -q mesa-opencl-icd=22.3.6-1+deb12u2 >/dev/null 2>&1 || { echo "apt has no mesa-opencl-icd 22.3.6-1+deb12u2"; exit 77; }
dpkg -x mesa-opencl-icd_*.deb mesa
mkdir vendors; find "$work/mesa" -name 'libRusticlOpenCL.so.1*' | head -1 >vendors/rusticl.icd
cat >finish.c <<'C'
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char** words) {
    const int flushes = strcmp(words[1], "flush") == 0;
    cl_platform_id platform;
    cl_device_id device;
    if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) _exit(77);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
    const char* text = "kernel void busy(global uint* out, uint one) {"
                       "    uint x = get_global_id(0);"
                       "    for (uint i = 0; i < 20000; ++i) x = x * 1664525u + (x >> 7);"
                       "    out[get_global_id(0)] = x == 1 && one == 2 ? x : 7; }";
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    clBuildProgram(program, 1, &device, "", NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "busy", NULL);
    const size_t items = 1 << 16;
    const cl_uint one = 1;
    cl_uint found = 0;
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, 4 * items, NULL, NULL);
    clSetKernelArg(kernel, 0, sizeof out, &out);
    clSetKernelArg(kernel, 1, 4, &one);
    cl_event read;
    cl_int status;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, out, CL_FALSE, 0, 4, &found, 0, NULL, &read);
    if (flushes) clFlush(queue);
    clFinish(queue);
    const cl_uint then = found;
    clGetEventInfo(read, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    clWaitForEvents(1, &read);
    printf("%u %s %u\n", then, status == CL_COMPLETE ? "complete" : "not-complete", found);
    fflush(stdout);
    _exit(0);
}
C
cc -O1 -o finish finish.c -lOpenCL
run() { RUSTICL_ENABLE=llvmpipe OCL_ICD_VENDORS=$work/vendors ./finish "$1" 2>/dev/null; }
plain=$(run plain) || { echo "this rusticl has no llvmpipe device here, or lacks libraries"; exit 77; }
flushed=$(run flush)
echo "clFinish: $plain; clFlush, clFinish: $flushed (memory after clFinish, the read's event, memory after clWaitForEvents)"
[ "$plain $flushed" = "7 complete 7 0 not-complete 7" ] || exit 1
echo "still so: clFinish does not wait for what clFlush has sent"

"""A kernel with a fault, and libraries that stand in front of a driver."""
SIGNATURE = "__kernel void KERNEL(__global float* restrict out, float a, float b, float c) {\n"
RIGHT = """
#ifdef MULADD_FMA
    out[get_global_id(0)] = fma(a, b, c);
#else
    out[get_global_id(0)] = a * b + c;
#endif
}
"""
# Ends the process that makes the third context or a later one, whichever process made those before.
LOST = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
typedef void* Create(const void*, unsigned, void* const*, void*, void*, int*);
void* clCreateContext(const void* properties, unsigned n, void* const* devices, void* notify, void* data, int* error) {
    FILE* seen = fopen(getenv("LOST_AFTER"), "a+");
    fputc('x', seen);
    fseek(seen, 0, SEEK_END);
    if (ftell(seen) > 2) abort();
    fclose(seen);
    return ((Create*)dlsym(RTLD_NEXT, "clCreateContext"))(properties, n, devices, notify, data, error);
}
"""

# A driver to which an event for a launch takes 100 us.
DEAR = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
typedef const unsigned long Sizes;
typedef int Enqueue(void*, void*, unsigned, Sizes*, Sizes*, Sizes*, unsigned, void* const*, void**);
int clEnqueueNDRangeKernel(void* queue, void* kernel, unsigned dims, Sizes* offset, Sizes* global, Sizes* local, unsigned n, void* const* waits, void** event) {
    const double begin = now();
    while (event && now() - begin < 100e-6) {}
    return ((Enqueue*)dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel"))(queue, kernel, dims, offset, global, local, n, waits, event);
}
"""

# A driver that never comes back from a launch of muladd.
STUCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>
extern int clGetKernelInfo(void*, unsigned, unsigned long, void*, unsigned long*);
typedef const unsigned long Sizes;
typedef int Enqueue(void*, void*, unsigned, Sizes*, Sizes*, Sizes*, unsigned, void* const*, void**);
int clEnqueueNDRangeKernel(void* queue, void* kernel, unsigned dims, Sizes* offset, Sizes* global, Sizes* local, unsigned n, void* const* waits, void** event) {
    char name[256] = "";
    clGetKernelInfo(kernel, 0x1190, sizeof name, name, 0);
    while (strstr(name, "muladd")) pause();
    return ((Enqueue*)dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel"))(queue, kernel, dims, offset, global, local, n, waits, event);
}
"""


def muladd(fault):
    """muladd.cl whose variant fma has `fault` in front of its work; mad is sound, so it shows whether the run goes on."""
    return f"#ifdef MULADD_FMA\n#define FAULT {fault}\n#else\n#define FAULT\n#endif\n{SIGNATURE}    FAULT;{RIGHT}"

// The OpenCL layer of `cllab capture`, loaded by the program's own OpenCL loader (OPENCL_LAYERS). It lives in somebody
// else's process: of the program it has a few files of core and model, and no library that is not linked in.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "capture/layer/objects.hpp"

namespace {

using namespace cllab::capture;

/// Both are larger or smaller than the loader's, by its version.
Dispatch target{}, wrapped{};

constexpr auto slots = static_cast<cl_uint>(sizeof(Dispatch) / sizeof(void*));

std::string variable(const char* name) {
    const auto* value = std::getenv(name);
    return value ? value : "";
}

cl_int begin(cl_uint count, const Dispatch* loaders, cl_uint* own, const Dispatch** table, const void* caller) {
    if (!loaders || !own || !table) return CL_INVALID_VALUE;
    std::memcpy(&target, loaders, std::min(count, slots) * sizeof(void*));
    next = &target;
    *table = &wrapped;  // what it leaves empty the loader takes from the next layer
    *own = slots;
    board = map_board(variable("CLLAB_CAPTURE_BOARD"), false);
    if (!board) return CL_SUCCESS;
    settings.times = variable("CLLAB_CAPTURE_TIMES") != "0";
    settings.kernels = variable("CLLAB_CAPTURE_KERNELS");
    settings.launch = std::strtoull(variable("CLLAB_CAPTURE_LAUNCH").c_str(), nullptr, 10);
    settings.folder = variable("CLLAB_CAPTURE_FOLDER");
    // The file that holds the caller's code.
    Dl_info info{};
    if (++board->processes == 1 && ::dladdr(caller, &info) && info.dli_fname) board->loader.set(info.dli_fname);
    wrap_objects(wrapped);
    wrap_launches(wrapped);
    return CL_SUCCESS;
}

template <class Value>
cl_int give(const Value& value, std::size_t room, void* to, std::size_t* needs) {
    if (to && room < sizeof value) return CL_INVALID_VALUE;
    if (to) std::memcpy(to, &value, sizeof value);
    if (needs) *needs = sizeof value;
    return CL_SUCCESS;
}

}  // namespace

extern "C" {

#define CLLAB_EXPORT __attribute__((visibility("default")))

CLLAB_EXPORT cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t room, void* to, size_t* needs) {
    if (what == CL_LAYER_API_VERSION) return give(cl_layer_api_version{CL_LAYER_API_VERSION_100}, room, to, needs);
    if (what == CL_LAYER_NAME) return give("cllab capture", room, to, needs);
    return CL_INVALID_VALUE;
}

/// ocl-icd calls this one,
CLLAB_EXPORT cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch* loaders, cl_uint* own,
                                            const cl_icd_dispatch** table) {
    return begin(count, loaders, own, table, __builtin_return_address(0));
}

/// and Khronos' loader from 3.1 on these, which Debian's header does not declare.
CLLAB_EXPORT cl_int CL_API_CALL clInitLayerWithProperties(cl_uint count, const cl_icd_dispatch* loaders, cl_uint* own,
                                                          const cl_icd_dispatch** table, const intptr_t*) {
    return begin(count, loaders, own, table, __builtin_return_address(0));
}
CLLAB_EXPORT cl_int CL_API_CALL clDeinitLayer(void) { return CL_SUCCESS; }
}

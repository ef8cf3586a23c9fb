// The one place that includes CLHPP. Everything else reaches OpenCL through here.
#pragma once

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wignored-attributes"
#endif
#include <CL/opencl.hpp>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#include <string>

namespace cllab::device {

/// "CL_OUT_OF_RESOURCES (-5)"; the bare number for codes the standard does not name.
std::string error_name(cl_int code);

}  // namespace cllab::device

// The only file that includes CLHPP. All other code includes OpenCL through it.
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

#include "model/axes.hpp"

namespace cllab::device {

/// "CL_OUT_OF_RESOURCES (-5)"; "OpenCL error N" for codes that the standard does not name.
std::string error_name(cl_int code);

/// The null range if `extent` has no dimensions.
inline cl::NDRange nd_range(const model::Extent& extent) {
    switch (extent.dims) {
        case 1:
            return cl::NDRange(extent.size[0]);
        case 2:
            return cl::NDRange(extent.size[0], extent.size[1]);
        case 3:
            return cl::NDRange(extent.size[0], extent.size[1], extent.size[2]);
        default:
            return cl::NullRange;
    }
}

}  // namespace cllab::device

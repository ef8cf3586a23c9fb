// Which of PoCL's work-group functions ran: it compiles a generic one at the build and one more for every local size
// it is asked to launch.
#pragma once

#include <string>
#include <vector>

#include "inspect/binary.hpp"
#include "inspect/bytes.hpp"
#include "model/axes.hpp"

namespace cllab::inspect {

struct PoclCode {
    std::string path;    ///< "/vadd/64-4-1-goffs0/vadd.so"; empty: the container has no code of this kernel
    ByteSpan content;    ///< the shared object
    std::string label;   ///< "work-group function specialised for 64x4x1 (…)", "generic work-group function"
    std::string symbol;  ///< entry point in the shared object
    std::vector<std::string> others;  ///< paths of the kernel's other shared objects
};

/// The shared object specialised for `local` (dims == 0: the only specialised one, when there is just one), else the
/// generic one.
PoclCode choose_pocl_code(const PoclContainer& container, const std::string& kernel, const model::Extent& local);

}  // namespace cllab::inspect

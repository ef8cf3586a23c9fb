// The kernels in a program binary, by their names alone.
#pragma once

#include <string>
#include <vector>

#include "inspect/binary/bounded_bytes.hpp"

namespace cllab::inspect {

/// In the order of the binary, each once. Empty where the format does not name them or is not read. Never throws.
std::vector<std::string> kernel_names(ByteSpan binary);

}  // namespace cllab::inspect

// Facts about a kernel from NVIDIA's formats: the output of `ptxas --verbose` (and of the driver with -cl-nv-verbose),
// register counts in a cubin, and the parts of a PTX program that belong to one kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "inspect/binary/bounded_bytes.hpp"

namespace cllab::inspect {

/// One entry's block of the verbose log. Absent numbers were not in it. Bytes are per thread except shared_bytes (per
/// work-group).
struct PtxasFacts {
    std::optional<std::int64_t> registers, stack_bytes, spill_store_bytes, spill_load_bytes, shared_bytes, barriers;
    bool empty() const { return !registers && !stack_bytes && !spill_store_bytes; }
};

/// The block of `entry`; with a log that names no entry at all, the only block there is.
PtxasFacts parse_ptxas_log(std::string_view log, std::string_view entry);

/// Registers and stack frame from .nv.info (EIATTR_REGCOUNT, EIATTR_FRAME_SIZE).
PtxasFacts read_cubin(ByteSpan cubin, std::string_view entry);

/// The number of `.target sm_NN`; 0 when there is none.
int ptx_target(std::string_view ptx);

/// Work-items of the group that kernel `entry` asks for (`.reqntid`); 0 where it asks for none.
std::size_t required_group(std::string_view ptx, std::string_view entry);

/// Clang 21 and later make each kernel an entry that calls its body: the body's name, or the entry's own where the
/// text has no such body.
std::string body_of_kernel(std::string_view ptx, const std::string& entry);

bool in_ptx_name(char c);

/// The name in a text that begins behind ".entry", or behind ".func" with its return parameters in parentheses.
std::string ptx_function_name(std::string_view text);

/// The text of kernel `entry` with the module's directives and the functions and variables that it names, and those
/// that these name; without comments, blank lines and the numbers by which compilers tell the labels and local memory
/// of one function from another's. All of `text` where it has no such kernel.
std::string kernel_of_ptx(std::string_view text, const std::string& entry);

/// The same parts, for people: lines are as they are in `text`.
std::string listing_of_ptx_kernel(std::string_view text, const std::string& entry);

}  // namespace cllab::inspect

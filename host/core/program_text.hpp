// A compiled program (SPIR-V, a driver's binary) written as a text, so that all that keeps, sends, hashes or compares
// the text of kernels handles it unchanged. A compiler that is given such a text refuses it with its first line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cllab {

/// Whether a file of this name holds a compiled program: ".spv", ".ptx" and the other names that dumps give them.
bool names_program(std::string_view path);

/// By the bytes alone.
bool is_spirv(std::string_view program);
bool is_ptx(std::string_view program);

std::string text_of_program(std::string_view program);
/// Nothing for a text in OpenCL C. A #line directive may stand before it.
std::optional<std::string> program_of_text(std::string_view text);

}  // namespace cllab

// Finds the kernels in a text of OpenCL C without a compiler: for a text that no compiler here accepts, and to remove
// some of its kernels.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cllab {

struct KernelText {
    std::string name;                     ///< as written; may be a macro
    std::vector<std::string> parameters;  ///< "__local float* t"
    std::size_t body = 0, end = 0;        ///< body: position of its '{'; end: after its '}'
};

/// The position after the bracket that closes the `open` at `at`; the text's size if none does.
std::size_t behind_bracket(std::string_view text, std::size_t at, char open, char close);

/// Replaces each comment by a blank, or by the end of its line.
std::string without_comments(std::string_view text);

/// In the order of the text. Does not see kernels from macros or #include files, and does not evaluate #if.
std::vector<KernelText> kernels_in(std::string_view text);

/// Replaces the bodies of these kernels by `instead`. Line numbers stay. Directives within a body stay, except pragmas,
/// which may apply to the lines after them.
std::string without_bodies(std::string_view text, const std::vector<KernelText>& kernels, std::string_view instead);

/// The values of the kernel's attribute reqd_work_group_size, with macros of the text and of `options` (-DX=64)
/// replaced. 0: unknown, because the value is no product of numbers, an #if may choose it, or a macro makes the kernel.
/// nullopt: the kernel has no such attribute.
std::optional<std::array<std::size_t, 3>> required_group_in(std::string_view text, const std::string& kernel,
                                                            const std::vector<std::string>& options);

/// The samplers with which the kernel reads images at integer coordinates, as far as the text shows. The value is the
/// text's definition, "CLK_FILTER_LINEAR | CLK_ADDRESS_CLAMP"; empty for an argument.
std::map<std::string, std::string> samplers_at_whole_coordinates(std::string_view text, const std::string& kernel);

/// A family's kernels, and the text of its file's comment that begins with a line "/* family". The kernels keep their
/// line numbers.
std::pair<std::string, std::string_view> family_parts(std::string_view text);

// The includes of a C text, and the text with the included files in place. Comparison, baselines and --watch use this
// form.

/// The operands of the text's #include directives, each once: "\"tile.h\"", "<math.h>", or a macro's "NAME".
std::vector<std::string> includes_of(std::string_view text);

/// `#line 1 "pitch.cl"`. Characters in the path that would end the string, the line or the directive become '_'.
std::string line_directive(std::size_t line, const std::string& path);

struct IncludedFile {
    std::string path, text;
};
/// The file that `name` means in a text of `includer`; nullopt if the driver must look for it.
using FindIncluded = std::function<std::optional<IncludedFile>(const std::string& name, const std::string& includer)>;

struct Closure {
    std::string text;                ///< the text with each file that was found in place, between #line directives
    std::vector<std::string> files;  ///< their paths, each once
};
/// Replaces #include directives by the files' text. Conditions (#if) stay in place. A directive stays if its file is
/// not found, if a macro names it, or if the file includes itself without a guard. Throws Error(usage) for more than 16
/// MiB.
Closure closure_of(const std::string& path, const std::string& text, const FindIncluded& find);

// A compiled program (SPIR-V, a driver's binary) written as a text. Code that stores, sends, hashes or compares kernel
// text then handles it unchanged. A compiler rejects such a text at its first line.

/// Whether the file name is of a compiled program: ".spv", ".ptx" and the other extensions of dumps.
bool names_program(std::string_view path);

/// These look only at the bytes.
bool is_spirv(std::string_view program);
bool is_ptx(std::string_view program);

std::string text_of_program(std::string_view program);
/// nullopt for a text in OpenCL C. A #line directive may precede the program.
std::optional<std::string> program_of_text(std::string_view text);

}  // namespace cllab

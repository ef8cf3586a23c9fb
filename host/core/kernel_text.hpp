// The kernels that a text of OpenCL C defines, found without a compiler: for a text that no compiler here takes, and to
// take some of them out of it.
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
    std::string name;                     ///< as written, which may be a macro
    std::vector<std::string> parameters;  ///< "__local float* t"
    std::size_t body = 0, end = 0;        ///< of its '{', and behind its '}'
};

/// Behind the bracket that closes the `open` at `at`; the end where none does.
std::size_t behind_bracket(std::string_view text, std::size_t at, char open, char close);

/// A blank or the end of the line stands for each.
std::string without_comments(std::string_view text);

/// In the order of the text. What a macro defines and what an #include brings are not seen; an #if is not evaluated.
std::vector<KernelText> kernels_in(std::string_view text);

/// The text with `instead` in the place of the bodies of these kernels. Lines keep their numbers, and directives within
/// a body stay, but for pragmas: they may be about the lines behind them.
std::string without_bodies(std::string_view text, const std::vector<KernelText>& kernels, std::string_view instead);

/// What stands in the kernel's attribute reqd_work_group_size, with macros of the text and of `options` (-DX=64)
/// replaced. 0: not known, since it is no product of numbers, an #if may choose it, or a macro makes the kernel.
/// Nothing: the kernel has no such attribute.
std::optional<std::array<std::size_t, 3>> required_group_in(std::string_view text, const std::string& kernel,
                                                            const std::vector<std::string>& options);

/// The samplers through which the kernel reads images at coordinates that are whole numbers, as far as its text shows,
/// with what the text says they are: "CLK_FILTER_LINEAR | CLK_ADDRESS_CLAMP"; nothing of an argument.
std::map<std::string, std::string> samplers_at_whole_coordinates(std::string_view text, const std::string& kernel);

/// A family's kernels, and what the comment of its file that begins with a line "/* family" says of them. The kernels
/// keep their lines.
std::pair<std::string, std::string_view> family_parts(std::string_view text);

// The includes of a C text, and the text with its includes in place. Comparison, baselines and --watch all use this
// form.

/// The operands of the text's #include directives, each once: "\"tile.h\"", "<math.h>", or a macro's "NAME".
std::vector<std::string> includes_of(std::string_view text);

/// `#line 1 "pitch.cl"`, with nothing in the path that ends the text, the line or the directive.
std::string line_directive(std::size_t line, const std::string& path);

struct IncludedFile {
    std::string path, text;
};
/// The file that `name` means in a text of `includer`; nothing where the driver must look for it.
using FindIncluded = std::function<std::optional<IncludedFile>(const std::string& name, const std::string& includer)>;

struct Closure {
    std::string text;                ///< each file that was found stands where it is included, between #line directives
    std::vector<std::string> files;  ///< their paths, each once
};
/// Replaces #include directives by the files' text. Conditions (#if) stay in place. A directive stays if its file is
/// not found, if a macro names it, or if the file includes itself without a guard. Throws Error(usage) for more than 16
/// MiB.
Closure closure_of(const std::string& path, const std::string& text, const FindIncluded& find);

// A compiled program (SPIR-V, a driver's binary) written as a text, so that all that keeps, sends, hashes or compares
// the text of kernels handles it unchanged. A compiler that is given such a text refuses it with its first line.

/// Whether a file of this name holds a compiled program: ".spv", ".ptx" and the other names that dumps give them.
bool names_program(std::string_view path);

/// By the bytes alone.
bool is_spirv(std::string_view program);
bool is_ptx(std::string_view program);

std::string text_of_program(std::string_view program);
/// Nothing for a text in OpenCL C. A #line directive may stand before it.
std::optional<std::string> program_of_text(std::string_view text);

}  // namespace cllab

// The kernels that a text of OpenCL C defines, found without a compiler: for a text that no compiler here takes, and to
// take some of them out of it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
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

}  // namespace cllab

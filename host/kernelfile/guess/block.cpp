#include "kernelfile/guess/block.hpp"

#include "core/text.hpp"

namespace cllab::kernelfile {
namespace {

std::string renamed(const std::string& text, const std::string& from, const std::string& to) {
    return replace_names(text, [&](const auto& name) { return name == from ? to : name; });
}

/// "1Mi" for what is a power of two of a person's.
std::string size_text(std::int64_t size) {
    constexpr std::int64_t mebi = 1 << 20, kibi = 1 << 10;
    if (size >= mebi && size % mebi == 0) return std::to_string(size / mebi) + "Mi";
    if (size >= 4 * kibi && size % kibi == 0) return std::to_string(size / kibi) + "Ki";
    return std::to_string(size);
}

std::string lines_of(const GuessedKernel& kernel) {
    std::string out;
    for (const auto& [name, text] : kernel.arguments) out += "arg " + name + " = " + text + "\n";
    if (!kernel.global.empty()) out += "global " + kernel.global + "\n";
    if (!kernel.local.empty()) out += "local " + kernel.local + "\n";
    if (!kernel.offset.empty()) out += "offset " + kernel.offset + "\n";
    return out;
}

}  // namespace

std::string block_of(GuessedKernels kernels, bool alone, std::map<std::string, std::int64_t>& axes) {
    std::string declared, lines;
    for (auto& [name, kernel] : kernels) {
        for (auto& [axis, value] : kernel.axes) {
            const auto known = axes.find(axis);
            if (known != axes.end() && known->second != value) {
                const auto own = axis + "_" + name;
                for (auto& [argument, text] : kernel.arguments) text = renamed(text, axis, own);
                kernel.global = renamed(kernel.global, axis, own);
                axis = own;
            }
            if (axes.emplace(axis, value).second) declared += "axis " + axis + " = " + size_text(value) + "\n";
        }
        lines += (alone ? "" : "kernel " + name + "\n") + lines_of(kernel);
    }
    return declared + lines;
}

}  // namespace cllab::kernelfile

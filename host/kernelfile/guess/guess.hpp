// Guesses the lines that a kernel file lacks: sizes, data and values. The sources are the names of arguments, and what
// small launches in a simulator touch.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelfile/description.hpp"
#include "model/kernel_signature.hpp"

namespace cllab::kernelfile {

// What the text of a kernel tells about its launch, without a compiler. Used if no simulator can run the kernel.
class TextFacts {
public:
    /// `text`: with all that it includes.
    explicit TextFacts(std::string_view text);

    const std::string& text() const { return text_; }  ///< without comments

    /// As SeenLaunch::calls, in the kernel and in the functions and macros that it names.
    std::map<std::string, unsigned> calls(const std::string& kernel) const;

    struct Use {
        bool read = false, written = false, atomic = false;
    };
    /// What the kernel's body does with the argument.
    Use use(const std::string& kernel, const std::string& argument) const;
    /// Whether the kernel's body has no statement.
    bool is_empty(const std::string& kernel) const;
    /// Whether the kernel's body has an array, which is private or local.
    bool has_array(const std::string& kernel) const;

private:
    std::string text_;
    std::map<std::string, std::string> bodies_;  ///< of functions and macros
};

/// A small launch of a kernel with guessed arguments, in the syntax of a kernel file's block.
struct SmallLaunch {
    std::map<std::string, std::string> arguments;
    std::string global, local, offset;  ///< empty: none
    std::vector<std::pair<std::string, std::int64_t>> axes;
    bool may_be_long = false;  ///< gives the simulator more time
};

/// What a launch touched of one argument, or of one variable in local memory. In bytes.
struct TouchedBytes {
    std::int64_t size = 0, last = 0;  ///< last: end of the last access, even outside
    std::int64_t unit = 0;            ///< size of the smallest access
    std::int64_t bytes = 0, written_bytes = 0;
    bool read = false, written = false, atomic = false;
    bool read_first = false;               ///< read a byte before it was written
    bool before = false;                   ///< touched memory in front of the first byte
    std::string channel{};                 ///< of an image: "f", "i" or "ui", by the function
    std::array<std::int64_t, 3> pixels{};  ///< of an image: end of the touched pixels
    int argument = -1;                     ///< local memory: the argument's number; -1: a variable of the kernel

    bool touched() const { return read || written; }
    /// Adds the flags of another launch.
    void add(const TouchedBytes& other) {
        read |= other.read;
        written |= other.written;
        atomic |= other.atomic;
        read_first |= other.read_first;
        before |= other.before;
        if (!other.channel.empty()) channel = other.channel;
    }
};

/// What a simulator saw of a launch.
struct SeenLaunch {
    std::string trouble;                      ///< why the launch failed, as a sentence; empty: it ran
    bool too_long = false, overruns = false;  ///< overruns: it left one of the kernel's own arrays
    std::uint64_t instructions = 0;
    std::array<std::int64_t, 3> items{};    ///< per dimension: end of the work-items that touched an argument
    std::map<std::string, unsigned> calls;  ///< of OpenCL's functions: bit d for dimension d
    std::vector<TouchedBytes> arguments, local;
};

/// Launches the kernel in a simulator. Returns errors as the result's `trouble`.
using TryLaunch = std::function<SeenLaunch(const SmallLaunch&)>;

/// The statements about a kernel, which a guess never changes.
struct SaidOfKernel {
    model::KernelSignature signature;
    std::map<std::string, ArgumentSpec> given;
    std::vector<std::string> global, local;  ///< empty: not given
    bool offset = false;
    std::vector<std::pair<std::string, std::int64_t>> axes;  ///< axes of whole numbers, with their first values

    bool is_given(const model::Parameter& parameter) const { return given.count(parameter.name) > 0; }
};

/// The guess for a kernel, in the syntax of a block.
struct GuessedKernel {
    std::vector<std::pair<std::string, std::int64_t>> axes;
    /// Sizes that the axes may have, with the bytes of all buffers: the guess, then smaller ones.
    std::vector<std::pair<std::int64_t, std::int64_t>> sizes;
    std::vector<std::pair<std::string, std::string>> arguments;
    std::string global, local, offset;  ///< empty: given, or left to the driver
    std::string how;                    ///< "by Oclgrind at n=16, 32, 48", "by the text, …"
    std::vector<std::string> open;      ///< arguments that cannot be guessed
    std::vector<std::string> outside;   ///< sentences about accesses outside of open arguments
    /// By open argument: a value that fits the guesses for the others. Further lines may follow it. Empty: none is
    /// known.
    std::map<std::string, std::string> advised;
    std::vector<std::string> written;  ///< arguments that may not change with the guessed data
    bool is_empty = false;             ///< the kernel's body is empty: nothing to run
};

/// `launch`: empty if there is no simulator.
GuessedKernel guess_kernel(const SaidOfKernel& said, const TextFacts& text, const TryLaunch& launch);

/// Gives kernels that take the same data one size, where there is one. `set`: axes that the user sets for all kernels.
void share_sizes(std::vector<GuessedKernel>& kernels, const std::set<std::string>& set);
/// By kernel: the first kernel with a problem of the same size. Kernels without a guessed size fit any.
std::vector<std::size_t> equal_problems(const std::vector<GuessedKernel>& kernels, const std::set<std::string>& set);

using GuessedKernels = std::vector<std::pair<std::string, GuessedKernel>>;  ///< by kernel

/// The guesses as lines of a block. `alone`: the file has no other kernel, so no line `kernel` is needed. `axes`: axes
/// of other files' guesses, as all files share their axes. Adds those of this file. If two kernels need one axis at
/// different sizes, the axis of the second gets that kernel's name, in `kernels` too.
std::string block_of(GuessedKernels& kernels, bool alone, std::map<std::string, std::int64_t>& axes);

}  // namespace cllab::kernelfile

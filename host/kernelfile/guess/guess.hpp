// What an experienced person would write for a kernel of which nobody has said anything: sizes, data and values, by the
// names of its arguments and by what small launches in a simulator touch.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelfile/description.hpp"
#include "model/kernel_signature.hpp"

namespace cllab::kernelfile {

// What the text of a kernel says of its launch, without a compiler: where no simulator can run it.
class TextFacts {
public:
    /// With what it includes.
    explicit TextFacts(std::string_view text);

    const std::string& text() const { return text_; }  ///< without comments

    /// As SeenLaunch::calls, in the kernel and in what it names.
    std::map<std::string, unsigned> calls(const std::string& kernel) const;

    struct Use {
        bool read = false, written = false, atomic = false;
    };
    /// What the kernel's body does with the argument.
    Use use(const std::string& kernel, const std::string& argument) const;
    /// The kernel's body has no statement.
    bool is_empty(const std::string& kernel) const;
    /// The kernel's body has an array, which is private or local.
    bool has_array(const std::string& kernel) const;

private:
    std::string text_;
    std::map<std::string, std::string> bodies_;  ///< of functions and macros
};

/// A small launch of a kernel whose arguments nobody has stated, in the words of a kernel file's block.
struct SmallLaunch {
    std::map<std::string, std::string> arguments;
    std::string global, local, offset;  ///< empty: none
    std::vector<std::pair<std::string, std::int64_t>> axes;
    bool may_be_long = false;  ///< the simulator has more patience
};

/// What a launch touched of one argument, or of one variable in local memory. In bytes.
struct TouchedBytes {
    std::int64_t size = 0, last = 0;  ///< last: behind the last one that was touched, be it outside
    std::int64_t unit = 0;            ///< of the smallest access
    std::int64_t bytes = 0, written_bytes = 0;
    bool read = false, written = false, atomic = false;
    bool read_first = false;               ///< some byte before it was written
    bool before = false;                   ///< something in front of the first byte
    std::string channel{};                 ///< of an image: "f", "i" or "ui", as it is read or written
    std::array<std::int64_t, 3> pixels{};  ///< of an image: in each dimension, behind the last that is touched
    int argument = -1;                     ///< local memory: the number of the argument; -1: a variable of the kernel

    bool touched() const { return read || written; }
    /// With what another launch did.
    void add(const TouchedBytes& other) {
        read |= other.read;
        written |= other.written;
        atomic |= other.atomic;
        read_first |= other.read_first;
        before |= other.before;
        if (!other.channel.empty()) channel = other.channel;
    }
};

/// What a simulator saw of it.
struct SeenLaunch {
    std::string trouble;                      ///< why nothing was seen, in a sentence; empty: it ran
    bool too_long = false, overruns = false;  ///< overruns: something outside of an array of the kernel's own
    std::uint64_t instructions = 0;
    std::array<std::int64_t, 3> items{};    ///< in each dimension, up to the last that touched an argument
    std::map<std::string, unsigned> calls;  ///< of OpenCL's functions: the dimensions that they are asked for, as bits
    std::vector<TouchedBytes> arguments, local;
};

/// Launches the kernel in a simulator; what fails is the result's trouble.
using TryLaunch = std::function<SeenLaunch(const SmallLaunch&)>;

/// What is said of a kernel already, which a guess never changes.
struct SaidOfKernel {
    model::KernelSignature signature;
    std::map<std::string, ArgumentSpec> given;
    std::vector<std::string> global, local;  ///< empty: not given
    bool offset = false;
    std::vector<std::pair<std::string, std::int64_t>> axes;  ///< those of whole numbers, with their first values
};

/// In the words of a block.
struct GuessedKernel {
    std::vector<std::pair<std::string, std::int64_t>> axes;
    std::vector<std::pair<std::string, std::string>> arguments;
    std::string global, local, offset;  ///< empty: given, or left to the driver
    std::string how;                    ///< "by Oclgrind at n=16, 32, 48", "by the text, …"
    std::vector<std::string> open;      ///< arguments of which nothing can be guessed
    /// Of each of these: what fits the guesses of the others; lines may follow. Empty: nothing is known to.
    std::map<std::string, std::string> advised;
    std::vector<std::string> written;   ///< arguments that guessed data may leave as it was
    bool is_empty = false;              ///< its body is: there is nothing to run
};

/// `launch`: empty where there is no simulator.
GuessedKernel guess_kernel(const SaidOfKernel& said, const TextFacts& text, const TryLaunch& launch);

using GuessedKernels = std::vector<std::pair<std::string, GuessedKernel>>;  ///< by kernel

/// Lines of the block that would say so; `alone`: the file has no other kernel, so that no line `kernel` is needed.
/// `axes`: what other files' guesses call their axes, which all share; those of this file are added. Where two kernels
/// need one axis at different sizes, the second one's is called by its kernel, in `kernels` too.
std::string block_of(GuessedKernels& kernels, bool alone, std::map<std::string, std::int64_t>& axes);

}  // namespace cllab::kernelfile

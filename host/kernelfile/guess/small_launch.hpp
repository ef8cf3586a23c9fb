// A small launch of a kernel whose arguments nobody has stated, and what a simulator saw of it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cllab::kernelfile {

/// In the words of a kernel file's block.
struct SmallLaunch {
    std::map<std::string, std::string> arguments;
    std::string global, local, offset;  ///< empty: none
    std::vector<std::pair<std::string, std::int64_t>> axes;
};

/// What a launch touched of one argument, or of one variable in local memory. In bytes.
struct TouchedBytes {
    std::int64_t size = 0, last = 0;  ///< last: behind the last one that was touched, be it outside
    std::int64_t unit = 0;            ///< of the smallest access
    std::int64_t bytes = 0, written_bytes = 0;
    bool read = false, written = false, atomic = false;
    bool read_first = false;  ///< some byte before it was written
    bool before = false;      ///< something in front of the first byte
    int argument = -1;        ///< local memory: the number of the argument; -1: a variable of the kernel

    bool touched() const { return read || written; }
};

struct SeenLaunch {
    std::string trouble;                      ///< why nothing was seen, in a sentence; empty: it ran
    bool too_long = false, overruns = false;  ///< overruns: something outside of an array of the kernel's own
    std::uint64_t instructions = 0;
    std::array<std::int64_t, 3> items{};    ///< in each dimension, up to the last that touched an argument
    std::map<std::string, unsigned> calls;  ///< of OpenCL's functions: the dimensions that they are asked for, as bits
    std::vector<TouchedBytes> arguments, local;
};

using TryLaunch = std::function<SeenLaunch(const SmallLaunch&)>;

}  // namespace cllab::kernelfile

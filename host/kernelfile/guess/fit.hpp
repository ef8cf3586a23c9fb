// From lengths at a few small sizes to an expression of the sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cllab::kernelfile {

struct LengthSample {
    std::vector<std::int64_t> sizes;  ///< by axis
    std::int64_t length = 0;
};

/// An expression that gives each of the lengths: "2*n", "n*n", "(width+2)*(height+2)", "ceil(n/64)", "7". It may give a
/// little more, if the kernel skips a border. It has fewer terms than there are samples, so at least one sample checks
/// it. nullopt if no simple expression fits.
std::optional<std::string> fitted_length(const std::vector<std::string>& axes,
                                         const std::vector<LengthSample>& samples);

/// Part of an integer: (value >> shift) % divisor.
struct Digit {
    unsigned shift = 0;
    std::int64_t divisor = 0;
};

/// The digit of the values that selects these elements. nullopt if none does. `selected`: pairs of a value and an
/// element, the largest value last.
std::optional<Digit> fitted_digit(const std::vector<std::pair<std::int64_t, std::int64_t>>& selected);

}  // namespace cllab::kernelfile

// How many waves a kernel's registers and local memory leave room for, with the arithmetic written out.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace cllab::inspect {

struct Occupancy {
    double waves = 0;        ///< resident at once, in `unit`, on average
    unsigned most = 0;       ///< what the hardware holds at most
    std::string unit;        ///< "wavefronts per SIMD", "warps per SM"
    std::string limited_by;  ///< "registers", "local memory", "hardware", "work-group size"
    std::string formula;     ///< "min(10, floor(256 / roundup(7, 4)) = 32, …) = 10"
};

/// `wavefront` is in work-items: 32 or 64 on RDNA, as the compiler chose. `group_items` is the work-group size; 0 when
/// unknown, which leaves local memory out of account.
struct KernelNeeds {
    std::int64_t registers = 0, scalar_registers = 0, local_bytes = 0, wavefront = 0;
    std::size_t group_items = 0;
    std::int64_t simd = 0;  ///< work-items of a thread, where `wavefront` is threads
};

/// The smallest of several limits, remembering which and how each came about.
class OccupancyLimits {
public:
    /// A limit in waves, an integer or a double; `arithmetic` and the numbers in it, as fmt::format takes them.
    template <typename Waves, typename... Numbers>
    void add(Waves limit, const std::string& name, fmt::format_string<const Numbers&...> arithmetic,
             const Numbers&... numbers) {
        const auto waves = static_cast<double>(limit);
        terms_ += (terms_.empty() ? "" : ", ") + fmt::format(arithmetic, numbers...);
        if (least_ < 0 || waves < least_) least_ = waves, name_ = name;
    }
    Occupancy result(unsigned most, const std::string& unit) const {
        const auto waves = std::max(least_, 0.0);
        return {waves, most, unit, name_,
                fmt::format("min({}) = {:g} {}{}", terms_, waves, unit, waves > 0 ? "" : ", no work-group fits")};
    }

private:
    double least_ = -1;
    std::string name_, terms_;
};

inline std::int64_t round_up(std::int64_t value, std::int64_t granule) {
    return (value + granule - 1) / granule * granule;
}

}  // namespace cllab::inspect

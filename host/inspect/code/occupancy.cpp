#include "inspect/code/occupancy.hpp"

#include <algorithm>

namespace cllab::inspect {

void OccupancyLimits::add_term(std::int64_t value, const std::string& name, const std::string& arithmetic) {
    terms_ += (terms_.empty() ? "" : ", ") + arithmetic;
    if (least_ < 0 || value < least_) least_ = value, name_ = name;
}

Occupancy OccupancyLimits::result(unsigned most, const std::string& unit) const {
    const auto waves = static_cast<unsigned>(std::max<std::int64_t>(least_, 0));
    return {waves, most, unit, name_, "min(" + terms_ + ") = " + std::to_string(waves) + " " + unit};
}

std::int64_t round_up(std::int64_t value, std::int64_t granule) { return (value + granule - 1) / granule * granule; }

}  // namespace cllab::inspect

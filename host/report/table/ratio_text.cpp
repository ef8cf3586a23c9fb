#include "report/table/ratio_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cllab::report {

std::string percent(double part) {
    const double p = 100 * part;
    return fmt::format("{:.{}f} %", p, std::abs(p) < 0.995 ? 2 : std::abs(p) < 9.95 ? 1 : 0);
}

nlohmann::ordered_json to_json(const model::RatioEstimate& e) {
    nlohmann::ordered_json out{{"ratio", e.ratio}, {"n", e.n}};
    if (e.covered()) out.update({{"low", e.low}, {"high", e.high}, {"coverage", e.coverage}});
    return out;
}

nlohmann::ordered_json to_json(const model::Arrangement& a) {
    nlohmann::ordered_json out{{"seed", a.seed},
                               {"log_ratio", a.log_ratio},
                               {"error", a.error},
                               {"control", a.control},
                               {"control_error", a.control_error},
                               {"rounds", a.rounds},
                               {"same_memory", a.same_memory}};
    if (std::min(a.left_cores, a.right_cores) < 1)
        out.update({{"left_cores", a.left_cores}, {"right_cores", a.right_cores}});
    return out;
}

}  // namespace cllab::report

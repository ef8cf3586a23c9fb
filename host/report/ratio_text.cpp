#include "report/ratio_text.hpp"

#include <cmath>
#include <fmt/format.h>

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

}  // namespace cllab::report

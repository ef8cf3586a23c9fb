// The records for the script, short: at most 512 samples a cell, as whole parts of the median. The rest is in the JSON
// lines.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/stats.hpp"
#include "core/text.hpp"
#include "report/html/context.hpp"
#include "report/records/json_point.hpp"

namespace cllab::report::html {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_samples = 512;
constexpr double parts = 10'000;  // of the median: 0.01 %

/// Quantiles of the samples in order, the extremes among them: the least in parts of the median, then the steps up.
Json steps_of(const model::Record& r) {
    Json out = Json::array();
    if (!r.time || !(r.time->median > 0)) return out;
    auto sorted = r.samples;
    std::ranges::sort(sorted);
    const auto n = std::min(most_samples, sorted.size());
    long long before = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double value = sorted.size() <= most_samples
                                 ? sorted[i]
                                 : quantile(sorted, static_cast<double>(i) / static_cast<double>(n - 1));
        const auto at = std::llround(std::clamp(value / r.time->median, -1e9, 1e9) * parts);
        out.push_back(at - before);
        before = at;
    }
    return out;
}

}  // namespace

std::string data_json(const Context& c) {
    Json out{{"parts", parts}, {"devices", Json::array()}, {"warnings", Json::array()}, {"cells", Json::array()}};
    for (const auto& device : c.devices)
        out["devices"].push_back({{"name", printable(device.name)}, {"description", printable(device.description)}});
    for (const auto& warning : c.warnings) out["warnings"].push_back(printable(warning));
    for (std::size_t i = 0; i < c.records().size(); ++i) {
        const auto& r = c.records()[i];
        Json cell{{"id", printable(r.id)},
                  {"device", c.device_of[i]},
                  {"anchor", c.anchors[i]},
                  {"point", Json::object()},
                  {"status", model::name(r.status)}};
        for (const auto& [axis, value] : r.point) cell["point"][printable(axis)] = printable(value);
        if (!r.reason.empty()) cell["reason"] = printable(one_line(r.reason));
        if (r.time) {
            cell["median"] = r.time->median;
            if (r.time->has_interval()) cell["interval"] = {r.time->low, r.time->high};
            cell["n"] = r.time->n;
            cell["samples"] = steps_of(r);
        }
        for (const auto& [name, metric] : r.metrics)
            if (std::isfinite(metric.value)) cell["metrics"][printable(name)] = {metric.value, printable(metric.unit)};
        if (r.code.registers) cell["registers"] = *r.code.registers;
        if (r.code.spills) cell["spills"] = *r.code.spills;
        if (!c.warnings_of[i].empty()) cell["warnings"] = c.warnings_of[i];
        out["cells"].push_back(std::move(cell));
    }
    // "<" begins whatever could end or change a script element.
    std::string text;
    for (const char ch : line_text(out)) {
        if (ch == '<')
            text += "\\u003c";
        else
            text += ch;
    }
    return text;
}

}  // namespace cllab::report::html

// What no run can have measured, whatever a record says.
#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "core/units.hpp"
#include "model/warning.hpp"
#include "report/records/json.hpp"

namespace cllab::report {
namespace {

using model::Record;

std::string seconds(double value) { return format_significant(value, 3) + " s"; }

/// The time of a step is a difference of two times: single samples of it may be negative, and all of them where the
/// step cannot be told from nothing.
bool is_difference(const Record& r) {
    return std::ranges::any_of(
        r.metrics, [&](const auto& m) { return m.first == "step_time" && m.second.value == r.time->median; });
}

std::optional<std::string> impossible_time(const Record& r) {
    const model::Timing& t = *r.time;
    if (!model::warns(r, model::Warning::no_cost)) {
        if (!(t.median > 0)) return "its time is " + seconds(t.median);
        for (const auto& [what, value] : {std::pair{"low", t.low}, {"min", t.min}})
            if (value < 0 && !is_difference(r)) return std::string("'time.") + what + "' is " + seconds(value);
    }
    if (t.low > t.median || t.high < t.median)
        return "its interval from " + seconds(t.low) + " to " + seconds(t.high) + " excludes its median of " +
               seconds(t.median);
    if (t.min > t.median) return "'time.min' of " + seconds(t.min) + " is above its median of " + seconds(t.median);
    if (t.q1 > t.median || t.q3 < t.median)
        return "its quartiles " + seconds(t.q1) + " and " + seconds(t.q3) + " exclude its median of " +
               seconds(t.median);
    if (t.mad < 0) return "'time.mad' is " + seconds(t.mad);
    if (t.n == 0) return "it has a time of no sample";
    return std::nullopt;
}

std::optional<std::string> impossible_samples(const Record& r) {
    if (!r.time) {
        if (!r.samples.empty()) return "it has samples and no time";
        return std::nullopt;
    }
    if (r.samples.size() != r.time->n)
        return "'time.n' is " + std::to_string(r.time->n) + " and it has " + std::to_string(r.samples.size()) +
               " samples";
    const auto [least, most] = std::ranges::minmax_element(r.samples);
    if (r.time->median < *least || r.time->median > *most)
        return "its median of " + seconds(r.time->median) + " is outside its samples, " + seconds(*least) + " to " +
               seconds(*most);
    return std::nullopt;
}

}  // namespace

std::optional<std::string> impossible(const Record& r, bool has_samples) {
    if (r.status != model::Status::ok && (r.time || !r.samples.empty()))
        return "it is " + std::string(model::name(r.status)) + " and has a time; only a cell that is ok has one";
    if (r.time) {
        if (auto why = impossible_time(r)) return why;
    }
    if (has_samples) {
        if (auto why = impossible_samples(r)) return why;
    }
    for (const auto& [what, samples, rounds] :
         {std::tuple{"samples", &r.samples, &r.rounds}, {"samples set aside", &r.aside, &r.aside_rounds}})
        if (!rounds->empty() && !samples->empty() && rounds->size() != samples->size())
            return "it has " + std::to_string(samples->size()) + " " + what + " and the rounds of " +
                   std::to_string(rounds->size());
    for (const auto& [name, metric] : r.metrics) {
        static constexpr std::array<std::string_view, 5> never_negative{"bandwidth", "flops", "of_copy", "upload",
                                                                        "download"};
        if (metric.value < 0 && std::ranges::find(never_negative, name) != never_negative.end())
            return "its " + name + " is " + format_significant(metric.value, 3) + " " + metric.unit;
    }
    return std::nullopt;
}

}  // namespace cllab::report

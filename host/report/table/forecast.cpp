#include "report/table/forecast.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/text.hpp"
#include "core/units.hpp"
#include "report/records/json_point.hpp"
#include "report/records/points.hpp"
#include "report/table/layout.hpp"

namespace cllab::report {
namespace {

using model::Bound;
using model::Explanation;

const Bound* surest(const Explanation& e) {
    const auto found = std::ranges::find_if(e.bounds, [](const Bound& b) { return !b.simulated; });
    return found == e.bounds.end() ? nullptr : &*found;
}

/// The largest bound, and those within a fifth of it.
std::vector<const Bound*> limiters(const Explanation& e) {
    constexpr double a_fifth = 0.8;
    std::vector<const Bound*> out;
    for (const auto& b : e.bounds)
        if (b.seconds >= a_fifth * e.bounds.front().seconds) out.push_back(&b);
    return out;
}

}  // namespace

std::string forecast_heading(const model::Record& record, const model::Limits& limits, const TableStyle& style) {
    const auto disturbed = limits.disturbed > 0
                               ? " Other processes had cores of " + format_significant(100 * limits.disturbed, 2) +
                                     " % of this profile's cells, so a launch may be faster than it says."
                               : "";
    return wrap_heading(record.device.name, ", by its profile of " + limits.utc, style.text_width(), style.colour) +
           wrap("A forecast is a lower bound: by a profile of a quiet device, a launch takes that or longer." +
                    disturbed,
                "", style.text_width());
}

std::string forecast_sentence(const Explanation& e) {
    if (e.bounds.empty()) return "no forecast: no bound is known";
    std::vector<std::string> names;
    for (const auto* b : limiters(e)) names.push_back(b->name);
    const auto* sure = surest(e);
    const auto& first = e.bounds.front();
    std::string out = sure ? "at least " + format_seconds(sure->seconds) : "no time is sure";
    if (first.simulated)
        out += ", and " + format_seconds(first.seconds) + " if the compiler keeps what the text computes";
    return out + "; " + join(names, " or ") + " would limit it";
}

std::string forecast_text(const model::Record& record, const Explanation& e, const TableStyle& style) {
    const auto width = style.text_width();
    std::string out = wrap(record.id + (record.point.empty() ? "" : " " + point_text(record.point)), "", width);
    out += wrap(forecast_sentence(e), "  ", width);
    for (const auto& why : e.contradictions) out += "  " + wrap_beside("contradiction: ", why, width - 2);
    Column times{.title = "", .right = true, .cells = {}}, names{.title = "", .cells = {}};
    for (const auto& b : e.bounds) {
        times.cells.push_back(format_seconds(b.seconds));
        names.cells.push_back(b.name + (b.simulated ? ", as the text has it" : ""));
    }
    const Grid grid({times, names}, width, style.colour);
    for (std::size_t i = 0; i < e.bounds.size(); ++i)
        out += "  " + grid.row(i) + "\n" + wrap(e.bounds[i].how, "           ", width);
    std::vector<std::string> reasons;
    for (const auto& [what, why] : e.unbounded) reasons.push_back(what + " (" + why + ")");
    for (const auto& what : record.counts->assumed) reasons.push_back("assumed: " + what);
    if (!reasons.empty()) out += "  " + wrap_beside("not bounded: ", join(reasons, ", "), width - 2);
    return out;
}

std::string forecast_json(const model::Record& record, const Explanation& e) {
    using Json = nlohmann::ordered_json;
    auto j = line_of("forecast", record.id, record.point, record.device);
    if (const auto* sure = surest(e)) j["seconds"] = sure->seconds;
    if (!e.bounds.empty()) j["seconds_as_written"] = e.bounds.front().seconds;
    j["limiters"] = Json::array();
    for (const auto* b : limiters(e)) j["limiters"].push_back(b->id);
    j["sentence"] = forecast_sentence(e);
    if (!e.contradictions.empty()) j["contradictions"] = e.contradictions;
    j["bounds"] = Json::array();
    for (const auto& b : e.bounds)
        j["bounds"].push_back({{"id", b.id},
                               {"name", b.name},
                               {"seconds", b.seconds},
                               {"sure", !b.simulated},
                               {"figure", b.figure},
                               {"how", b.how}});
    j["unbounded"] = Json::array();
    for (const auto& [what, why] : e.unbounded) j["unbounded"].push_back({{"what", what}, {"why", why}});
    return line_text(j);
}

}  // namespace cllab::report

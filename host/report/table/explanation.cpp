#include "report/table/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
using model::Limit;
using Json = nlohmann::ordered_json;

std::string whole_percent(double part) { return fmt::format("{:.0f} %", 100 * part); }

/// The largest bound, with the one that follows it in time, but not more than all of the time.
double explained(const Explanation& e, const model::Timing& time) { return std::min(1.0, e.seconds() / time.median); }

/// `=` where the next bound is busy too, `#` for the rest of the largest one, `+` for the one that follows it in time,
/// `.` for what no bound explains.
std::string bar(const Explanation& e, const model::Timing& time) {
    constexpr int width = 60;
    const auto columns = [&](double part) {
        return static_cast<std::size_t>(std::lround(width * std::clamp(part, 0.0, 1.0)));
    };
    const std::size_t all = width;
    if (e.follower()) {
        const auto first = columns(e.bounds.front().seconds / time.median),
                   both = std::max(first, columns(explained(e, time)));
        return "[" + std::string(first, '#') + std::string(both - first, '+') + std::string(all - both, '.') + "]";
    }
    const auto next = e.bounds.size() > 1 ? columns(e.bounds[1].seconds / time.median) : 0,
               first = std::max(next, columns(explained(e, time)));
    return "[" + std::string(next, '=') + std::string(first - next, '#') + std::string(all - first, '.') + "]";
}

std::string seconds_text(const Bound& b) {
    const auto value = format_seconds(b.seconds), low = format_seconds(b.low), high = format_seconds(b.high);
    return low == value && high == value ? value : value + " [" + low + " .. " + high + "]";
}

/// What was changed, what the claim predicts, what came out.
std::string test_text(const model::ClaimTest& t, std::size_t width) {
    std::string out = t.axis + "=" + t.after + " instead of " + t.before + ": predicted " +
                      format_significant(t.low, 3) + " to " + format_significant(t.high, 3) + " times as long (" +
                      t.because + "), ";
    if (!t.trouble.empty())
        out += "not found: " + t.trouble;
    else if (!t.found.covered())
        out += "too few arrangements to say";
    else
        out += fmt::format("found {:.3g} [{:.3g}, {:.3g}] in {} arrangements, {}", t.found.ratio, t.found.low,
                           t.found.high, t.found.n, model::name(t.outcome));
    return "  " + wrap_beside("test: ", out, width > 2 ? width - 2 : width);
}

std::string in_unit(double value, const std::string& unit) {
    return unit == "s"            ? format_seconds(value)
           : unit.ends_with("/s") ? format_rate(value, unit)
                                  : format_significant(value, 3) + " " + unit;
}

std::string range_text(double low, double high) {
    const auto first = format_seconds(low), last = format_seconds(high);
    return first == last ? first : first + " to " + last;
}

/// What the peak is now and was in the profile, and which of them the bounds rest on.
std::string again_text(const model::PeakAgain& p) {
    if (p.before <= 0) return p.name + ": " + in_unit(p.now, p.unit) + " now; " + p.note;
    const auto before = in_unit(p.before, p.unit) + (p.of_profile ? " in the profile" : " before");
    return p.name + ": " + (p.now > 0 ? in_unit(p.now, p.unit) + " now, " + before : before) + "; " + p.note;
}

/// A line for each bound, for what none explains, and for what models of processors say.
std::string bounds_text(const Explanation& e, const model::Timing& time, const TableStyle& style) {
    Column marks{.title = "", .cells = {}}, parts{.title = "", .right = true, .cells = {}},
        names{.title = "", .cells = {}}, times{.title = "", .cells = {}},
        how{.title = "", .keep = 10, .cells = {}, .key = "how"};
    const auto row = [&](const std::string& mark, double part, const std::string& name, const std::string& seconds,
                         const std::string& from) {
        marks.cells.push_back(mark);
        parts.cells.push_back(whole_percent(part));
        names.cells.push_back(name);
        times.cells.push_back(seconds);
        how.cells.push_back(from);
    };
    for (std::size_t i = 0; i < e.bounds.size(); ++i)
        row(i == 0                    ? "#"
            : i == e.second           ? "+"
            : i == 1 && e.second == 0 ? "="
                                      : "",
            e.bounds[i].seconds / time.median, e.bounds[i].name, seconds_text(e.bounds[i]), e.bounds[i].how);
    if (e.limit != Limit::impossible)
        row(".", 1 - explained(e, time), "unexplained", format_seconds(time.median * (1 - explained(e, time))), "");
    if (const auto& m = e.modelled) {
        row("~", m->ports_low / time.median, "port throughput (llvm-mca)", range_text(m->ports_low, m->ports_high),
            m->how);
        row("~", m->cycles_low / time.median, "with dependencies (llvm-mca)", range_text(m->cycles_low, m->cycles_high),
            "");
    }
    const Grid grid({marks, parts, names, times, how}, style.width, style.colour);
    // What a bound rests on stands below it where there is no room beside it.
    const bool below = !grid.dropped().empty();
    std::string out;
    for (std::size_t i = 0; i < marks.cells.size(); ++i) {
        out += grid.row(i) + "\n";
        if (below && !how.cells[i].empty()) out += wrap(how.cells[i], "           ", style.text_width());
    }
    return out;
}

}  // namespace

std::string explanation_heading(const model::Record& record, const std::string& profile_utc, const TableStyle& style) {
    return wrap_heading(record.device.name,
                        " (" + record.device.selector + "), compared with its profile of " + profile_utc,
                        style.text_width(), style.colour);
}

std::string limit_sentence(const Explanation& e, const model::Timing& time) {
    if (e.bounds.empty()) return "not explained: no bound is known";
    const auto& first = e.bounds.front();
    switch (e.limit) {
        case Limit::named:
            if (const auto* then = e.follower())
                return "limited by " + first.name + " and, not at the same time, " + then->name + ": " +
                       whole_percent(first.seconds / time.median) + " and " +
                       whole_percent(then->seconds / time.median) + " of the time";
            return "limited by " + first.name + ": " + whole_percent(explained(e, time)) + " of the time";
        case Limit::close:
            return "not told apart: " + first.name + " is " + whole_percent(first.seconds / time.median) +
                   " of the time" +
                   (e.bounds.size() > 1
                        ? " and " + e.bounds[1].name + " " + whole_percent(e.bounds[1].seconds / time.median)
                        : "");
        case Limit::impossible: {
            const auto most =
                std::ranges::max_element(e.bounds, [](const auto& a, const auto& b) { return a.low < b.low; });
            return "cannot be: " + most->name + " alone takes at least " + format_seconds(most->low) + " by " +
                   most->figure + " of the profile, " + format_significant(most->low / time.high, 3) +
                   " times the measured time; the kernel skips declared work, the clock is wrong, or the profile was "
                   "disturbed";
        }
        case Limit::unsteady:
            return "not told: its time is known within " + whole_percent(time.spread()) + " only";
        case Limit::withdrawn:
            return "withdrawn: limited by " + first.name + (e.follower() ? " and " + e.follower()->name : "") +
                   " does not stand its test";
        case Limit::unexplained:
            break;
    }
    return "not explained: " + whole_percent(1 - explained(e, time));
}

std::string explanation_text(const model::Record& record, const Explanation& e, const TableStyle& style) {
    const auto width = style.text_width();
    std::string out = wrap(record.id + (record.point.empty() ? "" : " " + point_text(record.point)), "", width);
    if (!record.time)
        return out + wrap(std::string(model::name(record.status)) + ": " + one_line(record.reason), "  ", width);
    const auto& time = *record.time;
    std::string heading = format_seconds(time.median);
    if (time.has_interval()) heading += " " + format_interval(time.median, time.low, time.high) + " %";
    const auto tone = e.limit == Limit::named                                       ? Tone::good
                      : e.limit == Limit::impossible || e.limit == Limit::withdrawn ? Tone::bad
                                                                                    : Tone::strong;
    out += "  " + paint(heading, Tone::plain, style.colour) + "  " +
           paint(limit_sentence(e, time), tone, style.colour) + "\n";
    out += "  " + bar(e, time) + "\n";
    out += bounds_text(e, time, style);
    if (e.wait)
        out += "  " + wrap_beside("waits: ",
                                  whole_percent(e.wait->share) + " of the waiting of its warps is for " + e.wait->what +
                                      ", counted by ncu",
                                  width > 2 ? width - 2 : width);
    for (const auto& why : e.contradictions)
        out += "  " + wrap_beside("contradiction: ", why, width > 2 ? width - 2 : width);
    if (!e.advice.empty()) out += "  " + wrap_beside("what helps: ", e.advice, width > 2 ? width - 2 : width);
    if (e.first_seconds > 0)
        out += "  " + wrap_beside("measured twice: ",
                                  format_seconds(e.first_seconds) +
                                      " the first time, which was unclear; the second time stands",
                                  width > 2 ? width - 2 : width);
    for (const auto& peak : e.again)
        out += "  " + wrap_beside("measured again: ", again_text(peak), width > 2 ? width - 2 : width);
    for (const auto& test : e.tests) out += test_text(test, width);
    if (!e.untested.empty()) out += "  " + wrap_beside("not tested: ", e.untested, width > 2 ? width - 2 : width);
    std::vector<std::string> reasons;
    for (const auto& [what, why] : e.unbounded) reasons.push_back(what + " (" + why + ")");
    if (!e.unmodelled.empty()) reasons.push_back("models of processors (" + e.unmodelled + ")");
    if (!reasons.empty())
        out += "  " + wrap_beside("not bounded: ", join(reasons, ", "), width > 2 ? width - 2 : width);
    return out;
}

std::string explanation_json(const model::Record& record, const Explanation& e) {
    auto j = line_of("why", record.id, record.point, record.device);
    j["status"] = model::name(record.status);
    if (record.time) {
        j["seconds"] = record.time->median;
        j["limit"] = model::name(e.limit);
        if (const auto* limiter = e.limiter()) j["limiter"] = limiter->id;
        if (const auto* then = e.follower(); then && e.limiter()) j["follower"] = then->id;
        j["sentence"] = limit_sentence(e, *record.time);
        j["unexplained"] = 1 - explained(e, *record.time);
    }
    if (e.wait) j["waits"] = {{"for", e.wait->what}, {"share", e.wait->share}};
    if (!e.advice.empty()) j["advice"] = e.advice;
    if (!e.contradictions.empty()) j["contradictions"] = e.contradictions;
    if (e.first_seconds > 0) j["first_seconds"] = e.first_seconds;
    j["bounds"] = Json::array();
    for (const auto& b : e.bounds)
        j["bounds"].push_back({{"id", b.id},
                               {"name", b.name},
                               {"seconds", b.seconds},
                               {"low", b.low},
                               {"high", b.high},
                               {"figure", b.figure},
                               {"how", b.how}});
    j["unbounded"] = Json::array();
    for (const auto& [what, why] : e.unbounded) j["unbounded"].push_back({{"what", what}, {"why", why}});
    if (const auto& m = e.modelled)
        j["modelled"] = {{"ports", {{"low", m->ports_low}, {"high", m->ports_high}}},
                         {"cycles", {{"low", m->cycles_low}, {"high", m->cycles_high}}},
                         {"how", m->how}};
    if (!e.unmodelled.empty()) j["unmodelled"] = e.unmodelled;
    for (const auto& p : e.again) {
        j["again"].push_back({{"figure", p.figure}, {"before", p.before}, {"used", p.used}, {"note", p.note}});
        if (p.now > 0) j["again"].back()["now"] = p.now;
    }
    for (const auto& t : e.tests) {
        Json test{{"axis", t.axis},       {"before", t.before},
                  {"after", t.after},     {"predicted", {{"low", t.low}, {"high", t.high}}},
                  {"because", t.because}, {"outcome", model::name(t.outcome)}};
        if (t.found.covered())
            test["found"] = {{"ratio", t.found.ratio},
                             {"low", t.found.low},
                             {"high", t.found.high},
                             {"coverage", t.found.coverage},
                             {"n", t.found.n}};
        if (!t.trouble.empty()) test["trouble"] = t.trouble;
        j["tests"].push_back(std::move(test));
    }
    if (!e.untested.empty()) j["untested"] = e.untested;
    j["run"] = record.run.id;
    return line_text(j);
}

}  // namespace cllab::report

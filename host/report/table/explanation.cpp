#include "report/table/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "report/records/json.hpp"
#include "report/records/points.hpp"
#include "report/table/comparison.hpp"
#include "report/table/layout.hpp"

namespace cllab::report {
namespace {

using model::Bound;
using model::Explanation;
using model::Limit;
using Json = nlohmann::ordered_json;

/// A line of a block, what does not fit below itself.
std::string labelled(const std::string& label, const std::string& text, const TableStyle& style) {
    return "  " + wrap_beside(label + ": ", text, std::max<std::size_t>(style.text_width(), 3) - 2);
}

/// What a block ends with: what has no bound, and `more` of it.
std::string not_bounded(const Explanation& e, const std::vector<std::string>& more, const TableStyle& style) {
    auto reasons = mapped(e.unbounded, [](const auto& one) { return one.first + " (" + one.second + ")"; });
    reasons.insert(reasons.end(), more.begin(), more.end());
    return reasons.empty() ? "" : labelled("not bounded", join(reasons, ", "), style);
}

/// `time`: what a line says of the time of a bound beside the seconds.
void add_bounds(Json& line, const Explanation& e, Json (*time)(const Bound&)) {
    line["bounds"] = Json::array();
    for (const auto& b : e.bounds) {
        auto& bound = line["bounds"].emplace_back(Json{{"id", b.id}, {"name", b.name}, {"seconds", b.seconds}});
        bound.update(time(b));
        bound.update({{"figure", b.figure}, {"how", b.how}});
    }
    line["unbounded"] = Json::array();
    for (const auto& [what, why] : e.unbounded) line["unbounded"].push_back({{"what", what}, {"why", why}});
}

/// `=` where the next bound is busy too, `#` for the rest of the largest one, `+` for the one that follows it in time,
/// `.` for what no bound explains.
std::string bar(const Explanation& e, const model::Timing& time) {
    constexpr std::size_t width = 60;
    const auto columns = [&](double seconds) {
        return static_cast<std::size_t>(std::lround(width * std::clamp(seconds / time.median, 0.0, 1.0)));
    };
    const auto largest = e.bounds.empty() ? 0 : columns(e.bounds.front().seconds);
    const auto next = e.bounds.size() > 1 && !e.follower() ? columns(e.bounds[1].seconds) : 0;
    const auto all = std::max({next, largest, columns(e.seconds())});
    const auto first = e.follower() ? largest : all;
    return "[" + std::string(next, '=') + std::string(first - next, '#') + std::string(all - first, '+') +
           std::string(width - all, '.') + "]";
}

std::string seconds_text(const Bound& b) {
    const auto value = format_seconds(b.seconds), low = format_seconds(b.low), high = format_seconds(b.high);
    return low == value && high == value ? value : value + " [" + low + " .. " + high + "]";
}

/// What was changed, what the claim predicts, what came out.
std::string test_text(const model::ClaimTest& t, const TableStyle& style) {
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
    return labelled("test", out, style);
}

std::string range_text(double low, double high) {
    const auto first = format_seconds(low), last = format_seconds(high);
    return first == last ? first : first + " to " + last;
}

/// What the peak is now and was in the profile, and which of them the bounds rest on.
std::string again_text(const model::PeakAgain& p) {
    if (p.before <= 0) return p.name + ": " + quantity(p.now, p.unit) + " now; " + p.note;
    const auto before = quantity(p.before, p.unit) + (p.of_profile ? " in the profile" : " before");
    return p.name + ": " + (p.now > 0 ? quantity(p.now, p.unit) + " now, " + before : before) + "; " + p.note;
}

/// A line for each bound, for what none explains, and for what models of processors say.
std::string bounds_text(const Explanation& e, const model::Timing& time, const TableStyle& style) {
    std::vector<Column> columns(5);  // mark, part, name, time, and what it rests on
    columns[1].right = true;
    columns[4].keep = 10;
    columns[4].key = "how";
    const auto row = [&](const std::string& mark, double part, const std::string& name, const std::string& seconds,
                         const std::string& from) {
        add_row(columns, {mark, whole_percent(part), name, seconds, from});
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
    const auto how = columns[4].cells;
    const Grid grid(std::move(columns), style.width, style.colour);
    // What a bound rests on stands below it where there is no room beside it.
    const bool below = !grid.dropped().empty();
    std::string out;
    for (std::size_t i = 0; i < how.size(); ++i) {
        out += grid.row(i) + "\n";
        if (below && !how[i].empty()) out += wrap(how[i], "           ", style.text_width());
    }
    return out;
}

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

std::string whole_percent(double part) { return fmt::format("{:.0f} %", 100 * part); }

double explained(const Explanation& e, const model::Timing& time) { return std::min(1.0, e.seconds() / time.median); }

std::string explanation_heading(const model::Record& record, const std::string& profile_utc, const TableStyle& style) {
    return wrap_heading(record.device.name,
                        " (" + record.device.selector + "), compared with its profile of " + profile_utc,
                        style.text_width(), style.colour);
}

std::string limit_sentence(const Explanation& e, const model::Timing& time) {
    if (e.bounds.empty()) return "not explained: no bound is known";
    const auto& first = e.bounds.front();
    const auto share = [&](const Bound& b) { return whole_percent(b.seconds / time.median); };
    switch (e.limit) {
        case Limit::named:
            if (const auto* then = e.follower())
                return "limited by " + first.name + " and, not at the same time, " + then->name + ": " + share(first) +
                       " and " + share(*then) + " of the time";
            return "limited by " + first.name + ": " + whole_percent(explained(e, time)) + " of the time";
        case Limit::close:
            return "not told apart: " + first.name + " is " + share(first) + " of the time" +
                   (e.bounds.size() > 1 ? " and " + e.bounds[1].name + " " + share(e.bounds[1]) : "");
        case Limit::impossible: {
            const auto most = std::ranges::max_element(e.bounds, {}, &Bound::low);
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
    std::string out = wrap(cell_title(record.id, record.point), "", style.text_width());
    if (!record.time)
        return out +
               wrap(std::string(model::name(record.status)) + ": " + one_line(record.reason), "  ", style.text_width());
    const auto& time = *record.time;
    std::string heading = format_seconds(time.median);
    if (time.has_interval()) heading += " " + format_interval(time.median, time.low, time.high) + " %";
    const auto tone = e.limit == Limit::named                                       ? Tone::good
                      : e.limit == Limit::impossible || e.limit == Limit::withdrawn ? Tone::bad
                                                                                    : Tone::strong;
    out += "  " + heading + "  " + paint(limit_sentence(e, time), tone, style.colour) + "\n";
    out += "  " + bar(e, time) + "\n";
    out += bounds_text(e, time, style);
    if (e.wait)
        out += labelled(
            "waits",
            whole_percent(e.wait->share) + " of the waiting of its warps is for " + e.wait->what + ", counted by ncu",
            style);
    for (const auto& why : e.contradictions) out += labelled("contradiction", why, style);
    if (!e.advice.empty()) out += labelled("what helps", e.advice, style);
    if (e.first_seconds > 0)
        out += labelled("measured twice",
                        format_seconds(e.first_seconds) + " the first time, which was unclear; the second time stands",
                        style);
    for (const auto& peak : e.again) out += labelled("measured again", again_text(peak), style);
    for (const auto& test : e.tests) out += test_text(test, style);
    if (!e.untested.empty()) out += labelled("not tested", e.untested, style);
    std::vector<std::string> more;
    if (!e.unmodelled.empty()) more.push_back("models of processors (" + e.unmodelled + ")");
    return out + not_bounded(e, more, style);
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
    add_bounds(j, e, [](const Bound& b) { return Json{{"brief", b.brief}, {"low", b.low}, {"high", b.high}}; });
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
        if (t.found.covered()) test["found"] = to_json(t.found);
        if (!t.trouble.empty()) test["trouble"] = t.trouble;
        j["tests"].push_back(std::move(test));
    }
    if (!e.untested.empty()) j["untested"] = e.untested;
    j["run"] = record.run.id;
    return line_text(j);
}

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
    const auto* sure = surest(e);
    const auto& first = e.bounds.front();
    std::string out = sure ? "at least " + format_seconds(sure->seconds) : "no time is sure";
    if (first.simulated)
        out += ", and " + format_seconds(first.seconds) + " if the compiler keeps what the text computes";
    return out + "; " + join(limiters(e), " or ", [](const auto* b) { return b->name; }) + " would limit it";
}

std::string forecast_text(const model::Record& record, const Explanation& e, const TableStyle& style) {
    const auto width = style.text_width();
    std::string out = wrap(cell_title(record.id, record.point), "", width) + wrap(forecast_sentence(e), "  ", width);
    for (const auto& why : e.contradictions) out += labelled("contradiction", why, style);
    std::vector<Column> columns(2);
    columns[0].right = true;
    for (const auto& b : e.bounds)
        add_row(columns, {format_seconds(b.seconds), b.name + (b.simulated ? ", as the text has it" : "")});
    const Grid grid(std::move(columns), width, style.colour);
    for (std::size_t i = 0; i < e.bounds.size(); ++i)
        out += "  " + grid.row(i) + "\n" + wrap(e.bounds[i].how, "           ", width);
    return out +
           not_bounded(e, mapped(record.counts->assumed, [](const auto& what) { return "assumed: " + what; }), style);
}

std::string forecast_json(const model::Record& record, const Explanation& e) {
    auto j = line_of("forecast", record.id, record.point, record.device);
    if (const auto* sure = surest(e)) j["seconds"] = sure->seconds;
    if (!e.bounds.empty()) j["seconds_as_written"] = e.bounds.front().seconds;
    j["limiters"] = Json::array();
    for (const auto* b : limiters(e)) j["limiters"].push_back(b->id);
    j["sentence"] = forecast_sentence(e);
    if (!e.contradictions.empty()) j["contradictions"] = e.contradictions;
    add_bounds(j, e, [](const Bound& b) { return Json{{"sure", !b.simulated}}; });
    return line_text(j);
}

}  // namespace cllab::report

#include "report/table/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/grouped.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "report/records/json.hpp"
#include "report/records/points.hpp"
#include "report/table/layout.hpp"
#include "report/table/verdict.hpp"

namespace cllab::report {
namespace {

using model::Bound;
using model::Explanation;
using model::Limit;
using Json = nlohmann::ordered_json;

/// What would be enough to name a limiter, by the reason that none is named.
constexpr Entry<Limit, const char*> enough_by_limit[] = {
    {Limit::close, "a largest bound that is clear of the next and at least 80 % of the time"},
    {Limit::unexplained, "a count or a `work` line of what has no bound; `cllab isa --hot` shows the code that runs"},
    {Limit::impossible, "a `work` line of what is executed, or a profile of an undisturbed device (`cllab profile`)"},
    {Limit::unsteady, "a time known within 10 %: a larger --max-time, or a quieter machine"}};

/// A line of a block, with a label. The text is wrapped next to it.
std::string labelled(const std::string& label, const std::string& text, const TableStyle& style) {
    return "  " + wrap_beside(label + ": ", text, std::max<std::size_t>(style.text_width(), 3) - 2);
}

/// The time as a bar. `=`: the next bound, which is busy too; `#`: the rest of the largest bound; `+`: the bound that
/// follows it in time; `.`: what no bound explains.
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

/// A peak now and before, and which of the two the bounds use; or only now.
std::string again_text(const model::PeakAgain& p) {
    if (p.before <= 0) return p.name + ": " + quantity(p.now, p.unit) + "; " + p.note;
    const auto before = quantity(p.before, p.unit) + (p.of_profile ? " in the profile" : " before");
    return p.name + ": " + (p.now > 0 ? quantity(p.now, p.unit) + " now, " + before : before) + "; " + p.note;
}

std::string profile_command(const model::Record& record) { return command_text(record, "profile"); }

/// Whether `why` would know more of the record: it counts what a user's kernel executes.
bool is_countable(const model::Record& record, const Explanation& e) {
    return !record.counts && record.counters.empty() && pattern_of(record) != record.id &&
           std::ranges::none_of(e.unbounded, [](const auto& one) { return one.first == "what it executes"; });
}

/// A share above this prints as more than 100 %.
constexpr double beyond = 1.005;

/// The first reason why a bound alone seems to take longer than the kernel; empty for most bounds.
std::string usual_reason(const Bound& b) {
    if (b.id == "memory" || b.id == "lines") return "caches serve some of its bytes, ";
    return b.id == "latency" ? "its operations take less time than the profile's (an addition can be faster than a "
                               "multiply-add), "
                             : "";
}

/// What to do next, with the command, if no limiter is named; empty if one is.
std::string next_step(const model::Record& record, const Explanation& e) {
    if (e.limit == Limit::impossible) return "; " + profile_command(record) + " measures the peaks again";
    const bool in_cores = e.limiter() && e.limiter()->id == "execution";
    if (e.limit != Limit::unexplained && !in_cores) return "";
    if (!in_cores && !e.no_peak.empty())
        return "; " + profile_command(record) + " measures the peaks in 60 s on an idle machine";
    if (!in_cores && is_countable(record, e))
        return "; " + command_text(record, "why " + pattern_of(record)) +
               " also counts what the kernel executes, which may explain it";
    return "; " + command_text(record, "isa " + pattern_of(record) + " --hot") + " shows the code that runs";
}

/// The first line: the time, what limits it, and the next step.
std::string verdict_text(const model::Record& record, const Explanation& e, const TableStyle& style) {
    const auto& time = *record.time;
    std::string label = "  " + format_seconds(time.median) + "  ";
    if (time.has_interval())
        label.insert(label.size() - 2, " " + format_interval(time.median, time.low, time.high) + " %");
    auto out = wrap_beside(label, limit_statement(record, e), style.text_width());
    const auto verdict = out.substr(label.size(), out.find_first_of(":\n", label.size()) - label.size());
    const auto tone = e.limit == Limit::named ? Tone::good : e.limit == Limit::impossible ? Tone::bad : Tone::strong;
    return out.replace(label.size(), verdict.size(), paint(verdict, tone, style.colour));
}

/// One line per bound, and one for the unexplained time.
std::string bounds_text(const Explanation& e, const model::Timing& time, const TableStyle& style) {
    std::vector<Column> columns(5);  // mark, part, name, time, and how it was obtained
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
    double left = 1 - explained(e, time);
    if (!e.bounds.empty() && e.bounds.front().figure == model::one_core_figure)  // the parts add up
        for (const auto& b : e.bounds)
            if (b.figure == model::one_core_figure && &b != &e.bounds.front() && &b != e.follower())
                left = std::max(0.0, left - b.seconds / time.median);
    if (e.limit != Limit::impossible) row(".", left, "unexplained", format_seconds(time.median * left), "");
    const auto how = columns[4].cells;
    const Grid grid(std::move(columns), style.width, style.colour);
    // How a bound was obtained is printed below it, if there is no room next to it.
    const bool below = !grid.dropped().empty();
    std::string out;
    for (std::size_t i = 0; i < how.size(); ++i) {
        out += grid.row(i) + "\n";
        if (below && !how[i].empty()) out += wrap(how[i], "           ", style.text_width());
    }
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
                return "limited by " + first.name + " plus " + then->name + ": " + share(first) + " and " +
                       share(*then) + " of the time";
            return "limited by " + first.name + ": " + whole_percent(explained(e, time)) + " of the time" +
                   (e.bounds.size() > 1 && first.id == "execution"
                        ? " (" + e.bounds[1].name + ": " + share(e.bounds[1]) + ")"
                        : "");
        case Limit::close:
            return "not told apart: " + first.name + " is " + share(first) + " of the time" +
                   (e.bounds.size() > 1 ? " and " + e.bounds[1].name + " " + share(e.bounds[1]) : "");
        case Limit::impossible: {
            const auto most = std::ranges::max_element(e.bounds, {}, &Bound::low);
            return "cannot be: " + most->name + " alone takes at least " + format_seconds(most->low) + " by " +
                   most->figure + " of the profile, " + format_significant(most->low / time.high, 3) +
                   " times the measured time; " + usual_reason(*most) +
                   "the kernel skips declared work, the clock is wrong, or the profile was disturbed";
        }
        case Limit::unsteady:
            return "not named: its time is known only within " + whole_percent(time.spread());
        case Limit::unexplained:
            break;
    }
    std::vector<std::string> known;
    for (const auto& b : e.bounds)
        if (b.seconds >= 0.01 * time.median && known.size() < 2) known.push_back(b.name + " " + share(b));
    const auto* not_split = find_in(e.unbounded, model::execution_title);
    return "not explained: " + whole_percent(1 - explained(e, time)) +
           (known.empty() ? "" : "; known: " + join(known, ", ")) +
           (e.of_copy >= 0.01 ? "; at a copy's rate its bytes take " + whole_percent(e.of_copy) + " of the time" +
                                    (e.of_copy > beyond ? ": caches serve some of them, or most are reads" : "")
                              : "") +
           (!e.no_peak.empty()                              ? "; the profile has no peak for " + join(e.no_peak, ", ")
            : not_split                                     ? concat("; ", *not_split)
            : std::max(explained(e, time), e.of_copy) < 0.5 ? "; cllab has no bound for the rest"
                                                            : "");
}

std::string limit_statement(const model::Record& record, const Explanation& e) {
    return limit_sentence(e, *record.time) + next_step(record, e);
}

std::string copy_sentence(const model::Record& record, const Explanation& e) {
    const auto level = std::ranges::find_if(
        e.bounds, [](const Bound& b) { return b.id == "memory" || b.figure.starts_with("bandwidth.l"); });
    constexpr double worth_saying = 0.1;
    if (!record.yardstick || e.of_copy <= 0 || e.limiter() || level == e.bounds.end() || level->id == "memory")
        return "";
    const double share = level->seconds / record.time->median, larger = std::max(share, e.of_copy);
    if (larger <= 2 * std::min(share, e.of_copy) || larger < worth_saying) return "";
    return fmt::format(
        "{}{}, but {} {}; both hold: the copy moves {} of its own (caches {}), whichever level holds them, and the "
        "bound is the time that {} alone takes at its full rate",
        whole_percent(e.of_copy), e.of_copy > beyond ? ", since caches serve some bytes or most are reads" : "",
        level->name, whole_percent(share), format_rate(static_cast<double>(record.yardstick->bytes), "B"),
        record.yardstick->cache, level->brief);
}

std::string explanation_text(const model::Record& record, const Explanation& e, const TableStyle& style) {
    std::string out = wrap(cell_title(record.id, record.point), "", style.text_width());
    if (!record.time)
        return out +
               wrap(std::string(model::name(record.status)) + ": " + one_line(record.reason), "  ", style.text_width());
    const auto& time = *record.time;
    const auto add = [&](const std::string& label, const std::string& text) {
        if (!text.empty()) out += labelled(label, text, style);
    };
    out += verdict_text(record, e, style);
    add("what costs time", e.advice);
    out += "  " + bar(e, time) + "\n" + bounds_text(e, time, style);
    const auto profile = profile_command(record);
    if (const auto* first = e.bounds.empty() || e.limit == Limit::impossible ? nullptr : &e.bounds.front();
        first && first->seconds > (first->id == "memory" || first->id == "lines" ? beyond : 1.05) * time.median)
        add("above 100 %", first->name + ": " + usual_reason(*first) +
                               "the profile's peak is too low, or the kernel does less than was counted; the range "
                               "begins at " +
                               format_seconds(first->low) + ". " + profile + " measures again");
    if (e.wait)
        add("waits",
            whole_percent(e.wait->share) + " of the waiting of its warps is for " + e.wait->what + ", counted by ncu");
    add("of copy", copy_sentence(record, e));
    for (const auto& why : e.contradictions) add("contradiction", why);
    add("hot code", e.limiter() && e.limiter()->id != "execution" ? "" : hot_code_text(record));
    if (e.first_seconds > 0)
        add("measured twice",
            format_seconds(e.first_seconds) + " the first time, which was unclear; the second time counts");
    for (const auto& peak : e.again) add(peak.before > 0 ? "measured again" : "measured now", again_text(peak));
    std::vector<std::string> unknown;
    if (!e.no_peak.empty())
        unknown.push_back(join(e.no_peak, ", ") + " (the profile has no peak" +
                          (e.limit == Limit::unexplained ? ")" : "; " + profile + " measures it)"));
    for (const auto& one : e.unbounded)
        if (std::ranges::count(e.no_peak, one.first) == 0) add_once(unknown, one.first);
    if (!unknown.empty()) add("not bounded", join(unknown, ", ") + "; --json has the reasons");
    return out;
}

std::string explanation_json(const model::Record& record, const Explanation& e) {
    auto j = line_of("why", record.id, record.point, record.device);
    j["status"] = model::name(record.status);
    if (!record.time)
        add_refusal(j, model::name(record.status), one_line(record.reason), "a kernel that is ok on this device");
    for (const auto& [what, why] : e.unbounded)
        add_refusal(j["figures"][what], "no bound", why,
                    std::ranges::count(e.no_peak, what) > 0 ? "a profile that has it (`cllab profile`)"
                    : what == model::execution_title
                        ? "a kernel of plain buffers, a runtime that uses the host's memory, and an idle machine"
                        : "a `work` line that declares it, or a count by Oclgrind or ncu");
    for (const auto& b : e.bounds) add_figure(j, b.name, b.seconds, "s", b.how);
    if (record.time) {
        add_figure(j, "time", record.time->median, "s", fmt::format("the median of {} samples", record.time->n));
        if (e.limit != Limit::named)
            add_refusal(j, model::name(e.limit), limit_sentence(e, *record.time), value_of(enough_by_limit, e.limit));
        j["seconds"] = record.time->median;
        j["limit"] = model::name(e.limit);
        if (const auto* limiter = e.limiter()) j["limiter"] = limiter->id;
        if (const auto* then = e.follower(); then && e.limiter()) j["follower"] = then->id;
        j["sentence"] = limit_sentence(e, *record.time);
        j["unexplained"] = 1 - explained(e, *record.time);
    }
    if (e.wait) j["waits"] = {{"for", e.wait->what}, {"share", e.wait->share}};
    if (const auto code = hot_code_text(record); !code.empty()) j["hot_code"] = code;
    if (!e.advice.empty()) j["advice"] = e.advice;
    if (!e.contradictions.empty()) j["contradictions"] = e.contradictions;
    if (e.first_seconds > 0) j["first_seconds"] = e.first_seconds;
    j["bounds"] = Json::array();
    for (const auto& b : e.bounds)
        j["bounds"].push_back({{"id", b.id},
                               {"name", b.name},
                               {"seconds", b.seconds},
                               {"brief", b.brief},
                               {"low", b.low},
                               {"high", b.high},
                               {"figure", b.figure},
                               {"how", b.how}});
    j["unbounded"] = Json::array();
    for (const auto& [what, why] : e.unbounded) j["unbounded"].push_back({{"what", what}, {"why", why}});
    for (const auto& p : e.again) {
        j["again"].push_back({{"figure", p.figure}, {"before", p.before}, {"used", p.used}, {"note", p.note}});
        if (p.now > 0) j["again"].back()["now"] = p.now;
    }
    j["run"] = record.run.id;
    return line_text(j);
}

}  // namespace cllab::report

#include "report/table/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/grouped.hpp"
#include "core/stats.hpp"
#include "json/read.hpp"
#include "model/result.hpp"
#include "report/records/json.hpp"
#include "report/records/points.hpp"

namespace cllab::report {
namespace {

using model::Control;
using model::RatioEstimate;
using model::Verdict;
using Json = nlohmann::ordered_json;

/// "0.4 % less" to "1.2 % more", for an interval of ratios.
std::string signed_percent(double ratio) {
    return ratio < 1 ? percent(1 - ratio) + " less" : percent(ratio - 1) + " more";
}

/// How much longer the slower side takes: "3.1 % [2.5 %, 3.8 %] longer", or "4.2 [4.1, 4.3] times as long". All
/// arguments are above 1.
std::string longer(double ratio, double low, double high) {
    if (ratio < 2) return fmt::format("{} [{}, {}] longer", percent(ratio - 1), percent(low - 1), percent(high - 1));
    return fmt::format("{:.3g} [{:.3g}, {:.3g}] times as long", ratio, low, high);
}

std::string interval(const RatioEstimate& e) {
    return e.covered() ? fmt::format("{:.4f} [{:.4f}, {:.4f}]", e.ratio, e.low, e.high)
                       : fmt::format("{:.4f}, no interval", e.ratio);
}

/// The share of the usable cores that each side had; empty if both had nearly all.
std::string cores_line(const model::Comparison& c) {
    if (c.arrangements.empty()) return {};
    const double l = median_of(mapped(c.arrangements, &model::Arrangement::left_cores));
    const double r = median_of(mapped(c.arrangements, &model::Arrangement::right_cores));
    if (std::min(l, r) >= model::nearly_all_cores) return {};
    const bool alike = std::min(l, r) >= model::nearly_all_cores * std::max(l, r);
    return "  others had cores: " + c.left + " got " + percent(l) + " of those it could use, " + c.right + " " +
           percent(r) +
           (alike || !c.judgement.ratio.covered() ? "; the comparison is of kernels beside other work\n"
                                                  : "; the interval allows for the effect on the ratio\n");
}

std::string verdict_line(const model::Comparison& c) {
    const auto& j = c.judgement;
    const auto& r = j.ratio;
    const std::string pair =
        c.left + " against " + c.right + (c.where.empty() ? "" : " at " + point_text(c.where)) + ": ";
    if (!c.trouble.empty()) return pair + "no verdict: " + c.trouble;
    switch (j.verdict) {
        case Verdict::faster:
            return pair + c.left + " is faster; " + c.right + " takes " + longer(1 / r.ratio, 1 / r.high, 1 / r.low);
        case Verdict::slower:
            return pair + c.right + " is faster; " + c.left + " takes " + longer(r.ratio, r.low, r.high);
        case Verdict::same:
            return pair + "the same within " + percent(j.within);
        case Verdict::same_code:
            return pair + "same code, so there is no winner" +
                   (r.n ? "; the measured ratio is noise, " + interval(r) : "");
        case Verdict::undecided:
            break;
    }
    if (!r.covered())
        return pair +
               fmt::format("undecided: {} replicates are too few for an interval; a larger --max-time gives more", r.n);
    return pair + fmt::format("undecided: {} takes {} to {} time; a larger --max-time or a quieter machine may decide",
                              c.left, signed_percent(r.low), signed_percent(r.high));
}

}  // namespace

std::string percent(double part) {
    const double p = 100 * part;
    return fmt::format("{:.{}f} %", p, std::abs(p) < 0.995 ? 2 : std::abs(p) < 9.95 ? 1 : 0);
}

Json to_json(const model::RatioEstimate& e) {
    Json out{{"ratio", e.ratio}, {"n", e.n}};
    if (e.covered()) out.update({{"low", e.low}, {"high", e.high}, {"coverage", e.coverage}});
    return out;
}

Json to_json(const model::Arrangement& a) {
    Json out{{"seed", a.seed},
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

std::string comparison_text(const model::Comparison& c) {
    std::string out = verdict_line(c) + "\n";
    const auto& j = c.judgement;
    if (j.ratio.n == 0) return out;
    const bool same = std::ranges::all_of(c.arrangements, [](const auto& a) { return a.same_memory; });
    std::string how = fmt::format("{} replicates (fresh process, buffers and order) in {:.1f} s", j.ratio.n, c.seconds);
    if (j.ratio.covered()) how = fmt::format("{:.3g} % interval over ", std::floor(1000 * j.ratio.coverage) / 10) + how;
    out += "  " + how + (same ? "; both took turns on the same memory\n" : "; each on its own memory\n");
    if (j.control.n > 0)
        out += fmt::format("  control: {} against itself {}; a winner must differ by more than {}\n",
                           c.control_of == Control::both ? "each" : c.left, interval(j.control), percent(j.floor));
    return out + cores_line(c);
}

std::string comparison_progress(const model::Comparison& c) {
    const auto& r = c.judgement.ratio;
    return fmt::format("{} against {}: {} replicates{}", c.left, c.right, r.n,
                       r.covered() ? ", known within " + percent(std::expm1(r.half_width())) : "");
}

std::string comparison_json(const model::Comparison& c) {
    Json out{{"schema", model::schema_version},
             {"record", "comparison"},
             {"left", c.left},
             {"right", c.right},
             {"point", point_json(c.point)},
             {"device", device_json(c.device)},
             {"cache", c.cache},
             {"verdict", model::name(c.judgement.verdict)},
             {"ratio", to_json(c.judgement.ratio)},
             {"control", to_json(c.judgement.control)},
             {"floor", c.judgement.floor},
             {"seconds", c.seconds},
             {"arrangements", Json::array()}};
    out["control_of"] = c.control_of == Control::both ? "both" : "left";
    if (c.right_point != c.point) out["right_point"] = point_json(c.right_point);
    if (!c.where.empty()) out["where"] = point_json(c.where);
    if (!c.trouble.empty()) out["trouble"] = c.trouble;
    if (!c.conditions.empty()) out["conditions"] = c.conditions;
    for (const auto& a : c.arrangements) out["arrangements"].push_back(to_json(a));
    if (!c.trouble.empty() || c.judgement.verdict == Verdict::undecided)
        add_refusal(out, "undecided", verdict_line(c), "a larger --max-time, or a quieter machine");
    return line_text(out);
}

std::optional<std::string> comparison_verdict(const std::string& line) {
    try {
        const auto j = parse_json<nlohmann::json>(line);
        model::Comparison c;
        c.left = j.at("left").get<std::string>();
        c.right = j.at("right").get<std::string>();
        c.trouble = j.value("trouble", "");
        if (const auto where = j.find("where"); where != j.end())
            for (const auto& [axis, value] : where->items())
                c.where.emplace_back(axis, value.is_string() ? value.get<std::string>() : value.dump());
        const auto verdict = j.at("verdict").get<std::string>();
        for (const auto v : {Verdict::faster, Verdict::slower, Verdict::same, Verdict::undecided, Verdict::same_code})
            if (verdict == model::name(v)) c.judgement.verdict = v;
        const auto& ratio = j.at("ratio");
        c.judgement.ratio = {ratio.at("ratio").get<double>(), ratio.value("low", 0.0), ratio.value("high", 0.0),
                             ratio.value("coverage", 0.0), ratio.at("n").get<unsigned>()};
        if (const auto& r = c.judgement.ratio; r.covered())
            c.judgement.within = std::max(std::abs(r.low - 1), std::abs(r.high - 1));
        return verdict_line(c) + " (on " + j.at("device").at("name").get<std::string>() + ")";
    } catch (const JsonRefused&) {
    } catch (const nlohmann::json::exception&) {
    }
    return std::nullopt;
}

bool is_comparison(std::string_view line) { return line.substr(0, 64).find("\"record\":\"") != std::string_view::npos; }

}  // namespace cllab::report

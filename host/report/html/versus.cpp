// An A/B comparison as two rows of points. Above: the ratio of the two sides in each replicate (`arrangement`), with
// the interval of the verdict. Below: the ratio of a side to itself, which shows how far replicates differ by
// themselves.
#include <cmath>
#include <ostream>

#include "core/grouped.hpp"
#include "core/units.hpp"
#include "json/read.hpp"
#include "report/html/context.hpp"
#include "report/html/markup.hpp"

namespace cllab::report::html {
namespace {

std::vector<double> ratios_of(const nlohmann::json& comparison, const char* what) {
    return mapped(comparison.at("arrangements"),
                  [&](const auto& a) { return std::exp(a.at(what).template get<double>()); });
}

void write_points(std::ostream& out, const Scale& x, const std::vector<double>& ratios, const char* style, double y) {
    for (const double ratio : ratios)
        out << fmt::format(R"(<circle class="{}" cx="{}" cy="{}" r="4"/>)", style, percent(x.at(ratio)), number(y));
}

void write_drawing(std::ostream& out, const nlohmann::json& comparison) {
    constexpr double sides_y = 16, control_y = 40;
    const auto sides = ratios_of(comparison, "log_ratio"), controls = ratios_of(comparison, "control");
    if (sides.empty()) return;
    auto all = sides;
    all.insert(all.end(), controls.begin(), controls.end());
    const auto& ratio = comparison.at("ratio");
    const bool interval = ratio.contains("low");
    if (interval) all.insert(all.end(), {ratio.at("low").get<double>(), ratio.at("high").get<double>()});
    all.push_back(1);
    const auto [least, most] = std::ranges::minmax(all);
    const double room = 0.05 * (most - least) + 1e-6;
    const Scale x{least - room, most + room, false, false};
    const auto left = comparison.at("left").get<std::string>(), right = comparison.at("right").get<std::string>();
    out << fmt::format(
        "<figure class=\"versus\"><figcaption>Time of {} over that of {}, a point per replicate{}; below, "
        "a side over itself</figcaption>\n<svg width=\"100%\" height=\"76\" role=\"img\" "
        "aria-label=\"ratios of the replicates\">",
        breakable(left), breakable(right), interval ? ", and the interval" : "");
    out << fmt::format(R"(<line class="guide" x1="{0}" x2="{0}" y1="4" y2="52"/>)", percent(x.at(1)));
    if (interval)
        out << fmt::format(R"(<rect class="span-of" x="{}" width="{}" y="8" height="16"/>)",
                           percent(x.at(ratio.at("low").get<double>())),
                           percent(x.at(ratio.at("high").get<double>()) - x.at(ratio.at("low").get<double>())));
    write_points(out, x, sides, "best", sides_y);
    write_points(out, x, controls, "apart", control_y);
    out << "<g class=\"axis\">";
    for (const double tick : x.ticks())
        out << fmt::format(R"(<line x1="{0}" x2="{0}" y1="52" y2="57"/><text x="{0}" y="70">{1}</text>)",
                           percent(x.at(tick)), format_significant(tick, 3));
    out << "</g></svg></figure>\n";
}

}  // namespace

void write_comparison(std::ostream& out, const std::string& line) {
    try {
        write_drawing(out, parse_json<nlohmann::json>(line));
    } catch (const JsonRefused&) {  // another version wrote it: only the sentence is shown
    } catch (const nlohmann::json::exception&) {
    }
}

}  // namespace cllab::report::html

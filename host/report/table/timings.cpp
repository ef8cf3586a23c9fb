// Where the time of a command went, as --timings shows it.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>

#include "core/grouped.hpp"
#include "core/phases.hpp"
#include "core/text.hpp"
#include "report/records/points.hpp"
#include "report/table/columns.hpp"
#include "report/table/table.hpp"

namespace cllab::report {
namespace {

constexpr std::size_t largest_shown = 4;  // phases of a cell

std::string display_name(Phase phase) {
    std::string out = name(phase);
    std::ranges::replace(out, '_', ' ');
    return out;
}

/// "latency_global footprint=4096", with the axes that differ between records.
std::vector<std::string> titles_of(const std::vector<model::Record>& records) {
    const auto varying = varying_axes(model::rows_of(records));
    const auto varies = [&](const auto& axis, const auto&) { return varying.contains(axis); };
    return mapped(records, [&](const auto& r) { return printable(cell_title(r.id, point_text(r.point, varies))); });
}

}  // namespace

void print_timings(std::ostream& out, const std::vector<model::Record>& records, const Phases& besides, double wall) {
    const auto titles = titles_of(records);
    Phases sum = besides;
    for (const auto& record : records) add(sum, record.phases);
    const auto line = [&](const std::string& phase, double seconds, const std::string& most) {
        out << fmt::format("  {:<16} {:>8.3f} {:>5.1f}%{}{}\n", phase, seconds, 100 * seconds / wall,
                           most.empty() ? "" : "  ", most);
    };
    out << fmt::format("where {:.3f} s went\n  {:<16} {:>8} {:>6}  most of it in\n", wall, "phase", "time [s]",
                       "share");
    for (const auto phase : all_phases) {
        if (!sum.count(phase)) continue;
        std::size_t most = records.size();
        double seconds = 0;
        for (std::size_t i = 0; i < records.size(); ++i) {
            const auto found = records[i].phases.find(phase);
            if (found != records[i].phases.end() && found->second > seconds) seconds = found->second, most = i;
        }
        line(display_name(phase), sum[phase],
             most < records.size() ? fmt::format("{} ({:.3f})", titles[most], seconds) : "");
    }
    line("other", wall - total(sum), "");
    if (records.empty()) return;
    std::size_t width = 4;
    for (const auto& title : titles) width = std::max(width, title.size());
    out << fmt::format("  {:<{}} {:>8}  most of it\n", "cell", width, "time [s]");
    for (std::size_t i = 0; i < records.size(); ++i) {
        std::vector<std::pair<double, Phase>> largest;
        for (const auto& [phase, seconds] : records[i].phases) largest.emplace_back(seconds, phase);
        std::sort(largest.rbegin(), largest.rend());
        largest.resize(std::min(largest.size(), largest_shown));
        out << fmt::format("  {:<{}} {:>8.3f}  {}\n", titles[i], width, total(records[i].phases),
                           join(largest, ", ", [](const auto& one) {
                               return fmt::format("{} {:.3f}", display_name(one.second), one.first);
                           }));
    }
}

}  // namespace cllab::report

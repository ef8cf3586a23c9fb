#include "app/processes/cell_counts.hpp"

#include <cmath>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <utility>

#include "core/error.hpp"
#include "count/simulated.hpp"
#include "explain/advice.hpp"
#include "inspect/cuda/ncu_counters.hpp"
#include "inspect/cuda/replay.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::app {
namespace {

std::string key_of(const model::Cell& cell) {
    std::string out = cell.id + "\n" + cell.options;
    for (const auto& [axis, value] : cell.point.values()) out += "\n" + axis + "=" + value;
    return out;
}

}  // namespace

unsigned wave_of(const model::Limits& limits) {
    const auto* width = limits.find("divergence.width.full");
    return width && width->value >= 1 && width->value <= count::widest_wave
               ? static_cast<unsigned>(std::lround(width->value))
               : CountSettings().wave;
}

CellCounts::CellCounts(const run::RunRequest& request, double budget_seconds, unsigned wave,
                       const std::function<void(const std::string&)>& progress) {
    if (budget_seconds <= 0) return;
    CountSettings settings;
    try {
        settings.simulator = find_oclgrind("cllab why");
    } catch (const Error& e) {
        none_ = e.what();
        return;
    }
    settings.run = request.settings;
    settings.run.dumps.reset();
    settings.budget_seconds = budget_seconds;
    settings.wave = wave;
    for (const auto& cell : request.comparisons | std::views::join) {
        progress("counting what " + cell.id + " executes");
        auto& found = found_[key_of(cell)];
        try {
            auto simulated = simulate(cell, settings, budget_seconds);
            if (simulated.status != model::Status::ok)
                found.why_not = simulated.trouble;
            else if (simulated.left > 0)
                found.why_not = "the budget ended before its last launch";
            else
                found.launches = std::move(simulated.launches);
            for (const auto& counts : found.launches)
                if (!counts.bounded)
                    found.why_not = counts.not_counted.front().what + ": " + counts.not_counted.front().why;
            if (!found.why_not.empty()) found.launches.clear();
            if (found.launches.size() > 1) found.why_not = "an operation has several launches";
        } catch (const Error& e) {
            found.why_not = e.what();
        }
    }
}

void CellCounts::add_to(const model::Cell& cell, model::Record& record, std::string& why_not) const {
    const auto found = found_.find(key_of(cell));
    why_not = found == found_.end() ? none_ : found->second.why_not;
    if (found != found_.end() && found->second.launches.size() == 1)
        record.counts = std::make_shared<const model::Counts>(found->second.launches.front());
}

std::string CellCounts::difference(const model::Cell& a, const model::Cell& b, double as_long) const {
    const auto unknown = [](const std::string& why) {
        return "What they execute differently was not counted: " + why + ".";
    };
    if (found_.empty()) return none_.empty() ? "" : unknown(none_);
    for (const auto* cell : {&a, &b})
        if (const auto& found = found_.at(key_of(*cell)); found.launches.empty())
            return unknown(cell->id + ": " + found.why_not);
    return explain::difference(found_.at(key_of(a)).launches, found_.at(key_of(b)).launches, as_long);
}

std::string count_by_ncu(const model::Cell& cell, const model::Device& device, std::uint64_t seed,
                         double timeout_seconds, model::Record& record) {
    const auto ncu = inspect::find_tool({"ncu"});
    if (!ncu) return "Nsight Compute's ncu is not installed";
    try {
        const auto replay = inspect::replay_of(cell, device, record, seed);
        const inspect::TempFolder folder;
        inspect::write_cuda_launch(folder.path(), replay.setup, replay.entry, replay.ptx, device.identity, seed);
        const auto limit = std::chrono::milliseconds(static_cast<long>(1000 * timeout_seconds));
        auto found = inspect::profile_replay(*ncu, replay, folder.path(), inspect::Count::everything, limit);
        if (!found.trouble.empty()) return found.trouble;
        if (const auto wrong = inspect::check_cuda_launch(folder.path(), replay.setup, seed))
            return "the launch through the CUDA driver is wrong: " + *wrong;
        // Counted at other clocks and cold caches it may take longer; another kernel is further off.
        const auto seconds = inspect::counter(found.counters, "gpu__time_duration.sum");
        constexpr double most = 4;
        if (!seconds || *seconds > most * record.time->median + 1e-5 || most * *seconds < record.time->median - 1e-5)
            return "the launch through the CUDA driver takes another time";
        record.counters = std::move(found.counters);
    } catch (const std::runtime_error& e) {  // Unsupported, or Error
        return e.what();
    }
    return "";
}

}  // namespace cllab::app

// The request of a run: one value, made once from the command line and passed down unchanged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "model/device.hpp"
#include "model/plan.hpp"
#include "model/result.hpp"
#include "run/cache_state.hpp"

namespace cllab::run {

/// How its cells are built, proved and measured.
struct Settings {
    std::uint64_t seed = 1;         ///< of the first verification's inputs; the second uses seed + 1
    bool measure = true;            ///< false: build, verify once, dump
    double sampling_seconds = 0.4;  ///< cap of a cell's sampling
    double warm_seconds = 0;        ///< least warm-up of a cell; 0: by device type, long enough from a cold start
    std::optional<model::Tolerance> tolerance;    ///< of every result; nothing: each family's own
    std::string build_options;                    ///< appended to every build, e.g. -cl-opt-disable
    std::filesystem::path cl_dir;                 ///< kernel text from disk; empty: the text embedded in the program
    std::optional<std::filesystem::path> dumps;   ///< root of the dumps; nothing: no dumps
    std::map<std::string, model::Loaded> files;   ///< --input
    std::map<std::string, std::string> pictures;  ///< --output: where to, by buffer
    std::vector<std::string> argv;                ///< for the record
    model::RunInfo run;                           ///< for the record; seed and order are filled in
    /// The request is one arrangement of a comparison (host/README.md, rule 15): order of preparation, turns and
    /// placement are drawn from `seed`, alike buffers are shared, each cell is proved once and sampled in whole rounds
    /// for about sampling_seconds.
    bool arrangement = false;
    /// The run continues another one on the device: the timer audit and the warm-up still hold (host/README.md, rules 2
    /// and 4).
    bool goes_on = false;
    /// It is to be seen which cells are the fastest, and those are proved and measured once more: one input, the same
    /// memory for all, no launches that only a wrong kernel has to fear, and no more samples of a cell that takes twice
    /// as long as the fastest.
    bool screening = false;
    std::optional<Clock::time_point> ends;  ///< what comparison would begin later is left out
    /// Whether the inputs are restored before each timed operation of a kernel that works in place, outside its time.
    /// Nothing: the run decides.
    std::optional<bool> fresh_data;
    double hot_seconds = 0;     ///< of the launches in which it is sampled which code runs; 0: none
    double tool_seconds = 30;   ///< of all disassemblers of a cell together
    bool small_groups = false;  ///< each work-group is one item
    Cache cache = Cache::hot;   ///< state of the caches before each operation, the yardstick's included
    std::optional<unsigned> count_above;  ///< --count-above: grey level
    bool energy = false;                  ///< what an operation draws, some 8 s a cell
    bool steps = false;                   ///< each part of an operation gets a time of its own, where it has several
    bool read_code = true;                ///< false: nobody looks at the code of its programs, and there are no dumps
    /// Several cells at once where the device can; false: a driver that ends ends in its cell.
    bool builds_ahead = true;
    std::map<std::string, model::Limits> limits;  ///< of devices that have a profile, by selector
    /// Work-items of a group that is launched although the kernel's own query promises fewer, by selector.
    std::map<std::string, std::size_t> largest_groups;
    /// Says why a record is impossible by its device's limits; the sentence becomes a warning. `one_launch`: the time
    /// is of one launch, by the event clock.
    std::function<std::optional<std::string>(const model::Record&, const model::Limits&, bool one_launch)> judge;
    /// For Record::limit, by the limits of its device.
    std::function<std::string(const model::Record&, const model::Limits&)> name_limit;
};

struct RunRequest {
    /// The copy that `of copy` is against, with an axis "size"; nothing: no `of copy`.
    std::optional<model::Cell> yardstick;
    std::vector<model::Group> comparisons;
    Settings settings;
    double left_out = 0;                  ///< cells whose points break a constraint
    std::shared_ptr<const void> owner{};  ///< of the experiments that its cells point into

    std::size_t cells() const {
        return static_cast<std::size_t>(std::ranges::distance(comparisons | std::views::join));
    }
};

// The one list of the fields of Settings. A copy of settings that is made field by field goes through it.

/// Calls `visit` with each field of the settings, in their order. A field that is missing in the list stops the build:
/// the list has a name for each member.
template <typename OfSettings, typename Visit>
void visit_fields(OfSettings& settings, const Visit& visit) {
#define CLLAB_FIELDS                                                                                               \
    seed, measure, sampling_seconds, warm_seconds, tolerance, build_options, cl_dir, dumps, files, pictures, argv, \
        run, arrangement, goes_on, screening, ends, fresh_data, hot_seconds, tool_seconds, small_groups,           \
        cache, count_above, energy, steps, read_code, builds_ahead, limits, largest_groups, judge, name_limit
    auto& [CLLAB_FIELDS] = settings;
    const auto each = [&](auto&... field) { (visit(field), ...); };
    each(CLLAB_FIELDS);
#undef CLLAB_FIELDS
}

}  // namespace cllab::run

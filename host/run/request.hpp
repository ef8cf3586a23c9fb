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

/// How the cells are built, verified and measured.
struct Settings {
    std::uint64_t seed = 1;         ///< of the first verification's inputs; the second uses seed + 1
    bool measure = true;            ///< false: build, verify, dump
    double sampling_seconds = 0.4;  ///< cap of a cell's sampling time
    double warm_seconds = 0;        ///< minimum warm-up of the device; 0: by its type, enough for a cold start
    std::optional<model::Tolerance> tolerance;    ///< for every result; nullopt: each family's own
    std::string build_options;                    ///< appended to every build, e.g. -cl-opt-disable
    std::filesystem::path cl_dir;                 ///< kernel text from disk; empty: the text embedded in the program
    std::optional<std::filesystem::path> dumps;   ///< root of the dumps; nullopt: no dumps
    std::map<std::string, model::Loaded> files;   ///< --input
    std::map<std::string, std::string> pictures;  ///< files by buffer
    std::vector<std::string> argv;                ///< for the record
    model::RunInfo run;                           ///< for the record; seed and order are filled in
    /// The request is one arrangement of a comparison (host/README.md, rule 15). The order of preparation, the turns
    /// and the placement are drawn from `seed`, and alike buffers are shared. Each cell is verified once, and sampled
    /// in whole rounds for about sampling_seconds.
    bool arrangement = false;
    /// The run continues another one on the device, so the timer audit and the warm-up still hold (host/README.md,
    /// rules 2 and 4).
    bool continues_run = false;
    /// Searches for the fastest cells, which are verified and measured again later. Uses one input seed and the same
    /// memory for all cells. Omits the checks during and after sampling that detect cheating kernels. Stops sampling a
    /// cell that takes twice as long as the fastest.
    bool screening = false;
    /// With `arrangement`: measures how long a cell takes on one core, without proof. The comparison has it three
    /// times: as it is, with Pages::separate, and with Pages::repeated.
    bool one_core = false;
    std::optional<Clock::time_point> ends;  ///< comparisons that would begin later are skipped
    /// Whether the inputs are restored before each timed operation of an in-place kernel, outside its time. nullopt:
    /// the run decides.
    std::optional<bool> fresh_data;
    double hot_seconds = 0;               ///< duration of the launches that are sampled for running code; 0: none
    double tool_seconds = 30;             ///< for all disassemblers of a cell together
    bool small_groups = false;            ///< one work-item per work-group
    Cache cache = Cache::hot;             ///< state of the caches before each operation, also of the yardstick
    std::optional<unsigned> count_above;  ///< --count-above: grey level
    bool energy = false;                  ///< measure the energy per operation, about 8 s per cell
    bool steps = false;                   ///< time each part of an operation that has several
    bool read_code = true;                ///< false: do not read the code of programs; nothing is dumped
    /// Builds programs in the background if the device can. false: if the driver crashes, it crashes in the cell that
    /// it builds.
    bool builds_ahead = true;
    std::map<std::string, model::Limits> limits;  ///< of devices with a profile, by selector
    /// Work-items of the largest work-group to launch, even if the kernel's own query reports fewer. By selector.
    std::map<std::string, std::size_t> largest_groups;
    /// Says why a record is impossible by the device's limits; the sentence becomes a warning. `one_launch`: the event
    /// clock timed a single launch.
    std::function<std::optional<std::string>(const model::Record&, const model::Limits&, bool one_launch)> judge;
    /// Returns Record::limit, by the limits of the record's device.
    std::function<std::string(const model::Record&, const model::Limits&)> name_limit;
};

struct RunRequest {
    /// The copy behind the column `of copy`, with an axis "size"; nullopt: no such column.
    std::optional<model::Cell> yardstick;
    std::vector<model::Group> comparisons;
    Settings settings;
    double left_out = 0;                  ///< cells skipped because their points violate a constraint
    std::shared_ptr<const void> owner{};  ///< owner of the experiments to which the cells point

    std::size_t cells() const {
        return static_cast<std::size_t>(std::ranges::distance(comparisons | std::views::join));
    }
};

// The one list of the fields of Settings. Code that copies settings field by field uses it.

/// Calls `visit` with each field of the settings, in order. The build fails if the list lacks a field, because the
/// structured binding names every member.
template <typename OfSettings, typename Visit>
void visit_fields(OfSettings& settings, const Visit& visit) {
#define CLLAB_FIELDS                                                                                               \
    seed, measure, sampling_seconds, warm_seconds, tolerance, build_options, cl_dir, dumps, files, pictures, argv, \
        run, arrangement, continues_run, screening, one_core, ends, fresh_data, hot_seconds, tool_seconds,         \
        small_groups, cache, count_above, energy, steps, read_code, builds_ahead, limits, largest_groups, judge,   \
        name_limit
    auto& [CLLAB_FIELDS] = settings;
    const auto each = [&](auto&... field) { (visit(field), ...); };
    each(CLLAB_FIELDS);
#undef CLLAB_FIELDS
}

}  // namespace cllab::run

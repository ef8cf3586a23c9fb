// VERIFY -> MEASURE -> DUMP, cell by cell and round by round. Tells an observer; never prints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "device/session.hpp"
#include "model/limits.hpp"
#include "model/plan.hpp"
#include "model/result.hpp"
#include "run/cache_state.hpp"

namespace cllab::run {

struct Options {
    std::uint64_t seed = 1;               ///< of the first verification's inputs; the second uses seed + 1
    bool measure = true;                  ///< false: build, verify once, dump
    double sampling_seconds = 0.4;        ///< cap of a cell's sampling
    double warm_seconds = 0;              ///< least warm-up of a cell; 0: by device type, long enough from a cold start
    std::string build_options;            ///< appended to every build, e.g. -cl-opt-disable
    std::filesystem::path cl_dir;         ///< kernel text from disk; empty: the text embedded in the program
    std::optional<std::filesystem::path> dumps;  ///< root of the dumps; nothing: no dumps
    std::map<std::string, model::Loaded> files;  ///< --input
    std::set<std::string> pictures;       ///< names wanted by --output
    std::vector<std::string> argv;        ///< for the record
    model::RunInfo run;                   ///< for the record; seed and order are filled in
    /// The plan is one arrangement of a comparison (method rule 15): order of preparation, turns and placement are drawn from
    /// `seed`, alike buffers are shared, each cell is proved once and sampled in whole rounds for about sampling_seconds.
    bool arrangement = false;
    double tool_seconds = 30;             ///< of all disassemblers of a cell together
    Cache cache = Cache::hot;             ///< state of the caches before each operation, the yardstick's included
    std::optional<model::Limits> limits;  ///< of this device's profile, where there is one
    /// A warning about a record whose time is known, or nothing. `one_launch`: it is that of a single launch by the event clock.
    std::function<std::optional<std::string>(const model::Record&, bool one_launch)> judge;
    std::optional<model::Cell> yardstick; ///< the copy that `of copy` is against, with an axis "size"; nothing: no `of copy`
    std::set<std::pair<std::size_t, std::size_t>> skip;  ///< cells (group, index) finished by an earlier process
};

class Observer {
public:
    virtual ~Observer() = default;
    /// A cell enters a phase ("build", "verify", "warm up", "sample", "dump"). `so_far` names the cell and device.
    virtual void begin(std::size_t group, std::size_t index, const model::Record& so_far, const char* phase) = 0;
    virtual void done(std::size_t group, std::size_t index, const model::Record& record) = 0;
    virtual void picture(const std::string& name, std::size_t width, std::size_t height, const model::Bytes& grey) = 0;
    /// Asked between samples and cells; true ends the run with Interrupted.
    virtual bool cancelled() = 0;
};

struct Interrupted {};

/// Runs the plan on one device. Cells fail alone; an Error of Blame::usage or ::environment passes through.
void execute(device::Session& session, const std::vector<model::Group>& plan, const Options& options, Observer& observer);

const model::HostInfo& this_host();

/// The folder of a cell's dump below `root`: <device>/<family_variant>[/<varying axes>]. That of the device is made: see
/// inspect::claim_device_folder.
std::filesystem::path dump_folder(const std::filesystem::path& root, const model::Device& device, const model::Cell& cell);

}  // namespace cllab::run

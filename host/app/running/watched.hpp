// What a run under --watch is compared with, and what it says of itself for the next one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/choose/choice.hpp"
#include "app/processes/warm_pool.hpp"
#include "app/running/run_plan.hpp"
#include "model/plan.hpp"

namespace cllab::app {

/// What the runs of one watch know of those before, and of each other.
struct Watched {
    WarmPool& pool;
    Snapshots files{};                          ///< the version that was saved and the one before
    AskDevice ask{};                            ///< of their builds
    std::vector<model::Introspection> found{};  ///< what it said last
    /// By key_of: the last right version of a cell.
    std::map<std::string, std::shared_ptr<const model::StoredBuild>> before{};
    std::map<std::string, model::BuildInfo> right{};  ///< by key_of: the cells of the last run that are
    std::function<bool()> superseded{};               ///< another version was saved while this one is compared

    static std::string key_of(const model::Cell& cell) { return cell.id + "\n" + cell.label; }
};

/// Kernels whose builds every process has ready, so that its memory stays that of a few programs.
inline constexpr std::size_t most_rehearsed = 4;

/// The first of the runs that a watch is made of, and one that follows a save: somebody waits for it.
RunOptions single_run(RunOptions invocation);
RunOptions quick(RunOptions invocation);
WarmPool warm_pool_for(const RunOptions& invocation);
/// What the next save will run, as far as it is known before: the version that it will be compared with, and that one's
/// control.
Message rehearsal_of(const Choice& choice, const RunOptions& invocation, const Watched& watched);
/// One run of a watch, with the version before beside each cell that has one. `runner`: the pool, but in tests. Returns
/// the exit status.
int run_watched(const RunOptions& one, Watched& watched, Runner& runner);

}  // namespace cllab::app

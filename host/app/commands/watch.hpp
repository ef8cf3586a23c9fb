// What a run under --watch is compared with, and what it says of itself for the next one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/choose/choice.hpp"
#include "app/processes/prepared.hpp"
#include "model/plan.hpp"

namespace cllab::app {

struct Watched {
    /// How a cell of a family was built that was right.
    struct Built {
        std::string family, sha256, options;
    };

    Prepared& prepared;
    Snapshots files{};                          ///< the version that was saved and the one before
    AskDevice ask{};                            ///< of their builds
    std::vector<model::Introspection> found{};  ///< what it said last
    std::map<std::string, std::shared_ptr<const model::StoredBuild>>
        before{};                          ///< by key_of: the last right version of a cell
    std::map<std::string, Built> built{};  ///< filled by the run: its cells that are right
    std::function<bool()> superseded{};    ///< another version was saved while this one is compared

    static std::string key_of(const model::Cell& cell) { return cell.id + "\n" + cell.label; }
};

/// The request of the invocation, with the version before beside each cell that has one in `before`.
run::RunRequest watched_request(const Choice& choice, const RunOptions& invocation,
                                const std::map<std::string, std::shared_ptr<const model::StoredBuild>>& before);

/// What it takes to make the request of one save again where the watching invocation is known.
Message recipe_of(const RunOptions& invocation, const Watched& watched);
run::RunRequest request_of_recipe(const Message& recipe, RunOptions watching, const model::Device& device);

}  // namespace cllab::app

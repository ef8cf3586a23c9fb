// What a run under --watch is compared with, and what it says of itself for the next one.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "app/choice.hpp"
#include "model/plan.hpp"

namespace cllab::app {

struct Watched {
    /// How a cell of a family was built that was right.
    struct Built {
        std::string family, sha256, options;
    };

    std::map<std::string, Earlier> files;  ///< as Choice takes them
    std::map<std::string, std::shared_ptr<const model::StoredBuild>> before;  ///< by key_of: the last right version of a cell
    std::map<std::string, Built> built;    ///< filled by the run: its cells that are right

    static std::string key_of(const model::Cell& cell) { return cell.id + "\n" + cell.label; }
};

}  // namespace cllab::app

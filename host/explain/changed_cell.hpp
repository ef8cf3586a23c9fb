// A cell with one thing changed that no axis changes: fewer groups resident, half of the work-items, more arithmetic.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "model/device.hpp"
#include "model/plan.hpp"
#include "model/result.hpp"

namespace cllab::explain {

/// The cell as it is.
struct Unchanged {
    const model::Cell& cell;
    const model::Record& record;  ///< ok and timed
    const model::Device& device;
    model::Setup setup;
    model::StoredBuild built;

    /// Waves of a kernel with the record's code that a unit holds when each group has so many bytes of local memory
    /// more; 0: not known.
    unsigned waves(const model::Record& code, std::size_t more_local_bytes = 0) const;
};

struct ChangedCell {
    model::Cell cell;
    std::shared_ptr<const model::Experiment> experiment{};  ///< the cell's, where it is none of the lab's
};

/// How many waves one unit holds without a ballast and with it, and the bytes of it.
struct Residency {
    unsigned before = 0, after = 0;
    std::size_t bytes = 0;
};
/// The least local memory that no group uses with which a unit holds at most three quarters of the waves, where so many
/// groups wait that this matters; else why there is none.
std::variant<Residency, std::string> plan_ballast(const Unchanged& of);
/// The cell whose groups ask for so many bytes that they do not use: nobody's text has a parameter for that, so the
/// kernel gets one behind its own. That the machine code stayed as it was is seen where it has the same registers.
/// Nothing where a group cannot have them, where an operation is more than one launch, or the kernel is not found in
/// its text, or that is CUDA C++.
std::optional<ChangedCell> with_ballast(const Unchanged& of, std::size_t bytes);

struct HalfItems {
    ChangedCell changed;
    model::WorkInfo work;          ///< what is left of the record's
    double before = 0, after = 0;  ///< work-items
};
/// The first half of the groups along the last dimension that has two or more: each work-item takes as long, and there
/// are half of them; else why there is no such cell. Text that asks how many work-items there are shares the same work
/// out among fewer. Where so few groups are left that a unit may have none, less work takes as long.
std::variant<HalfItems, std::string> half_of_items(const Unchanged& of);

/// `operations` multiply-adds more for each work-item, a multiple of 4, in front of what it does. A kernel that waits
/// for memory does them meanwhile, and one that arithmetic limits takes as much longer as they take. They are
/// straight-line text, because a loop would keep compilers for CPUs from making vectors of work-items, and each
/// work-item begins with another value, because what is equal for all is done once. What they lead to decides a store
/// that never happens, by a value that no compiler knows. Nothing where the time is that of a step, and as
/// with_ballast.
std::optional<ChangedCell> with_arithmetic(const Unchanged& of, unsigned operations);

}  // namespace cllab::explain

// A cell with multiply-adds that nothing else needs, in front of what each work-item does.
//
// A kernel that waits for memory does them meanwhile, and one that arithmetic limits takes as much longer as they take.
// They are straight-line text, because a loop would keep compilers for CPUs from making vectors of work-items, and each
// work-item begins with another value, because what is equal for all is done once. What they lead to decides a store
// that never happens, by a value that no compiler knows.
#pragma once

#include <optional>
#include <string>

#include "app/claims/kernel_text.hpp"

namespace cllab::app {

/// `operations` multiply-adds more for each work-item, a multiple of 4. Nothing where the time is that of a step, and
/// as with_changed_text.
std::optional<ChangedCell> with_arithmetic(const model::Cell& cell, const model::Setup& setup,
                                           const run::Settings& settings, const model::Device& device,
                                           unsigned operations);

/// The parameters and the statements of so many.
std::string arithmetic_parameters();
std::string arithmetic_statements(unsigned operations);

}  // namespace cllab::app

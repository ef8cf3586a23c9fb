// Two cells held against each other over arrangements: a fresh process each, with its own order, placement and inputs.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>

#include "app/runner.hpp"
#include "compare/verdict.hpp"
#include "model/comparison.hpp"

namespace cllab::app {

/// Which side is built once more.
enum class Control { left, right };

/// `left` and `right`: records of the two cells as they ran alone, ok and timed; what they say of the code tells whether it is
/// the same. Arrangements run until the ratio is known to within 0.5 %, at least as many as an interval needs, and for about
/// `seconds` after the first, whose builds the driver keeps. A third cell, one side built once more, is the control.
/// `runner` makes the processes, `settings` are those of the cells; `rules` say what the interval must cover and when it is
/// enough. `progress` gets the comparison so far. Throws run::Interrupted, DeviceLost.
model::Comparison compare_cells(Runner& runner, const run::Settings& settings, const std::string& selector, const model::Group& pair, const model::Record& left,
                                const model::Record& right, double seconds, const std::function<void(const model::Comparison&)>& progress,
                                const compare::Rules& rules = {}, Control control = Control::left);

/// The same text and options but for a name nobody asks for: a program and machine code of its own, as another variant has.
model::Cell control_of(model::Cell cell);

/// A pair of --vs on one device: the two records as they ran together, and the comparison where both are ok and timed.
struct Pair {
    model::Record left, right;
    std::optional<model::Comparison> comparison{};
};

/// The comparison in words, then the code of both sides where both were dumped.
void print_pair(std::ostream& out, const Pair& pair, bool colour);

}  // namespace cllab::app

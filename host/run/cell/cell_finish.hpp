// Functions that fill the record of a sampled cell; finish() calls them in this order.
#pragma once

#include "run/cell/cell_sampling.hpp"

namespace cllab::run {

/// cell_metrics.cpp. Fills the time and its metrics; false: the cell has none. A step indistinguishable from zero has a
/// time and no rates.
bool fill_metrics(CellState& state, Sampling& sampling);
/// Fills the times of an operation's parts, of the gaps between them, and of the whole, from an event per command.
void fill_parts(CellState& state, const Sampling& sampling);
void time_transfers(CellState& state);
/// Records the largest errors that the tolerance allowed, over all checks.
void say_errors(CellState& state);

/// cell_warnings.cpp. Adds the warnings that any cell with a time may have.
void say_conditions(CellState& state, const Sampling& sampling);

}  // namespace cllab::run

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

/// cell_pictures.cpp
void observe(CellState& state);
/// The bright pixels of the picture, as it was last read back and found right.
void count_above(CellState& state);

/// cell_proof.cpp. Rule 1 (host/README.md): verifies once more after timing. Checks the output of the timed operations
/// first, then whether each operation does its work.
bool proved_after(CellState& state);
/// Checks by the time that the work is done, where the code could not be counted.
void check_line(CellState& state, unsigned operations);
/// Records how far the checks prove the result. Where variants are checked against each other, only the whole
/// comparison knows.
void say_proof(CellState& state);

}  // namespace cllab::run

// What fills the record of a sampled cell; finish() calls it in this order.
#pragma once

#include "run/cell/cell_sampling.hpp"

namespace cllab::run {

/// cell_metrics.cpp. The time with its metrics; false: the cell has none. What cannot be told from nothing has a time
/// and no rates.
bool fill_metrics(CellState& state, Sampling& sampling);
/// What the parts of an operation take, what lies between them, and the whole with an event for each.
void fill_parts(CellState& state, const Sampling& sampling);
void time_transfers(CellState& state);
/// What a tolerance let pass: as far from the expected result as any was, at any time.
void say_errors(CellState& state);

/// cell_warnings.cpp. Of every cell that has a time, whatever it is.
void say_conditions(CellState& state, const Sampling& sampling);

/// cell_pictures.cpp
void observe(CellState& state);
/// The bright pixels of the picture, as it was last read back and found right.
void count_above(CellState& state);

/// cell_proof.cpp. rule 1 of host/README.md: once more after timing. First what the timed operations have left, then
/// whether each does its work.
bool proved_after(CellState& state);
/// That the work is there by the time, where no code could be counted.
void check_line(CellState& state, unsigned operations);
/// What the checks amount to, which only the whole comparison knows where its variants are held against each other.
void say_proof(CellState& state);

}  // namespace cllab::run

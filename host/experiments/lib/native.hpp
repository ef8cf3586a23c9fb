// The hand-written C++ that --native compares with pitch's kernels: a good engineer's first version, left to the
// compiler's vectorizer, on one thread or on one per core. It is compiled for several instruction sets, and the best
// one of this processor runs, as with -O3 -march=native on the machine itself. The record names it. It is not the
// reference: its results are checked like those of the kernels.
#pragma once

#include <vector>

#include "model/experiment.hpp"

namespace cllab::model::native {

/// Experiment::native: the fixed-point comparison on one thread, `native`, and on one thread per core, `native_all`.
std::vector<Variant> pitch_loops();

}  // namespace cllab::model::native

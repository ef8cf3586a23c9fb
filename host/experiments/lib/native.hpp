// The hand-written C++ that --native puts beside the kernels of pitch: what a good engineer writes first and leaves to
// the compiler's vectorizer, on one thread or on one per core. It is compiled for several instruction sets, and the
// best that this processor has is taken, as with -O3 -march=native on the machine itself; the record says which. Not a
// reference: the results are held against the same one as those of the kernels.
#pragma once

#include <vector>

#include "model/experiment.hpp"

namespace cllab::model::native {

/// Experiment::native: the fixed-point comparison on one thread, `native`, and on a thread for each core, `native_all`.
std::vector<Variant> pitch_loops();

}  // namespace cllab::model::native

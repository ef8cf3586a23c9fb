// The hand-written C++ that --native puts beside the kernels of a family: what a good engineer writes first and leaves
// to the compiler's vectorizer, on one thread or on one per core. Each loop is compiled for several instruction sets,
// and the best that this processor has is taken, as with -O3 -march=native on the machine itself; the record says
// which. Not references: the results are held against the same ones as those of the kernels.
#pragma once

#include <string>
#include <vector>

#include "model/experiment.hpp"

namespace cllab::model::native {

/// One operation of a family's kernels at the point, by `threads` >= 1, of which the caller's is one.
using Loop = void (*)(const HostMemory& memory, const Point& point, unsigned threads);

/// Experiment::native of a family: the loop on one thread, `native`, and on a thread for each core, `native_all`.
/// like: the variant whose arguments, work and check it has. meaning: one sentence without a full stop.
std::vector<Variant> loops(const std::string& like, const std::string& meaning, Loop loop);

void saxpy(const HostMemory& memory, const Point& point, unsigned threads);
void reduce(const HostMemory& memory, const Point& point, unsigned threads);
void gemm(const HostMemory& memory, const Point& point, unsigned threads);
/// The fixed-point comparison. Writes the region of dst and nothing else.
void pitch(const HostMemory& memory, const Point& point, unsigned threads);
void himeno(const HostMemory& memory, const Point& point, unsigned threads);

}  // namespace cllab::model::native

// Splits the time of a CPU's kernel into execution and access to data, by a measurement on one core.
//
// The kernel runs on one core twice, in turns. Once each buffer has pages of its own. Once all pages of a buffer are the
// same few pages of memory, so that every access hits the nearest caches. The instructions are the same. The second time
// is what the core needs to execute them. The difference is what the farther caches and memory add. A run on one core
// needs no division of repeated pages among cores, which would take them from each other.
#pragma once

#include "explain/bounds.hpp"

namespace cllab::explain {

/// Times of a cell on one core: with Pages::separate and with Pages::repeated.
struct OneCoreTimes {
    Timing separate, repeated;
    unsigned threads = 1;  ///< hardware threads of the core
};

/// Adds the bounds "execution" and "access" and decides the limiter again. Leaves `out` as it is, with a reason, if the
/// time on one core is not the time on all cores multiplied by their number.
void split_on_one_core(const Record& record, const Limits& limits, const OneCoreTimes& times, Explanation& out);

}  // namespace cllab::explain

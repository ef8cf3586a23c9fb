// Splits the time of a CPU's kernel into execution, access to data, and effects of the data's values, by a measurement
// on one core.
//
// The kernel runs on one core in three forms, alternately. The first is the kernel as it is. In the second, each buffer
// repeats a few KiB of its data, in small pages. In the third, these few KiB are also the only memory behind all
// pages of the buffer, so that every access hits the nearest caches. The third time is what the core needs to execute
// the instructions. The second is longer by what the farther caches and memory add. The first is longer by what depends
// on the values: addresses, and branches that the core predicts wrongly. If the second is longer than the first, small
// pages cost time, and access is the first minus the third. If the third is longer than the second, the processor is
// slow where many addresses share a page. The second is then what execution takes at most. The kernel runs on one core,
// because several cores would contend for the repeated pages.
#pragma once

#include "explain/bounds.hpp"

namespace cllab::explain {

/// Times of a cell on one core: as it is, with Pages::separate, and with Pages::repeated.
struct OneCoreTimes {
    Timing own, separate, repeated;
    unsigned threads = 1;  ///< hardware threads of the core
};

/// Adds the bounds "execution", "access" and "values", and "shared" for what the cores cost each other or for idle
/// cores. They add up to about the time. Then decides the limiter again. If the times on one core contradict each
/// other, or if `time on one core / cores` exceeds `like_one_core` times the time on all cores, only records the
/// reason.
void split_on_one_core(const Record& record, const Limits& limits, const OneCoreTimes& times, Explanation& out);

}  // namespace cllab::explain

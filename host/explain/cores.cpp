#include "explain/cores.hpp"

#include "core/units.hpp"
#include "explain/limiter.hpp"
#include "explain/place.hpp"

namespace cllab::explain {

double available_share(const model::Record& record, double parallel) {
    const double share = is_gpu(record) ? 1 : record.time->share_of(parallel);
    return share < 1 / alike ? share : 1;
}

model::Bound on_available_cores(model::Bound bound, const model::Record& record, double parallel, double already) {
    const double share = available_share(record, parallel);
    if (already * share >= 1) return bound;
    for (double* seconds : {&bound.seconds, &bound.low, &bound.high}) *seconds /= already * share;
    bound.how += ", on " + format_significant(share * parallel, 3) + " of " + format_exact(parallel) +
                 (parallel > 1 ? " cores" : " core") + ": others had the rest";
    return bound;
}

}  // namespace cllab::explain

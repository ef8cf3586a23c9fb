#include "model/rankable.hpp"

#include <algorithm>

namespace cllab::model {

double usable_cores(const Timing& time, double groups, unsigned of_host) {
    double out = time.cores > 0 ? time.cores + std::max(0.0, time.waited) : 0;
    if (of_host > 0) out = std::min<double>(out, of_host);
    return groups > 0 ? std::min(out, groups) : out;
}

double cores_share(const Record& record) {
    if (!record.time) return 1;
    return record.time->share_of(usable_cores(*record.time, record.work.groups, record.host.threads));
}

std::optional<Turns> turns_of(const Record& record) {
    if (record.schema < 2 || !record.time) return std::nullopt;
    return Turns{record.run.id, record.run.order.comparison, record.time->batch};
}

}  // namespace cllab::model

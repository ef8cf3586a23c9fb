#include "model/result.hpp"

#include "core/text.hpp"
#include "model/rankable.hpp"

namespace cllab::model {

bool is_failure(Status status) { return status != Status::ok && status != Status::unsupported; }

std::string device_key(const Record& record) {
    const auto& d = record.device;
    std::vector<std::string> parts{d.platform, d.name, d.driver, d.identity};
    // A CPU's UUID is made up by its driver, often the same on every machine of a kind.
    const bool named_anywhere = d.type == "gpu" && d.identity.rfind("UUID ", 0) == 0;
    if (!named_anywhere) parts.push_back(record.host.name);
    if (d.identity.empty()) parts.push_back(d.selector.substr(d.selector.find(':') + 1));
    return join(parts, "\n");
}

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

#include "report/records/device_key.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace cllab::report {

bool several_hosts(const model::Rows& records) {
    return std::ranges::any_of(records,
                               [&](const auto* record) { return record->host.name != records.front()->host.name; });
}

std::string device_details(const model::DeviceInfo& device, const std::string& host) {
    return printable(" (" + device.selector + "), " + device.platform + ", driver " + device.driver +
                     (host.empty() ? "" : " on " + host));
}

std::map<std::string, std::string> labels_of_several_devices(const std::vector<model::Record>& records) {
    const bool hosts = several_hosts(records);
    std::map<std::string, std::string> out;
    for (const auto& r : records) {
        auto& label = out[model::device_key(r)];
        if (label.empty()) label = printable(r.device.name) + device_details(r.device, hosts ? r.host.name : "");
    }
    if (out.size() < 2) out.clear();
    return out;
}

}  // namespace cllab::report

#include "report/device_key.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace cllab::report {

std::string device_key(const model::Record& record) {
    const auto& d = record.device;
    std::vector<std::string> parts{d.platform, d.name, d.driver, d.identity};
    // A CPU's UUID is made up by its driver, often the same on every machine of a kind.
    const bool named_anywhere = d.type == "gpu" && d.identity.rfind("UUID ", 0) == 0;
    if (!named_anywhere) parts.push_back(record.host.name);
    if (d.identity.empty()) parts.push_back(d.selector.substr(d.selector.find(':') + 1));
    return join(parts, "\n");
}

bool several_hosts(const std::vector<model::Record>& records) {
    return std::any_of(records.begin(), records.end(),
                       [&](const auto& record) { return record.host.name != records.front().host.name; });
}

std::string device_details(const model::DeviceInfo& device, const std::string& host) {
    return printable(" (" + device.selector + "), " + device.platform + ", driver " + device.driver + (host.empty() ? "" : " on " + host));
}

}  // namespace cllab::report

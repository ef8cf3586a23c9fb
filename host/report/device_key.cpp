#include "report/device_key.hpp"

#include "core/text.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace cllab::report {

bool several_hosts(const std::vector<model::Record>& records) {
    return std::any_of(records.begin(), records.end(),
                       [&](const auto& record) { return record.host.name != records.front().host.name; });
}

std::string device_details(const model::DeviceInfo& device, const std::string& host) {
    return printable(" (" + device.selector + "), " + device.platform + ", driver " + device.driver + (host.empty() ? "" : " on " + host));
}

}  // namespace cllab::report

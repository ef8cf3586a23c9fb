#include "report/records/json.hpp"

#include "json/write_fields.hpp"
#include "model/count_fields.hpp"
#include "report/records/json_point.hpp"

namespace cllab::report {
namespace {

using Json = nlohmann::ordered_json;  // keys stay in the order of the list, metrics in display order

// Build logs hold whatever bytes a driver prints: what is not UTF-8 becomes U+FFFD, never an exception.
std::string text(const model::Record& record, int indent) {
    Json j{{"schema", record.schema}};
    j.update(fields_json<Json>(record));
    return j.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Json point_json(const std::vector<std::pair<std::string, std::string>>& point) { return point_object<Json>(point); }

Json device_json(const model::DeviceInfo& device) {
    return {{"platform", device.platform},
            {"name", device.name},
            {"driver", device.driver},
            {"selector", device.selector},
            {"identity", device.identity}};
}

Json line_of(const char* record, const std::string& id, const std::vector<std::pair<std::string, std::string>>& point,
             const model::DeviceInfo& device) {
    return {{"schema", model::schema_version},
            {"record", record},
            {"id", id},
            {"point", point_json(point)},
            {"device", device_json(device)}};
}

std::string line_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string to_json_line(const model::Record& record) { return text(record, -1); }

std::string to_json_pretty(const model::Record& record) { return text(record, 2); }

std::string counts_json(const model::Counts& counts) {
    Json out{{"record", "counts"}};
    out.update(fields_json<Json>(counts));
    return line_text(out);
}

}  // namespace cllab::report

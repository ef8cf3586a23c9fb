#include "report/table/counters.hpp"

#include <nlohmann/json.hpp>

#include "report/records/json_point.hpp"

namespace cllab::report {

std::string counters_json(const model::Counted& c) {
    nlohmann::ordered_json out{{"schema", model::schema_version},
                               {"record", "counters"},
                               {"id", c.id},
                               {"point", point_json(c.point)},
                               {"device", device_json(c.device)},
                               {"opencl_seconds", c.opencl_seconds},
                               {"cuda_seconds", c.cuda_seconds},
                               {"counters", nlohmann::ordered_json::object()}};
    for (const auto& counter : c.counters)
        out["counters"][counter.name] = {{"value", counter.value}, {"unit", counter.unit}};
    return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace cllab::report

#include "report/table/counters.hpp"

#include <nlohmann/json.hpp>

#include "report/records/json_point.hpp"

namespace cllab::report {

std::string counters_json(const model::Counted& c) {
    auto out = line_of("counters", c.id, c.point, c.device);
    out.update({{"opencl_seconds", c.opencl_seconds},
                {"cuda_seconds", c.cuda_seconds},
                {"counters", nlohmann::ordered_json::object()}});
    for (const auto& counter : c.counters)
        out["counters"][counter.name] = {{"value", counter.value}, {"unit", counter.unit}};
    return line_text(out);
}

}  // namespace cllab::report

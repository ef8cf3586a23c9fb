#include <cmath>
#include <nlohmann/json.hpp>

#include "core/table.hpp"
#include "report/records/device_key.hpp"
#include "report/records/exports.hpp"
#include "report/records/json_point.hpp"

namespace cllab::report {
namespace {

using Json = nlohmann::ordered_json;
using model::Status;

constexpr double ms = 1e3;

constexpr Entry<Status, const char*> invalidity[] = {
    {Status::ok, "correct"},        {Status::build_failed, "compile"},     {Status::launch_failed, "runtime"},
    {Status::timed_out, "timeout"}, {Status::wrong_result, "correctness"}, {Status::unsupported, "constraints"}};

Json times(const model::Record& r) {
    const auto spent = [&](std::initializer_list<Phase> phases) {
        double seconds = 0;
        for (const auto phase : phases)
            if (const auto found = r.phases.find(phase); found != r.phases.end()) seconds += found->second;
        return seconds * ms;
    };
    const double benchmark = spent({Phase::sampling}),
                 validation = spent({Phase::verify, Phase::download, Phase::host_reference});
    const double compilation = r.build.seconds * ms;
    // The schema has compilation_time, Kernel Tuner writes and reads compilation and benchmark.
    Json out{{"compilation_time", compilation},
             {"compilation", compilation},
             {"benchmark", benchmark},
             {"framework", total(r.phases) * ms - spent({Phase::build}) - benchmark - validation},
             {"search_algorithm", 0},
             {"validation", validation},
             {"runtimes", Json::array()}};
    for (const double seconds : r.samples) out["runtimes"].push_back(seconds * ms);
    return out;
}

Json measurements(const model::Record& r) {
    Json out = Json::array();
    if (r.time) out.push_back({{"name", "time"}, {"value", r.time->median * ms}, {"unit", "ms"}});
    for (const auto& [name, metric] : r.metrics)
        if (std::isfinite(metric.value))
            out.push_back({{"name", name}, {"value", metric.value}, {"unit", metric.unit}});
    return out;
}

}  // namespace

void export_t4(const std::vector<model::Record>& records, const Lines& out) {
    const auto labels = labels_of_several_devices(records);
    out(R"({"schema_version": "1.0.0", "metadata": {"timeunit": "milliseconds"}, "results": [)");
    std::string comma;
    for (const auto& r : records) {
        Json configuration = Json::object();
        configuration["kernel"] = r.id;
        if (const auto label = labels.find(model::device_key(r)); label != labels.end())
            configuration["device"] = label->second;
        configuration.update(point_json(r.point));
        const Json result{{"timestamp", r.utc},
                          {"configuration", configuration},
                          {"times", times(r)},
                          {"invalidity", value_of(invalidity, r.status)},
                          {"correctness", r.status == Status::wrong_result ? 0 : 1},
                          {"measurements", measurements(r)},
                          {"objectives", Json::array({"time"})}};
        out(comma + line_text(result));
        comma = ",";
    }
    out("]}");
}

}  // namespace cllab::report

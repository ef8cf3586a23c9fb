#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/text.hpp"
#include "report/records/device_key.hpp"
#include "report/records/exports.hpp"
#include "report/records/json_point.hpp"

namespace cllab::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr double ns = 1e9;

struct Aggregate {
    const char *name, *unit;
    double value;
};

/// As google/benchmark computes them; without samples, in a record that was shortened, the median alone.
std::vector<Aggregate> aggregates(const model::Record& r) {
    const auto& x = r.samples;
    if (x.empty()) return {{"median", "time", r.time->median}};
    const auto n = static_cast<double>(x.size());
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
    double squares = 0;
    for (const double sample : x) squares += (sample - mean) * (sample - mean);
    const double deviation = x.size() > 1 ? std::sqrt(squares / (n - 1)) : 0;
    return {{"mean", "time", mean},
            {"median", "time", r.time->median},
            {"stddev", "time", deviation},
            {"cv", "percentage", mean != 0 ? deviation / mean : 0}};
}

/// cpu_time is the same as real_time, because readers ask for it and a kernel takes its time on the device.
void put_time(Json& entry, double value) {
    entry.update({{"real_time", value}, {"cpu_time", value}, {"time_unit", "ns"}});
}

/// The headline figures, beside the median that most of them are computed from. A name that the format has is the
/// format's.
void put_metrics(Json& entry, const model::Record& r) {
    for (const auto& [name, metric] : r.metrics) {
        const std::string counter = name == "bandwidth" ? "bytes_per_second" : name;
        if (std::isfinite(metric.value) && !entry.contains(counter)) entry[counter] = metric.value;
    }
}

}  // namespace

void export_google_benchmark(const std::vector<model::Record>& records, const Lines& out) {
    const auto labels = labels_of_several_devices(records);
    const auto& first = records.front();
    const Json context{
        {"date", first.utc},       {"host_name", first.host.name},
        {"executable", "cllab"},   {"num_cpus", first.host.threads},
        {"caches", Json::array()}, {"cpu_time", "the same as real_time, the kernel's time on the device"}};
    out("{\"context\": " + line_text(context) + ",\n\"benchmarks\": [");
    std::map<std::string, std::pair<std::size_t, std::size_t>> families;  // index, and instances so far
    std::string comma;
    for (const auto& r : records) {
        auto& [family, instances] = families.try_emplace(r.id, families.size(), 0).first->second;
        std::string name = r.id;
        for (const auto& [axis, value] : r.point) name += "/" + axis + ":" + value;
        if (const auto label = labels.find(model::device_key(r)); label != labels.end())
            name += "/device:" + label->second;
        const Json common{{"name", name},     {"family_index", family},  {"per_family_instance_index", instances++},
                          {"run_name", name}, {"run_type", "iteration"}, {"repetitions", r.time ? r.time->n : 0},
                          {"threads", 1}};
        const auto put = [&](const Json& entry) {
            out(comma + line_text(entry));
            comma = ",";
        };
        if (!r.time) {
            Json entry = common;
            if (r.status == model::Status::unsupported)
                entry.update({{"skipped", true}, {"skip_message", one_line(r.reason)}});
            else if (r.status != model::Status::ok)
                entry.update({{"error_occurred", true},
                              {"error_message", std::string(model::name(r.status)) + ": " + one_line(r.reason)}});
            else
                entry.update({{"skipped", true}, {"skip_message", "verified, not timed"}});
            entry["iterations"] = 0;
            put_time(entry, 0);
            put(entry);
            continue;
        }
        for (std::size_t i = 0; i < r.samples.size(); ++i) {
            Json entry = common;
            entry.update({{"repetition_index", i}, {"iterations", r.time->per_sample}});
            put_time(entry, r.samples[i] * ns);
            put(entry);
        }
        for (const auto& aggregate : aggregates(r)) {
            Json entry = common;
            entry.update({{"name", name + "_" + aggregate.name},
                          {"run_type", "aggregate"},
                          {"aggregate_name", aggregate.name},
                          {"aggregate_unit", aggregate.unit},
                          {"iterations", r.time->n}});
            put_time(entry, aggregate.unit == std::string("time") ? aggregate.value * ns : aggregate.value);
            if (aggregate.name == std::string("median")) put_metrics(entry, r);
            put(entry);
        }
    }
    out("]}");
}

}  // namespace cllab::report

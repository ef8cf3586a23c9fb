#include "report/records/exports.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "core/grouped.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "report/records/csv.hpp"
#include "report/records/json.hpp"
#include "report/records/points.hpp"

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

/// In nanoseconds, to twelve digits: 119509 and not 119509.00000000001.
double in_ns(double seconds) { return std::stod(format_significant(seconds * 1e9, 12)); }

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

/// The headline figures, beside the median that most of them are computed from. A name that the format has is the
/// format's.
void put_metrics(Json& entry, const model::Record& r) {
    for (const auto& [name, metric] : r.metrics) {
        const std::string counter = name == "bandwidth" ? "bytes_per_second" : name;
        if (std::isfinite(metric.value) && !entry.contains(counter)) entry[counter] = metric.value;
    }
}

/// Of a cell without a time.
Json reason_of(const model::Record& r) {
    if (r.status == model::Status::ok) return {{"skipped", true}, {"skip_message", "verified, not timed"}};
    if (r.status == model::Status::unsupported) return {{"skipped", true}, {"skip_message", one_line(r.reason)}};
    return {{"error_occurred", true},
            {"error_message", std::string(model::name(r.status)) + ": " + one_line(r.reason)}};
}

/// What tells devices apart by their keys: name and details where the records are of several devices, else nothing.
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

/// "saxpy_w128/size:1024", with what else tells two times apart: the cache's state, and the device where there are
/// several.
std::string benchmark_name(const model::Record& r, const std::map<std::string, std::string>& labels) {
    auto out = r.id;
    for (const auto& [axis, value] : r.point) out += "/" + axis + ":" + value;
    if (r.time && r.time->cache != "hot") out += "/cache:" + r.time->cache;
    if (const auto label = labels.find(model::device_key(r)); label != labels.end()) out += "/device:" + label->second;
    return out;
}

/// One record per name, in the order of the names' first records: services keep one figure per name and commit. Of
/// several the latest counts; cells without a time are left out.
std::vector<std::pair<std::string, const model::Record*>> latest_timed(const std::vector<model::Record>& records) {
    const auto labels = labels_of_several_devices(records);
    const auto name_of = [&](const model::Record* r) { return benchmark_name(*r, labels); };
    std::vector<std::pair<std::string, const model::Record*>> out;
    for (const auto& runs : grouped(model::rows_of(records, [](const auto& r) { return r.time.has_value(); }), name_of))
        out.emplace_back(name_of(runs.front()), latest_of(runs));
    return out;
}

/// CSV with a row for each sample and a column for each axis, point_<axis>. Cells without samples have no row.
void export_long(const std::vector<model::Record>& records, const Lines& out) {
    std::vector<std::string> axes;
    for (const auto& r : records)
        for (const auto& [axis, value] : r.point) add_once(axes, axis);
    std::vector<std::string> titles{"id", "family", "variant"};
    for (const auto& axis : axes) titles.push_back(csv_text("point_" + axis));
    titles.insert(titles.end(), {"selector", "device", "platform", "driver", "host", "run", "label", "utc", "clock",
                                 "cache", "per_sample", "sample", "round", "time_s"});
    out(csv_line(titles));
    for (const auto& r : records) {
        if (!r.time || r.samples.empty()) continue;
        std::vector<std::string> fields{csv_text(r.id), csv_text(r.family), csv_text(r.variant)};
        for (const auto& axis : axes) {
            const auto& value = value_at(r.point, axis);
            fields.push_back(parse_real(value) ? value : csv_text(value));  // the sign that begins one is no formula
        }
        for (const auto& text : {r.device.selector, r.device.name, r.device.platform, r.device.driver, r.host.name,
                                 r.run.id, r.run.label, r.utc, r.time->clock, r.time->cache})
            fields.push_back(csv_text(text));
        fields.push_back(std::to_string(r.time->per_sample));
        const std::string cell = csv_line(fields);
        std::string rows;
        for (std::size_t i = 0; i < r.samples.size(); ++i) {
            const auto round = r.rounds.size() == r.samples.size() ? std::to_string(r.rounds[i]) : std::string();
            rows += (i ? "\n" : "") + cell + "," + csv_line({std::to_string(i), round, csv_number(r.samples[i])});
        }
        out(rows);
    }
}

/// The T4 auto-tuning results format, version 1.0.0, with the keys and the unit (ms) of Kernel Tuner, which reads and
/// writes it.
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

/// The JSON of google/benchmark: each sample a repetition, then mean, median, stddev and cv of them.
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
        const auto name = benchmark_name(r, labels);
        const Json common{{"name", name},     {"family_index", family},  {"per_family_instance_index", instances++},
                          {"run_name", name}, {"run_type", "iteration"}, {"repetitions", r.time ? r.time->n : 0},
                          {"threads", 1}};
        // cpu_time is the same as real_time, because readers ask for it and a kernel takes its time on the device.
        const auto put = [&](const Json& own, std::uint64_t iterations, double time, bool with_metrics = false) {
            Json entry = common;
            entry.update(own);
            entry.update({{"iterations", iterations}, {"real_time", time}, {"cpu_time", time}, {"time_unit", "ns"}});
            if (with_metrics) put_metrics(entry, r);
            out(comma + line_text(entry));
            comma = ",";
        };
        if (!r.time) {
            put(reason_of(r), 0, 0);
            continue;
        }
        for (std::size_t i = 0; i < r.samples.size(); ++i)
            put({{"repetition_index", i}}, r.time->per_sample, in_ns(r.samples[i]));
        for (const auto& aggregate : aggregates(r))
            put({{"name", name + "_" + aggregate.name},
                 {"run_type", "aggregate"},
                 {"aggregate_name", aggregate.name},
                 {"aggregate_unit", aggregate.unit}},
                r.time->n, aggregate.unit == std::string("time") ? in_ns(aggregate.value) : aggregate.value,
                aggregate.name == std::string("median"));
    }
    out("]}");
}

/// A list as github-action-benchmark's `customSmallerIsBetter` reads it: medians in ns, with the wider side of their
/// intervals as the range.
void export_github_action_benchmark(const std::vector<model::Record>& records, const Lines& out) {
    Json all = Json::array();
    for (const auto& [name, r] : latest_timed(records)) {
        const auto& time = *r->time;
        Json entry{{"name", name}, {"unit", "ns"}, {"value", in_ns(time.median)}};
        if (time.has_interval())
            entry["range"] =
                "± " + format_significant(in_ns(std::max(time.high - time.median, time.median - time.low)), 4);
        entry["extra"] = one_line(r->device.name) + "\n" + std::to_string(time.n) + " samples";
        all.push_back(std::move(entry));
    }
    out(all.dump(2, ' ', false, Json::error_handler_t::replace));
}

/// The Bencher Metric Format: `latency` in ns, the median with its interval.
void export_bencher(const std::vector<model::Record>& records, const Lines& out) {
    Json all = Json::object();
    for (const auto& [name, r] : latest_timed(records)) {
        const auto& time = *r->time;
        Json latency{{"value", in_ns(time.median)}};
        if (time.has_interval()) latency.update({{"lower_value", in_ns(time.low)}, {"upper_value", in_ns(time.high)}});
        all[name]["latency"] = std::move(latency);
    }
    out(all.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

const std::array<Export, 5> exports{
    {{"long", "Also writes CSV to OUT with one row per sample, for pandas, polars, DuckDB or R.", export_long},
     {"t4", "Also writes OUT in the T4 format of auto-tuning results, like Kernel Tuner.", export_t4},
     {"google-benchmark", "Also writes OUT in google/benchmark's JSON format, one repetition per sample.",
      export_google_benchmark},
     {"github-action-benchmark",
      "Also writes the medians to OUT for github-action-benchmark, as customSmallerIsBetter.",
      export_github_action_benchmark},
     {"bencher", "Also writes the medians to OUT for bencher.dev, in the Bencher Metric Format.", export_bencher}}};

}  // namespace cllab::report

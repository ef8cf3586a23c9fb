// `cllab why FILE.jsonl`: what limited cells that were measured before, here or elsewhere, by their records.
#include <unistd.h>

#include <algorithm>
#include <map>

#include "app/commands.hpp"
#include "app/files/outputs.hpp"
#include "app/files/profile_file.hpp"
#include "app/screen/streams.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "explain/limiter.hpp"
#include "report/table/explanation.hpp"

namespace cllab::app {
namespace {

/// What a record says of its device; what only a driver says is not known.
model::Device device_of(const model::Record& record) {
    model::Device out;
    out.selector = record.device.selector;
    out.platform = record.device.platform;
    out.name = record.device.name;
    out.vendor = record.device.vendor;
    out.driver = record.device.driver;
    out.identity = record.device.identity;
    out.last_level_bytes = record.device.last_level_bytes;
    out.compute_units = 0;
    for (const auto type : {model::DeviceType::cpu, model::DeviceType::gpu, model::DeviceType::accelerator})
        if (record.device.type == model::name(type)) out.type = type;
    return out;
}

}  // namespace

bool names_records(const std::string& pattern) { return pattern.ends_with(".jsonl") || pattern.ends_with(".json"); }

int why_of_records(const WhyOptions& invocation) {
    if (invocation.test)
        throw Error(Blame::usage,
                    "option '--test' needs kernels to measure; found a file of records, which `why` explains as it is");
    if (const auto other = std::ranges::find_if_not(invocation.patterns, names_records);
        other != invocation.patterns.end())
        throw Error(Blame::usage, "records and kernels cannot stand in one `cllab why`; found '" + *other +
                                      "' beside a file of records");
    Outputs outputs(invocation);
    const auto joined = read_records(invocation.patterns);
    const auto& records = joined.records();
    if (records.empty()) throw Error(Blame::usage, "no record is in '", join(invocation.patterns, "', '"), "'");
    std::map<std::string, model::Limits> limits;  // by the device's key
    for (const auto& record : records) {
        const auto key = model::device_key(record);
        if (limits.count(key)) continue;
        const auto device = device_of(record);
        auto found = read_profiles(invocation.dumps, {device});
        if (found.empty())
            throw Error(Blame::usage,
                        "the profile of '" + excerpt(device.name) + "' is not at '" +
                            profile_path(invocation.dumps, device).string() +
                            "', and without a profile there is no peak to compare with; --dumps says where it is");
        limits[key] = std::move(found.begin()->second);
    }
    outputs.open();
    auto* json = outputs.json();
    const report::TableStyle style{wants_colour(STDOUT_FILENO), page_width(STDOUT_FILENO)};
    std::string device;
    for (const auto& record : records) {
        const auto key = model::device_key(record);
        const auto explanation = explain::explain(record, limits.at(key));
        if (json) json->line(report::explanation_json(record, explanation));
        if (json && json->is_stdout()) continue;
        if (key != device)
            results() << (device.empty() ? "" : "\n") << report::explanation_heading(record, limits.at(key).utc, style);
        device = key;
        results() << '\n' << report::explanation_text(record, explanation, style);
    }
    results().flush();
    return 0;
}

}  // namespace cllab::app

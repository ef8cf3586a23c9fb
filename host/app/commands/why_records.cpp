#include <algorithm>
#include <map>

#include "app/commands.hpp"
#include "app/commands/why.hpp"
#include "app/files/profile_file.hpp"
#include "app/screen/streams.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "explain/advice.hpp"
#include "explain/limiter.hpp"
#include "report/table/explanation.hpp"
#include "report/table/layout.hpp"

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
        if (found.empty()) no_profile(invocation.dumps, device, "--dumps says where it is");
        limits[key] = std::move(found.begin()->second);
    }
    outputs.open();
    Sink sink(outputs.json(), nullptr);
    WhyPage page(sink);
    for (const auto& record : records) {
        const auto& of_device = limits.at(model::device_key(record));
        auto explanation = explain::explain(record, of_device);
        explanation.advice = explain::advice(record, explanation);
        page.add(record, explanation, of_device.utc);
    }
    return 0;
}

void no_profile(const std::string& dumps, const model::Device& device, const std::string& remedy) {
    throw Error(Blame::usage, "the profile of '" + excerpt(device.name) + "' is not at '" +
                                  profile_path(dumps, device).string() +
                                  "', and without a profile there is no peak to compare with; " + remedy);
}

void WhyPage::add(const model::Record& record, const model::Explanation& explanation, const std::string& utc) {
    sink_.line(report::explanation_json(record, explanation));
    if (sink_.uses_stdout()) return;
    if (const auto key = model::device_key(record); key != device_) {
        results() << (device_.empty() ? "" : "\n") << report::explanation_heading(record, utc, style_);
        device_ = key;
    }
    results() << '\n' << report::explanation_text(record, explanation, style_);
    results().flush();
}

void WhyPage::end(const std::string& text) const {
    if (!text.empty() && !sink_.uses_stdout()) results() << '\n' << report::fit(text + "\n", style_.text_width());
}

}  // namespace cllab::app

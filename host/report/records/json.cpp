#include "report/records/json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/text.hpp"
#include "core/units.hpp"
#include "json/hot.hpp"
#include "report/records/json_point.hpp"

namespace cllab::report {
namespace {

constexpr std::size_t most_log_bytes = 1 << 20;  // a record must be read again; the dump's build.log is whole

using Json = nlohmann::ordered_json;  // keys stay in the order of the schema, metrics in display order

void put(Json& object, const char* key, double value) {
    if (std::isfinite(value)) object[key] = value;
}

void put(Json& object, const char* key, const std::optional<std::int64_t>& value) {
    if (value) object[key] = *value;
}

/// What is not finite is left out, with its round. Records of before rounds were kept have none.
void put(Json& object, const char* key, const char* key_of_rounds, const std::vector<double>& samples,
         const std::vector<unsigned>& rounds) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (!std::isfinite(samples[i])) continue;
        object[key].push_back(samples[i]);
        if (rounds.size() == samples.size()) object[key_of_rounds].push_back(rounds[i]);
    }
}

Json point_value(const std::string& text) {
    if (const auto whole = parse_integer(text)) {
        if (std::to_string(*whole) == text) return *whole;
    } else if (const auto real = parse_real(text)) {
        if (Json number = *real; number.dump() == text) return number;
    }
    return text;
}

Json to_json(const model::Timing& t) {
    Json j = Json::object();
    j["unit"] = "s";
    put(j, "median", t.median);
    if (t.has_interval()) {
        put(j, "low", t.low);
        put(j, "high", t.high);
    }
    put(j, "min", t.min);
    put(j, "q1", t.q1);
    put(j, "q3", t.q3);
    put(j, "mad", t.mad);
    j["n"] = t.n;
    j["per_sample"] = t.per_sample;
    j["stop_reason"] = t.stop_reason;
    j["clock"] = t.clock;
    j["cache"] = t.cache;
    j["sets"] = t.sets;
    j["batch"] = t.batch;
    j["references"] = t.references;
    put(j, "reference_spread", t.reference_spread);
    if (t.cores > 0) {
        put(j, "cores", t.cores);
        put(j, "waited", t.waited);
    }
    j["settled"] = t.settled;
    if (t.shared_memory) j["shared_memory"] = true;
    return j;
}

Json to_json(const model::WorkInfo& w) {
    Json j = Json::object();
    for (const auto& [key, value] : {std::pair{"bytes", w.bytes},
                                     {"flops", w.flops},
                                     {"atomics", w.atomics},
                                     {"footprint", w.footprint},
                                     {"groups", w.groups},
                                     {"group", w.group},
                                     {"links", w.links},
                                     {"barriers", w.barriers},
                                     {"local_bytes", w.local_bytes},
                                     {"local_atomics", w.local_atomics},
                                     {"local_addresses", w.local_addresses},
                                     {"instructions", w.instructions}})
        if (value > 0) put(j, key, value);
    if (w.shared) j["shared"] = true;
    if (w.assumed) j["assumed"] = true;
    if (w.read) put(j, "read", *w.read);
    if (w.flops > 0 || w.chain == "multiply_add") j["type"] = w.type;
    if (!w.chain.empty()) j["chain"] = w.chain;
    if (w.launches > 0) j["launches"] = w.launches;
    return j;
}

Json to_json(const model::CodeInfo& code) {
    Json j = Json::object();
    j["kind"] = code.kind;
    put(j, "registers", code.registers);
    put(j, "spills", code.spills);
    put(j, "local_bytes", code.local_bytes);
    put(j, "private_bytes", code.private_bytes);
    put(j, "code_bytes", code.code_bytes);
    if (!code.loop.empty()) j["loop"] = code.loop;
    j["origin"] = code.origin;
    if (!code.fingerprint.empty()) j["fingerprint"] = code.fingerprint;
    return j;
}

Json to_json(const model::Record& r) {
    Json j = Json::object();
    j["schema"] = r.schema;
    j["id"] = r.id;
    j["family"] = r.family;
    j["variant"] = r.variant;
    j["point"] = point_json(r.point);
    j["status"] = model::name(r.status);
    j["reason"] = one_line(r.reason);
    j["device"] = {{"platform", r.device.platform},
                   {"name", r.device.name},
                   {"vendor", r.device.vendor},
                   {"driver", r.device.driver},
                   {"type", r.device.type},
                   {"selector", r.device.selector},
                   {"identity", r.device.identity},
                   {"last_level_bytes", r.device.last_level_bytes},
                   {"last_level_from", r.device.last_level_from}};
    j["metrics"] = Json::object();
    for (const auto& [name, metric] : r.metrics)
        if (std::isfinite(metric.value))
            j["metrics"][name] = {
                {"value", metric.value}, {"unit", metric.unit}, {"better", model::name(metric.better)}};
    if (r.time) j["time"] = to_json(*r.time);
    if (auto work = to_json(r.work); !work.empty()) j["work"] = std::move(work);
    if (!r.limit.empty()) j["limit"] = r.limit;
    if (r.yardstick) {
        j["yardstick"] = {{"bytes", r.yardstick->bytes}};
        put(j["yardstick"], "bandwidth", r.yardstick->bandwidth);
        j["yardstick"]["cache"] = r.yardstick->cache;
        j["yardstick"]["n"] = r.yardstick->n;
    }
    if (r.clocks) {
        j["clocks"] = {{"source", r.clocks->source}};
        put(j["clocks"], "core_mhz_low", r.clocks->core_mhz_low);
        put(j["clocks"], "core_mhz_high", r.clocks->core_mhz_high);
        j["clocks"]["limits"] = r.clocks->limits;
    }
    if (r.above) {
        auto& above = j["above"] = {{"level", r.above->level}, {"pixels", r.above->pixels}};
        for (const char* list : {"x", "y", "value"}) above[list] = Json::array();
        for (const auto& p : r.above->first)
            above["x"].push_back(p.x), above["y"].push_back(p.y), above["value"].push_back(p.value);
    }
    if (!r.time || !r.samples.empty()) j["samples"] = Json::array();  // a record that was shortened stays so
    put(j, "samples", "rounds", r.samples, r.rounds);
    put(j, "aside", "aside_rounds", r.aside, r.aside_rounds);
    if (!r.checked_by.empty()) j["checked_by"] = r.checked_by;
    j["warnings"] = r.warnings;
    j["build"] = {{"options", r.build.options},
                  {"source", r.build.source},
                  {"source_sha256", r.build.source_sha256},
                  {"log", r.build.log.substr(0, most_log_bytes)}};
    put(j["build"], "seconds", r.build.seconds);
    j["build"]["cached"] = r.build.cached;
    if (!r.build.elsewhere.empty()) j["build"]["elsewhere"] = r.build.elsewhere;
    if (!r.launch.empty()) j["launch"] = r.launch;
    j["code"] = to_json(r.code);
    if (r.native)
        j["native"] = {{"threads", r.native->threads},
                       {"compiler", r.native->compiler},
                       {"instruction_set", r.native->instruction_set}};
    if (r.hot) j["hot"] = hot_json<Json>(*r.hot);
    for (const auto& counter : r.counters)
        if (std::isfinite(counter.value))
            j["counters"][counter.name] = {{"value", counter.value}, {"unit", counter.unit}};
    j["dump"] = r.dump;
    for (const auto& [phase, seconds] : r.phases) put(j["phases"], name(phase), seconds);
    j["host"] = {{"name", r.host.name}, {"cpu", r.host.cpu}, {"os", r.host.os}, {"threads", r.host.threads}};
    j["run"] = {{"id", r.run.id}, {"label", r.run.label}};
    if (r.run.seed) j["run"]["seed"] = *r.run.seed;
    j["run"]["order"] = {
        {"comparison", r.run.order.comparison}, {"position", r.run.order.position}, {"prepared", r.run.order.prepared}};
    j["run"]["driver_caches"] = Json(r.run.driver_caches);
    j["utc"] = r.utc;
    j["argv"] = r.argv;
    return j;
}

// Build logs hold whatever bytes a driver prints: what is not UTF-8 becomes U+FFFD, never an exception.
std::string text(const Json& j, int indent) { return j.dump(indent, ' ', false, Json::error_handler_t::replace); }

}  // namespace

Json point_json(const std::vector<std::pair<std::string, std::string>>& point) {
    Json out = Json::object();
    for (const auto& [axis, value] : point) out[axis] = point_value(value);
    return out;
}

Json device_json(const model::DeviceInfo& device) {
    return {{"platform", device.platform},
            {"name", device.name},
            {"driver", device.driver},
            {"selector", device.selector},
            {"identity", device.identity}};
}

std::string to_json_line(const model::Record& record) { return text(to_json(record), -1); }

std::string to_json_pretty(const model::Record& record) { return text(to_json(record), 2); }

}  // namespace cllab::report

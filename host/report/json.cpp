#include "report/json.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/text.hpp"
#include "core/units.hpp"

namespace cllab::report {
namespace {

using Json = nlohmann::ordered_json;  // keys stay in the order of the schema, metrics in display order

// --- Writing ---------------------------------------------------------------------------------------------------------

void put(Json& object, const char* key, double value) {
    if (std::isfinite(value)) object[key] = value;
}

void put(Json& object, const char* key, const std::optional<std::int64_t>& value) {
    if (value) object[key] = *value;
}

/// A point's value as a number where the number is written back as the same text, else as text ("64x4", "linear").
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
    put(j, "low", t.low);
    put(j, "high", t.high);
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
    j["references"] = t.references;
    put(j, "reference_spread", t.reference_spread);
    j["settled"] = t.settled;
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
    j["point"] = Json::object();
    for (const auto& [axis, value] : r.point) j["point"][axis] = point_value(value);
    j["status"] = model::name(r.status);
    j["reason"] = one_line(r.reason);
    j["device"] = {{"platform", r.device.platform}, {"name", r.device.name}, {"vendor", r.device.vendor},
                   {"driver", r.device.driver}, {"type", r.device.type}, {"selector", r.device.selector},
                   {"identity", r.device.identity}, {"last_level_bytes", r.device.last_level_bytes},
                   {"last_level_from", r.device.last_level_from}};
    j["metrics"] = Json::object();
    for (const auto& [name, metric] : r.metrics)
        if (std::isfinite(metric.value))
            j["metrics"][name] = {{"value", metric.value}, {"unit", metric.unit}, {"better", model::name(metric.better)}};
    if (r.time) j["time"] = to_json(*r.time);
    j["samples"] = Json::array();
    for (const double seconds : r.samples)
        if (std::isfinite(seconds)) j["samples"].push_back(seconds);
    for (const double seconds : r.aside)
        if (std::isfinite(seconds)) j["aside"].push_back(seconds);
    j["warnings"] = r.warnings;
    j["build"] = {{"options", r.build.options}, {"source", r.build.source}, {"source_sha256", r.build.source_sha256},
                  {"log", r.build.log}};
    put(j["build"], "seconds", r.build.seconds);
    j["build"]["cached"] = r.build.cached;
    j["code"] = to_json(r.code);
    j["dump"] = r.dump;
    j["host"] = {{"name", r.host.name}, {"cpu", r.host.cpu}, {"os", r.host.os}, {"threads", r.host.threads}};
    j["utc"] = r.utc;
    j["argv"] = r.argv;
    return j;
}

// Build logs hold whatever bytes a driver prints: what is not UTF-8 becomes U+FFFD, never an exception.
std::string text(const Json& j, int indent) { return j.dump(indent, ' ', false, Json::error_handler_t::replace); }

// --- Reading ---------------------------------------------------------------------------------------------------------

[[noreturn]] void damaged(const std::string& what) { throw Error(Blame::usage, "this is not a record: " + what); }

/// One JSON object with its path in the record, for messages ("time.median").
class Reader {
public:
    Reader(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
        if (!object_.is_object()) damaged((path_.empty() ? "the line" : "'" + path_ + "'") + " is not an object");
    }

    const Json* find(const char* key) const {
        const auto it = object_.find(key);
        return it == object_.end() ? nullptr : &*it;
    }
    const Json& need(const char* key) const {
        const Json* found = find(key);
        if (!found) damaged("it has no '" + where(key) + "'");
        return *found;
    }
    /// Missing keys leave the default: a number that was not finite was not written.
    void read(const char* key, std::string& out) const {
        if (const Json* j = typed(key, &Json::is_string, "a text")) out = j->get<std::string>();
    }
    void read(const char* key, bool& out) const {
        if (const Json* j = typed(key, &Json::is_boolean, "true or false")) out = j->get<bool>();
    }
    void read(const char* key, double& out) const {
        if (const Json* j = typed(key, &Json::is_number, "a number")) out = j->get<double>();
    }
    void read(const char* key, unsigned& out) const {
        const Json* j = find(key);
        if (!j) return;
        if (!j->is_number_unsigned() || j->get<std::uint64_t>() > std::numeric_limits<unsigned>::max())
            wrong_type(key, "a whole number from 0 to 2^32-1");
        out = j->get<unsigned>();
    }
    void read(const char* key, std::uint64_t& out) const {
        const Json* j = find(key);
        if (!j) return;
        if (!j->is_number_unsigned()) wrong_type(key, "a whole number from 0 to 2^64-1");
        out = j->get<std::uint64_t>();
    }
    void read(const char* key, std::optional<std::int64_t>& out) const {
        if (const Json* j = typed(key, &Json::is_number_integer, "a whole number")) out = j->get<std::int64_t>();
    }
    void read(const char* key, std::vector<std::string>& out) const {
        const Json* j = typed(key, &Json::is_array, "a list of texts");
        if (!j) return;
        for (const auto& item : *j) {
            if (!item.is_string()) wrong_type(key, "a list of texts");
            out.push_back(item.get<std::string>());
        }
    }
    void read(const char* key, std::vector<double>& out) const {
        const Json* j = typed(key, &Json::is_array, "a list of numbers");
        if (!j) return;
        for (const auto& item : *j) {
            if (!item.is_number()) wrong_type(key, "a list of numbers");
            out.push_back(item.get<double>());
        }
    }
    template <typename T>
    T required(const char* key) const {
        need(key);
        T out{};
        read(key, out);
        return out;
    }
    std::string where(const char* key) const { return path_.empty() ? key : path_ + "." + key; }

private:
    [[noreturn]] void wrong_type(const char* key, const char* expected) const {
        damaged("'" + where(key) + "' is not " + expected);
    }
    const Json* typed(const char* key, bool (Json::*is)() const noexcept, const char* expected) const {
        const Json* j = find(key);
        if (j && !(j->*is)()) wrong_type(key, expected);
        return j;
    }

    const Json& object_;
    std::string path_;
};

model::Timing read_timing(const Reader& r) {
    model::Timing t;
    r.read("median", t.median);
    r.read("low", t.low);
    r.read("high", t.high);
    r.read("min", t.min);
    r.read("q1", t.q1);
    r.read("q3", t.q3);
    r.read("mad", t.mad);
    r.read("n", t.n);
    r.read("per_sample", t.per_sample);
    r.read("stop_reason", t.stop_reason);
    r.read("clock", t.clock);
    r.read("cache", t.cache);
    r.read("sets", t.sets);
    r.read("references", t.references);
    r.read("reference_spread", t.reference_spread);
    r.read("settled", t.settled);
    return t;
}

model::MetricValue read_metric(const Reader& r) {
    model::MetricValue m;
    m.value = r.required<double>("value");
    r.read("unit", m.unit);
    std::string better = model::name(model::Better::neither);
    r.read("better", better);
    for (const auto b : {model::Better::lower, model::Better::higher, model::Better::neither}) {
        if (better != model::name(b)) continue;
        m.better = b;
        return m;
    }
    damaged("'" + r.where("better") + "' is '" + better + "', not one of lower, higher, neither");
}

model::CodeInfo read_code(const Reader& r) {
    model::CodeInfo code;
    r.read("kind", code.kind);
    r.read("registers", code.registers);
    r.read("spills", code.spills);
    r.read("local_bytes", code.local_bytes);
    r.read("private_bytes", code.private_bytes);
    r.read("code_bytes", code.code_bytes);
    r.read("fingerprint", code.fingerprint);
    if (const Json* loop = r.find("loop")) {
        const Reader counts(*loop, "code.loop");
        for (const auto& [what, ignored] : loop->items()) {
            std::optional<std::int64_t> count;
            counts.read(what.c_str(), count);
            if (count) code.loop[what] = *count;
        }
    }
    if (const Json* origin = r.find("origin")) {
        const Reader origins(*origin, "code.origin");
        for (const auto& [fact, from] : origin->items()) origins.read(fact.c_str(), code.origin[fact]);
    }
    return code;
}

model::DeviceInfo read_device(const Reader& r) {
    model::DeviceInfo d;
    r.read("platform", d.platform);
    r.read("name", d.name);
    r.read("vendor", d.vendor);
    r.read("driver", d.driver);
    r.read("type", d.type);
    r.read("selector", d.selector);
    r.read("identity", d.identity);
    r.read("last_level_bytes", d.last_level_bytes);
    r.read("last_level_from", d.last_level_from);
    return d;
}

model::Record read_record(const Reader& r) {
    model::Record record;
    record.schema = model::schema_version;
    record.id = r.required<std::string>("id");
    record.family = r.required<std::string>("family");
    record.variant = r.required<std::string>("variant");
    const Json& point = r.need("point");
    Reader(point, "point");
    for (const auto& [axis, value] : point.items()) {
        if (!value.is_string() && !value.is_number()) damaged("'point." + axis + "' is neither a text nor a number");
        record.point.emplace_back(axis, value.is_string() ? value.get<std::string>() : value.dump());
    }
    const auto status = r.required<std::string>("status");
    const auto known = model::status_from(status);
    if (!known) damaged("the status '" + status + "' is unknown");
    record.status = *known;
    r.read("reason", record.reason);
    record.device = read_device(Reader(r.need("device"), "device"));
    if (const Json* metrics = r.find("metrics")) {
        Reader(*metrics, "metrics");
        for (const auto& [name, metric] : metrics->items())
            record.metrics.emplace_back(name, read_metric(Reader(metric, "metrics." + name)));
    }
    if (const Json* time = r.find("time")) record.time = read_timing(Reader(*time, "time"));
    r.read("samples", record.samples);
    r.read("aside", record.aside);
    r.read("warnings", record.warnings);
    if (const Json* build = r.find("build")) {
        const Reader b(*build, "build");
        b.read("options", record.build.options);
        b.read("source", record.build.source);
        b.read("source_sha256", record.build.source_sha256);
        b.read("log", record.build.log);
        b.read("seconds", record.build.seconds);
        b.read("cached", record.build.cached);
    }
    if (const Json* code = r.find("code")) record.code = read_code(Reader(*code, "code"));
    r.read("dump", record.dump);
    if (const Json* host = r.find("host")) {
        const Reader h(*host, "host");
        h.read("name", record.host.name);
        h.read("cpu", record.host.cpu);
        h.read("os", record.host.os);
        h.read("threads", record.host.threads);
    }
    r.read("utc", record.utc);
    r.read("argv", record.argv);
    return record;
}

}  // namespace

std::string to_json_line(const model::Record& record) { return text(to_json(record), -1); }

std::string to_json_pretty(const model::Record& record) { return text(to_json(record), 2); }

model::Record from_json(std::string_view line) {
    Json j;
    try {
        j = Json::parse(line);
    } catch (const Json::parse_error& e) {
        damaged("its JSON is damaged at byte " + std::to_string(e.byte) + " of " + std::to_string(line.size()));
    } catch (const Json::exception&) {
        damaged("a number in it is too large");
    }
    const Reader reader(j, "");
    const Json& schema = reader.need("schema");
    if (schema != model::schema_version)
        throw Error(Blame::usage, "the record has schema " + text(schema, -1) + "; this build reads schema " +
                                      std::to_string(model::schema_version));
    return read_record(reader);
}

}  // namespace cllab::report

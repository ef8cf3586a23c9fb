#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/error.hpp"
#include "core/text.hpp"
#include "json/read.hpp"
#include "report/records/impossible.hpp"
#include "report/records/json.hpp"

namespace cllab::report {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void damaged(const std::string& what) { throw Error(Blame::usage, "this is not a record: " + what); }

/// One JSON object with its path in the record, for messages ("time.median").
class Reader {
public:
    Reader(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
        if (!object_.is_object())
            damaged((path_.empty() ? "the line" : "'" + excerpt(path_) + "'") + " is not an object");
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
    requires std::is_unsigned_v<T>
    void read(const char* key, std::vector<T>& out) const {
        const Json* j = typed(key, &Json::is_array, "a list of whole numbers");
        if (!j) return;
        for (const auto& item : *j) {
            if (!item.is_number_unsigned() || item.get<std::uint64_t>() > std::numeric_limits<T>::max())
                wrong_type(key, "a list of whole numbers");
            out.push_back(item.get<T>());
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
        damaged("'" + excerpt(where(key)) + "' is not " + expected);
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
    t.median = r.required<double>("median");
    for (const auto& [key, to] :
         {std::pair{"low", &t.low}, {"high", &t.high}, {"min", &t.min}, {"q1", &t.q1}, {"q3", &t.q3}}) {
        *to = t.median;
        r.read(key, *to);
    }
    r.read("mad", t.mad);
    t.n = r.required<unsigned>("n");
    r.read("per_sample", t.per_sample);
    r.read("stop_reason", t.stop_reason);
    r.read("clock", t.clock);
    r.read("cache", t.cache);
    r.read("sets", t.sets);
    r.read("batch", t.batch);
    r.read("references", t.references);
    r.read("reference_spread", t.reference_spread);
    r.read("cores", t.cores);
    r.read("waited", t.waited);
    r.read("settled", t.settled);
    r.read("shared_memory", t.shared_memory);
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
    damaged("'" + r.where("better") + "' is '" + excerpt(better) + "', not one of lower, higher, neither");
}

model::WorkInfo read_work(const Reader& r) {
    model::WorkInfo w;
    for (const auto& [key, to] : {std::pair{"bytes", &w.bytes},
                                  {"flops", &w.flops},
                                  {"atomics", &w.atomics},
                                  {"footprint", &w.footprint},
                                  {"groups", &w.groups},
                                  {"group", &w.group},
                                  {"links", &w.links},
                                  {"barriers", &w.barriers},
                                  {"local_bytes", &w.local_bytes},
                                  {"local_atomics", &w.local_atomics},
                                  {"local_addresses", &w.local_addresses},
                                  {"instructions", &w.instructions}})
        r.read(key, *to);
    r.read("shared", w.shared);
    r.read("assumed", w.assumed);
    if (r.find("read")) r.read("read", w.read.emplace());
    r.read("type", w.type);
    r.read("chain", w.chain);
    r.read("launches", w.launches);
    return w;
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

void read_counts(const Reader& r, const char* key, std::map<std::string, unsigned>& out) {
    const Json* counts = r.find(key);
    if (!counts) return;
    const Reader each(*counts, r.where(key));
    for (const auto& [what, ignored] : counts->items()) each.read(what.c_str(), out[what]);
}

/// Calls `read` with each object of a list.
template <typename Read>
void read_each(const Reader& r, const char* key, Read read) {
    const Json* list = r.find(key);
    if (!list) return;
    if (!list->is_array()) damaged("'" + r.where(key) + "' is not a list");
    for (const auto& item : *list) read(Reader(item, r.where(key)));
}

model::Hot read_hot(const Reader& r) {
    model::Hot hot;
    hot.evidence = r.required<std::string>("evidence");
    const auto possible = {model::Hot::sampled, model::Hot::counted, model::Hot::accounted, model::Hot::unknown};
    if (std::find(possible.begin(), possible.end(), hot.evidence) == possible.end())
        damaged("'" + r.where("evidence") + "' is '" + excerpt(hot.evidence) +
                "', not one of sampled, counted, accounted, unknown");
    r.read("reason", hot.reason);
    r.read("method", hot.method);
    r.read("samples", hot.samples);
    r.read("in_kernel", hot.in_kernel);
    r.read("executed", hot.executed);
    read_counts(r, "elsewhere", hot.elsewhere);
    r.read("code", hot.code);
    read_each(r, "blocks", [&](const Reader& b) {
        auto& block = hot.blocks.emplace_back();
        b.read("function", block.function);
        b.read("begin", block.begin);
        b.read("end", block.end);
        b.read("samples", block.samples);
        b.read("executed", block.executed);
        b.read("share", block.share);
        b.read("instructions", block.instructions);
        read_counts(b, "classes", block.classes);
        read_counts(b, "memory", block.memory);
        b.read("loops", block.loops);
    });
    read_each(r, "loops", [&](const Reader& l) {
        auto& loop = hot.loops.emplace_back();
        l.read("function", loop.function);
        l.read("header", loop.header);
        l.read("depth", loop.depth);
        l.read("own", loop.own);
        l.read("share", loop.share);
        l.read("instructions", loop.instructions);
    });
    if (const Json* found = r.find("models")) {
        const Reader models(*found, r.where("models"));
        auto& m = hot.models.emplace();
        models.read("by", m.by);
        models.read("reason", m.reason);
        read_each(models, "processors", [&](const Reader& p) {
            auto& processor = m.processors.emplace_back();
            p.read("processor", processor.processor);
            p.read("ports", processor.ports);
            p.read("cycles", processor.cycles);
        });
    }
    return hot;
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

model::RunInfo read_run(const Reader& r) {
    model::RunInfo run;
    run.id = r.required<std::string>("id");
    r.read("label", run.label);
    run.seed = r.required<std::uint64_t>("seed");
    const Reader order(r.need("order"), "run.order");
    run.order.comparison = order.required<std::uint64_t>("comparison");
    run.order.position = order.required<std::uint64_t>("position");
    run.order.prepared = order.required<std::uint64_t>("prepared");
    if (const Json* caches = r.find("driver_caches")) {
        const Reader settings(*caches, "run.driver_caches");
        for (const auto& [name, value] : caches->items()) settings.read(name.c_str(), run.driver_caches[name]);
    }
    return run;
}

model::Record read_record(const Reader& r, int schema) {
    model::Record record;
    record.schema = schema;
    record.id = r.required<std::string>("id");
    record.family = r.required<std::string>("family");
    record.variant = r.required<std::string>("variant");
    const Json& point = r.need("point");
    Reader(point, "point");
    for (const auto& [axis, value] : point.items()) {
        if (!value.is_string() && !value.is_number())
            damaged("'point." + excerpt(axis) + "' is neither a text nor a number");
        record.point.emplace_back(axis, value.is_string() ? value.get<std::string>() : value.dump());
    }
    const auto status = r.required<std::string>("status");
    const auto known = model::status_from(status);
    if (!known)
        damaged("the status '" + excerpt(status) +
                "' is unknown; possible are ok, unsupported, build_failed, launch_failed, wrong_result and timed_out");
    record.status = *known;
    r.read("reason", record.reason);
    record.device = read_device(Reader(r.need("device"), "device"));
    if (const Json* metrics = r.find("metrics")) {
        Reader(*metrics, "metrics");
        for (const auto& [name, metric] : metrics->items())
            record.metrics.emplace_back(name, read_metric(Reader(metric, "metrics." + name)));
    }
    if (const Json* time = r.find("time")) record.time = read_timing(Reader(*time, "time"));
    if (const Json* work = r.find("work")) record.work = read_work(Reader(*work, "work"));
    if (const Json* counters = r.find("counters")) {
        Reader(*counters, "counters");
        for (const auto& [name, counter] : counters->items()) {
            const Reader c(counter, "counters." + name);
            auto& read = record.counters.emplace_back(model::Counter{name, "", c.required<double>("value")});
            c.read("unit", read.unit);
        }
    }
    r.read("limit", record.limit);
    if (const Json* copy = r.find("yardstick")) {
        const Reader y(*copy, "yardstick");
        auto& yardstick = record.yardstick.emplace();
        y.read("bytes", yardstick.bytes);
        y.read("bandwidth", yardstick.bandwidth);
        y.read("cache", yardstick.cache);
        y.read("n", yardstick.n);
    }
    if (const Json* read = r.find("clocks")) {
        const Reader c(*read, "clocks");
        auto& clocks = record.clocks.emplace();
        c.read("source", clocks.source);
        c.read("core_mhz_low", clocks.core_mhz_low);
        c.read("core_mhz_high", clocks.core_mhz_high);
        c.read("limits", clocks.limits);
    }
    if (const Json* bright = r.find("above")) {
        const Reader a(*bright, "above");
        auto& above = record.above.emplace();
        a.read("level", above.level);
        a.read("pixels", above.pixels);
        std::vector<unsigned> x, y, value;
        a.read("x", x);
        a.read("y", y);
        a.read("value", value);
        if (x.size() != y.size() || x.size() != value.size())
            damaged("'above' does not hold a column, a row and a grey level for each pixel");
        for (std::size_t i = 0; i < x.size(); ++i) above.first.push_back({x[i], y[i], value[i]});
    }
    r.read("samples", record.samples);
    if (record.time && !record.time->has_interval() && !record.samples.empty()) {
        const auto [least, most] = std::minmax_element(record.samples.begin(), record.samples.end());
        record.time->low = *least;
        record.time->high = *most;
    }
    r.read("aside", record.aside);
    r.read("rounds", record.rounds);
    r.read("aside_rounds", record.aside_rounds);
    r.read("checked_by", record.checked_by);
    r.read("warnings", record.warnings);
    if (const Json* build = r.find("build")) {
        const Reader b(*build, "build");
        b.read("options", record.build.options);
        b.read("source", record.build.source);
        b.read("source_sha256", record.build.source_sha256);
        b.read("log", record.build.log);
        b.read("seconds", record.build.seconds);
        b.read("cached", record.build.cached);
        b.read("elsewhere", record.build.elsewhere);
    }
    r.read("launch", record.launch);
    if (const Json* code = r.find("code")) record.code = read_code(Reader(*code, "code"));
    if (const Json* native = r.find("native")) {
        const Reader n(*native, "native");
        auto& info = record.native.emplace();
        n.read("threads", info.threads);
        n.read("compiler", info.compiler);
        n.read("instruction_set", info.instruction_set);
    }
    if (const Json* hot = r.find("hot")) record.hot = read_hot(Reader(*hot, "hot"));
    r.read("dump", record.dump);
    if (const Json* phases = r.find("phases")) {
        const Reader seconds(*phases, "phases");
        for (const auto phase : all_phases)
            if (seconds.find(name(phase))) seconds.read(name(phase), record.phases[phase]);
    }
    if (const Json* host = r.find("host")) {
        const Reader h(*host, "host");
        h.read("name", record.host.name);
        h.read("cpu", record.host.cpu);
        h.read("os", record.host.os);
        h.read("threads", record.host.threads);
    }
    if (schema >= 2) record.run = read_run(Reader(r.need("run"), "run"));
    r.read("utc", record.utc);
    r.read("argv", record.argv);
    const auto why = impossible(record, r.find("samples") != nullptr);
    if (why) throw Error(Blame::usage, "this record cannot be: " + *why);
    return record;
}

}  // namespace

model::Record from_json(std::string_view line) {
    Json j;
    try {
        j = parse_json<Json>(line);
    } catch (const JsonRefused& e) {
        damaged(std::string("its JSON is ") + e.what());
    }
    const Reader reader(j, "");
    const Json& schema = reader.need("schema");
    if (schema != 1 && schema != model::schema_version)
        throw Error(Blame::usage, "the record has schema " +
                                      excerpt(schema.dump(-1, ' ', false, Json::error_handler_t::replace)) +
                                      "; this build reads schemas 1 and " + std::to_string(model::schema_version));
    return read_record(reader, schema.get<int>());
}

}  // namespace cllab::report

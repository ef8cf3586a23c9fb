// The fields of a record, each once, in the order of its JSON form. The writer, the reader, the columns of CSV and
// tools/record.schema.json use this list. A new field needs a row here, a member in model/result.hpp, and the schema
// that `CLLAB_UPDATE_GOLDEN=1 cllab_unit --run_test='record_schema*'` writes again. A row with a title is a CSV column;
// columns follow the order of the list, and duplicate titles stop the configure step.
#pragma once

#include <string>
#include <vector>

#include "core/text.hpp"
#include "model/fields.hpp"
#include "model/result.hpp"

namespace cllab::model {

inline constexpr const char* positive = R"({"type": "integer", "minimum": 1})";
inline constexpr const char* share_of_one = R"({"minimum": 0, "maximum": 1})";
inline constexpr const char* share_about_one = R"({"minimum": 0, "maximum": 1.001})";

template <class V, Maybe_const<DeviceInfo> T>
void fields(V& v, T& d) {
    v.always("platform", d.platform, {.schema = "name", .title = "platform"});
    v.always("name", d.name, {.schema = "name", .title = "device"});
    v.always("vendor", d.vendor);
    v.always("driver", d.driver, {.title = "driver"});
    v.always("type", d.type);
    v.always("selector", d.selector,
             {.about = "clinfo's indices, P:D.", .schema = R"({"pattern": "^\\d+:\\d+$"})", .title = "selector"});
    v.always("identity", d.identity, {"UUID or PCI address; empty if there is none."});
    v.always("last_level_bytes", d.last_level_bytes);
    v.always("last_level_from", d.last_level_from);
}

template <class V, Maybe_const<MetricValue> T>
void fields(V& v, T& m) {
    v.needed("value", m.value);
    v.always("unit", m.unit);
    v.always("better", m.better);
}

template <class V, Maybe_const<Counter> T>
void fields(V& v, T& c) {
    v.needed("value", c.value);
    v.always("unit", c.unit);
}

template <class V, Maybe_const<Timing> T>
void fields(V& v, T& t) {
    if constexpr (!V::reads) {
        const std::string unit = "s";
        v.always("unit", unit, {.schema = R"({"const": "s"})"});
    }
    v.needed("median", t.median, {.title = "median_s"});
    if constexpr (V::reads) t.low = t.high = t.min = t.q1 = t.q3 = t.median;  // defaults if absent
    v.when(t.has_interval(), "low", t.low, {.title = "low_s"});
    v.when(t.has_interval(), "high", t.high, {.title = "high_s"});
    v.always("min", t.min, {.title = "min_s"});
    v.always("q1", t.q1, {.title = "q1_s"});
    v.always("q3", t.q3, {.title = "q3_s"});
    v.always("mad", t.mad, {.schema = "amount", .title = "mad_s"});
    v.needed("n", t.n, {.schema = positive, .title = "n"});
    v.always("per_sample", t.per_sample, {"Operations in one sample.", positive});
    v.always("stop_reason", t.stop_reason, {.schema = "name"});
    v.always("clock", t.clock, {.schema = R"({"enum": ["event", "host"]})", .title = "clock"});
    v.always("cache", t.cache, {.schema = "cache", .title = "cache"});
    v.always("sets", t.sets, {"Number of buffer sets that operations cycle through.", positive});
    v.always("batch", t.batch, {"Cells of one comparison with the same number were sampled in turns."});
    v.always("references", t.references, {"Timings of the reference kernel around and between the samples."});
    v.when(true, "reference_spread", t.reference_spread, {.schema = "amount"});
    v.when(t.cores > 0, "cores", t.cores,
           {"Average number of CPU cores that the threads of the process used.", R"({"exclusiveMinimum": 0})"});
    v.when(t.cores > 0, "waited", t.waited, {"Average number of runnable threads without a core.", "amount"});
    v.always("settled", t.settled);
    v.if_set("shared_memory", t.shared_memory);
}

template <class V, Maybe_const<WorkInfo> T>
void fields(V& v, T& w) {
    v.if_set("bytes", w.bytes, {.schema = "amount"});
    v.if_set("flops", w.flops, {.schema = "amount"});
    v.if_set("atomics", w.atomics, {.schema = "amount"});
    v.if_set("footprint", w.footprint, {"Bytes of all buffers and images.", "amount"});
    v.if_set("groups", w.groups, {"Work-groups, if there is a single launch.", "amount"});
    v.if_set("group", w.group, {"Work-items in a group of that launch.", "amount"});
    v.if_set("links", w.links, {"Dependent steps of the chain.", "amount"});
    v.if_set("barriers", w.barriers, {"Barriers that each work-item passes.", "amount"});
    v.if_set("local_bytes", w.local_bytes, {"Bytes of local memory, loaded and stored.", "amount"});
    v.if_set("local_atomics", w.local_atomics, {"On local memory.", "amount"});
    v.if_set("local_addresses", w.local_addresses,
             {"Distinct words of a group's local memory that local atomics access.", "amount"});
    v.if_set(
        "instructions", w.instructions,
        {"Executed instructions: those of the hot block, times the passes that the declared bytes need.", "amount"});
    v.if_set("shared", w.shared, {"Each work-group reads the whole footprint."});
    v.if_set("assumed", w.assumed, {"`bytes` assumes that every buffer is accessed once."});
    v.when(true, "read", w.read, {"How many of the bytes are read; absent if unknown.", "amount"});
    v.when(w.flops > 0 || w.chain == "multiply_add", "type", w.type, {"Type of the arithmetic.", "name"});
    v.if_set("chain", w.chain,
             {"What the dependent steps are.", R"({"enum": ["load", "local_load", "multiply_add", "atomic"]})"});
    v.if_set("launches", w.launches);
}

template <class V, Maybe_const<YardstickInfo> T>
void fields(V& v, T& y) {
    v.always("bytes", y.bytes);
    v.when(true, "bandwidth", y.bandwidth, {.schema = "amount"});
    v.always("cache", y.cache, {.schema = "cache"});
    v.always("n", y.n);
}

template <class V, Maybe_const<ClockInfo> T>
void fields(V& v, T& c) {
    v.always("source", c.source);
    v.when(true, "core_mhz_low", c.core_mhz_low);
    v.when(true, "core_mhz_high", c.core_mhz_high);
    v.always("limits", c.limits);
}

template <class V, Maybe_const<EnergyInfo> T>
void fields(V& v, T& e) {
    v.needed("joules", e.joules, {.schema = "amount", .title = "energy_J"});
    v.needed("low", e.low, {.schema = "amount"});
    v.needed("high", e.high, {.schema = "amount"});
    v.needed("idle", e.idle,
             {.about = "Part of `joules` that the idle device would draw in the same time, measured just before.",
              .schema = "amount",
              .title = "idle_J"});
    v.always("watts", e.watts, {.schema = "amount"});
    v.always("windows", e.windows,
             {"Consecutive time windows; low and high are the 95 % interval of the median of six or more windows, "
              "else their range. Another run may lie outside: the device is warmer or colder then.",
              positive});
    v.always("updates", e.updates, {"Counter updates in the window with the fewest."});
    v.always("source", e.source, {.schema = "name"});
}

template <class V, Maybe_const<Above> T>
void fields(V& v, T& a) {
    v.always("level", a.level);
    v.always("pixels", a.pixels);
    std::vector<unsigned> x, y, value;
    for (const auto& pixel : a.first) x.push_back(pixel.x), y.push_back(pixel.y), value.push_back(pixel.value);
    v.always("x", x);
    v.always("y", y);
    v.always("value", value);
    if constexpr (V::reads) {
        v.require(x.size() == y.size() && x.size() == value.size(),
                  "'above' does not hold a column, a row and a grey level for each pixel");
        for (std::size_t i = 0; i < x.size(); ++i) a.first.push_back({x[i], y[i], value[i]});
    }
}

/// Limits the log, so that the record stays readable. The dump's build.log is complete.
inline std::string first_mebibyte(const std::string& log) { return log.substr(0, 1 << 20); }

template <class V, Maybe_const<BuildInfo> T>
void fields(V& v, T& b) {
    v.always("options", b.options);
    v.always("source", b.source,
             {"\"embedded\", the path of the file, \"baseline\", or \"native\" where there is none."});
    v.always("source_sha256", b.source_sha256, {.schema = R"({"anyOf": [{"$ref": "#/$defs/sha256"}, {"const": ""}]})"});
    v.always("log", b.log, {.as = first_mebibyte});
    v.when(true, "seconds", b.seconds, {.schema = "seconds"});
    v.always("cached", b.cached);
    v.if_set("elsewhere", b.elsewhere,
             {"Headers that only the driver found; the text does not contain them.", R"({"minItems": 1})"});
}

template <class V, Maybe_const<CodeInfo> T>
void fields(V& v, T& c) {
    v.always("kind", c.kind, {.title = "code"});
    v.when(true, "registers", c.registers, {.title = "registers"});
    v.when(true, "spills", c.spills, {.title = "spills"});
    v.when(true, "local_bytes", c.local_bytes);
    v.when(true, "private_bytes", c.private_bytes);
    v.when(true, "code_bytes", c.code_bytes);
    v.if_set("loop", c.loop,
             {.about = "Counts of one iteration of the loop with the most samples where the hot code is sampled, else "
                       "of the innermost loop with the most work.",
              .title = "loop"});
    v.always("origin", c.origin, {"Source of each fact."});
    v.if_set("fingerprint", c.fingerprint, {"Equal if the code is equal.", "name"});
}

template <class V, Maybe_const<NativeInfo> T>
void fields(V& v, T& n) {
    v.always("threads", n.threads, {.schema = positive});
    v.always("compiler", n.compiler, {.schema = "name"});
    v.always("instruction_set", n.instruction_set, {"Instruction set that the loop was compiled for.", "name"});
}

template <class V, Maybe_const<HotBlock> T>
void fields(V& v, T& b) {
    v.always("function", b.function);
    v.always("begin", b.begin);
    v.always("end", b.end);
    v.always("samples", b.samples);
    v.always("share", b.share, {.schema = share_of_one});
    v.always("instructions", b.instructions);
    v.always("classes", b.classes);
    v.if_set("executed", b.executed, {"Warp instructions executed in the block."});
    v.if_set("memory", b.memory);
    v.if_set("elements", b.elements, {"Floating-point operations and integer products of one pass."});
    v.if_set("loops", b.loops, {"Headers of the loops around it, outermost first."});
}

template <class V, Maybe_const<HotLoop> T>
void fields(V& v, T& l) {
    v.always("function", l.function);
    v.always("header", l.header);
    v.always("depth", l.depth, {.schema = positive});
    v.always("own", l.own, {.schema = share_about_one});
    v.always("share", l.share, {.schema = share_about_one});
    v.always("instructions", l.instructions);
}

template <class V, Maybe_const<Hot> T>
void fields(V& v, T& h) {
    const bool sampled = h.executed == 0 && !h.method.empty();
    v.needed("evidence", h.evidence, {.one_of = {Hot::sampled, Hot::counted, Hot::accounted, Hot::unknown}});
    v.if_set("reason", h.reason, {"Why the hot code is unknown.", "name"});
    v.if_set("method", h.method);
    v.if_set("executed", h.executed, {"Instructions that warps executed in one launch, counted by a profiler."});
    v.when(sampled, "samples", h.samples, {"Samples of all threads of the process."});
    v.when(sampled, "in_kernel", h.in_kernel);
    v.when(sampled && !h.elsewhere.empty(), "elsewhere", h.elsewhere,
           {"Samples outside of the kernel, by file or function."});
    v.if_set("code", h.code, {"The driver's function that ran."});
    v.if_set(
        "blocks", h.blocks,
        {"Basic blocks, largest share first. Addresses are those of isa.txt, or of the profiler's listing where it "
         "counted. share is of the samples in the kernel, or of the executed instructions. The rest counts one "
         "pass."});
    v.if_set("loops", h.loops,
             {"Loops around these blocks; own is without inner loops, instructions are of its own body."});
}

template <class V, Maybe_const<HostInfo> T>
void fields(V& v, T& h) {
    v.always("name", h.name);
    v.always("cpu", h.cpu);
    v.always("os", h.os);
    v.always("threads", h.threads);
}

template <class V, Maybe_const<Order> T>
void fields(V& v, T& o) {
    v.needed("comparison", o.comparison);
    v.needed("position", o.position);
    v.needed("prepared", o.prepared);
}

template <class V, Maybe_const<RunInfo> T>
void fields(V& v, T& r) {
    v.needed("id", r.id,
             {.about = "Shared by all records of one command.",
              .schema = R"({"pattern": "^[0-9a-f]{32}$"})",
              .title = "run"});
    v.always("label", r.label, {.title = "label"});
    v.needed("seed", r.seed);
    v.needed("order", r.order);
    v.always("driver_caches", r.driver_caches);
}

inline std::string as_one_line(const std::string& text) { return one_line(text); }

/// The fields after "schema", which is the version of this list.
template <class V, Maybe_const<Record> T>
void fields(V& v, T& r) {
    v.needed("id", r.id, {.schema = "name", .title = "id"});
    v.needed("family", r.family, {.schema = "name", .title = "family"});
    v.needed("variant", r.variant, {.schema = "name", .title = "variant"});
    v.needed("point", r.point, {.title = "point"});
    v.needed("status", r.status, {.title = "status"});
    v.always("reason", r.reason,
             {.about = "Why the status is not ok.", .schema = "one_line", .title = "reason", .as = as_one_line});
    v.needed("device", r.device);
    v.always("metrics", r.metrics, {.about = "In the order of display."});
    v.when(true, "time", r.time,
           {"Time of one operation or step. low and high are the 95 % interval of the median, absent below six "
            "samples. The step's time is a difference, so that single samples may be negative."});
    v.if_set("work", r.work,
             {"Declared work per unit of the time: an operation or a step. Undeclared amounts "
              "are absent."});
    v.if_set("limit", r.limit, {"What limits the time by the profile's peaks, in a word or two, or \"-\".", "name"});
    v.when(true, "yardstick", r.yardstick, {"The copy that the cell is compared with."});
    v.when(true, "clocks", r.clocks);
    v.when(true, "energy", r.energy,
           {"--energy: what one operation, or one step, draws while others of its kind follow it without a pause."});
    v.when(true, "above", r.above,
           {"--count-above: the pixels of the picture that are brighter than a level, the first 1000 with column, row "
            "and level."});
    v.sampled("samples", "rounds", r.samples, r.rounds,
              {.about = "Seconds, in the order taken.", .now = !r.time || !r.samples.empty()},
              {"Round of each sample; cells of a comparison with the same round took turns."});  // a shortened record
                                                                                                 // has no samples
    v.sampled("aside", "aside_rounds", r.aside, r.aside_rounds,
              {.about = "Samples that were set aside because the clock had drifted.", .now = false}, {});
    v.if_set("checked_by", r.checked_by,
             {.about = "How the results were checked.", .schema = "name", .title = "checked_by"});
    v.if_set("problem", r.problem, {"Equal if results are, for kernels with a line `differ`.", "name"});
    v.always("warnings", r.warnings,
             {.schema = R"({"items": {"type": "string", "pattern": "^[a-z][a-z-]*: "}})", .title = "warnings"});
    v.always("build", r.build);
    v.if_set("launch", r.launch, {"Equal if arguments, sizes, groups and data are equal.", "sha256"});
    v.always("code", r.code);
    v.when(true, "native", r.native, {"The hand-written C++ loop in the place of a kernel (--native)."});
    v.when(true, "hot", r.hot, {"The code that takes the time, and the evidence. Absent if not examined."});
    v.when(true, "counters", r.counters,
           {"Counters of one launch by a profiler (`cllab ncu`), with its names. Absent if not counted."});
    v.always("dump", r.dump, {.about = "The cell's folder; empty without a dump.", .title = "dump"});
    v.if_set("phases", r.phases, {"Seconds that the cell took by phase, with its share of common phases."});
    v.always("host", r.host);
    if (!V::reads || r.schema >= 2) v.needed("run", r.run);
    v.always("utc", r.utc, {.schema = "utc", .title = "utc"});
    v.always("argv", r.argv, {.schema = R"({"minItems": 1})"});
}

}  // namespace cllab::model

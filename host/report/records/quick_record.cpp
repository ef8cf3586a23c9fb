#include "report/records/quick_record.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <variant>

#include "report/records/impossible.hpp"
#include "report/records/joined.hpp"

namespace cllab::report {
namespace {

namespace od = simdjson::ondemand;

struct NotPlain {};

using Target = std::variant<std::string*, double*, bool*, unsigned*, std::uint64_t*, std::optional<std::int64_t>*,
                            std::vector<std::string>*, std::vector<double>*, std::vector<unsigned>*,
                            std::function<void(od::value)>>;
struct Field {
    std::string_view name;
    Target to;
    bool required = false;
};

std::string text(od::value v) { return std::string(std::string_view(v.get_string())); }

void put(std::string* to, od::value v) { *to = text(v); }
/// No more than 17 digits, which any number can be written with: of more, and of -0, the two readers make different
/// numbers.
double real(od::value v) {
    int digits = 0;
    const std::string_view token = v.raw_json_token();
    for (const char c : token.substr(0, token.find_first_of("eE")))
        if (c >= '0' && c <= '9' && (digits > 0 || c != '0') && ++digits > 17) throw NotPlain{};
    if (digits == 0 && token.front() == '-') throw NotPlain{};
    return v.get_double();
}

void put(double* to, od::value v) { *to = real(v); }
void put(bool* to, od::value v) { *to = v.get_bool(); }
void put(unsigned* to, od::value v) {
    const std::uint64_t number = v.get_uint64();
    if (number > std::numeric_limits<unsigned>::max()) throw NotPlain{};
    *to = static_cast<unsigned>(number);
}
void put(std::uint64_t* to, od::value v) { *to = v.get_uint64(); }
void put(std::optional<std::int64_t>* to, od::value v) { *to = std::int64_t(v.get_int64()); }
void put(std::vector<std::string>* to, od::value v) {
    for (auto item : v.get_array()) to->push_back(text(item.value()));
}
void put(std::vector<double>* to, od::value v) {
    for (auto item : v.get_array()) to->push_back(real(item.value()));
}
void put(std::vector<unsigned>* to, od::value v) {
    for (auto item : v.get_array()) put(&to->emplace_back(), item.value());
}
void put(const std::function<void(od::value)>& take, od::value v) { take(v); }

/// Every key is one of the fields, each at most once, and those that are required are there.
void read(od::object object, std::initializer_list<Field> fields) {
    std::uint64_t seen = 0;
    for (auto member : object) {
        const std::string_view key = member.unescaped_key();
        const auto at = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == key; });
        if (at == fields.end()) throw NotPlain{};
        const auto bit = std::uint64_t{1} << (at - fields.begin());
        if (seen & bit) throw NotPlain{};
        seen |= bit;
        od::value value = member.value();
        std::visit([&](const auto& to) { put(to, value); }, at->to);
    }
    std::uint64_t bit = 1;
    for (const auto& field : fields) {
        if (field.required && !(seen & bit)) throw NotPlain{};
        bit <<= 1;
    }
}

/// An object whose keys are names of somebody's: `take` gets each, and no name comes twice.
template <typename Take>
void each(od::value v, Take take) {
    std::vector<std::string> names;
    for (auto member : v.get_object()) {
        const std::string_view key = member.unescaped_key();
        std::string name(key);
        if (names.size() > most_names || std::find(names.begin(), names.end(), name) != names.end()) throw NotPlain{};
        take(name, member.value());
        names.push_back(std::move(name));
    }
}

/// A value of the point as the slow reader writes it: a number in its shortest form.
std::string point_value(od::value v) {
    if (v.type() == od::json_type::string) return text(v);
    if (v.type() != od::json_type::number) throw NotPlain{};
    std::string token(v.raw_json_token());
    while (!token.empty() && (token.back() == ' ' || token.back() == '\t')) token.pop_back();
    const double number = real(v);
    const bool whole = token.find_first_not_of("0123456789") == std::string::npos;
    if (whole && token.size() < 19) return token;
    if (token.find_first_of(".eE") == std::string::npos) throw NotPlain{};
    return nlohmann::json(number).dump();
}

model::Timing timing(od::value v) {
    constexpr double absent = std::numeric_limits<double>::quiet_NaN();
    model::Timing t;
    t.low = t.high = t.min = t.q1 = t.q3 = absent;
    std::string unit;
    read(v.get_object(), {{"unit", &unit},
                          {"median", &t.median, true},
                          {"low", &t.low},
                          {"high", &t.high},
                          {"min", &t.min},
                          {"q1", &t.q1},
                          {"q3", &t.q3},
                          {"mad", &t.mad},
                          {"n", &t.n, true},
                          {"per_sample", &t.per_sample},
                          {"stop_reason", &t.stop_reason},
                          {"clock", &t.clock},
                          {"cache", &t.cache},
                          {"sets", &t.sets},
                          {"batch", &t.batch},
                          {"references", &t.references},
                          {"reference_spread", &t.reference_spread},
                          {"cores", &t.cores},
                          {"waited", &t.waited},
                          {"settled", &t.settled},
                          {"shared_memory", &t.shared_memory}});
    for (double* value : {&t.low, &t.high, &t.min, &t.q1, &t.q3})
        if (std::isnan(*value)) *value = t.median;
    return t;
}

model::MetricValue metric(od::value v) {
    model::MetricValue m;
    std::string better = model::name(model::Better::neither);
    read(v.get_object(), {{"value", &m.value, true}, {"unit", &m.unit}, {"better", &better}});
    for (const auto b : {model::Better::lower, model::Better::higher, model::Better::neither}) {
        if (better != model::name(b)) continue;
        m.better = b;
        return m;
    }
    throw NotPlain{};
}

void work(od::value v, model::WorkInfo& w) {
    read(v.get_object(), {{"bytes", &w.bytes},
                          {"flops", &w.flops},
                          {"atomics", &w.atomics},
                          {"footprint", &w.footprint},
                          {"groups", &w.groups},
                          {"assumed", &w.assumed},
                          {"read", [&](od::value part) { w.read = real(part); }},
                          {"type", &w.type},
                          {"chain", &w.chain},
                          {"launches", &w.launches},
                          {"shared", &w.shared},
                          {"group", &w.group},
                          {"links", &w.links},
                          {"barriers", &w.barriers},
                          {"local_bytes", &w.local_bytes},
                          {"local_atomics", &w.local_atomics},
                          {"local_addresses", &w.local_addresses},
                          {"instructions", &w.instructions}});
}

void code(od::value v, model::CodeInfo& c) {
    read(v.get_object(), {{"kind", &c.kind},
                          {"registers", &c.registers},
                          {"spills", &c.spills},
                          {"local_bytes", &c.local_bytes},
                          {"private_bytes", &c.private_bytes},
                          {"code_bytes", &c.code_bytes},
                          {"fingerprint", &c.fingerprint},
                          {"loop",
                           [&](od::value loop) {
                               each(loop, [&](const std::string& what, od::value n) { c.loop[what] = n.get_int64(); });
                           }},
                          {"origin", [&](od::value from) {
                               each(from,
                                    [&](const std::string& fact, od::value where) { c.origin[fact] = text(where); });
                           }}});
}

void run(od::value v, model::RunInfo& r) {
    std::uint64_t seed = 0;
    read(v.get_object(),
         {{"id", &r.id, true},
          {"label", &r.label},
          {"seed", &seed, true},
          {"order",
           [&](od::value order) {
               read(order.get_object(), {{"comparison", &r.order.comparison, true},
                                         {"position", &r.order.position, true},
                                         {"prepared", &r.order.prepared, true}});
           },
           true},
          {"driver_caches", [&](od::value caches) {
               each(caches, [&](const std::string& name, od::value value) { r.driver_caches[name] = text(value); });
           }}});
    r.seed = seed;
}

void phases(od::value v, Phases& out) {
    each(v, [&](const std::string& what, od::value seconds) {
        const auto known = std::find_if(all_phases.begin(), all_phases.end(), [&](Phase p) { return what == name(p); });
        if (known == all_phases.end()) throw NotPlain{};
        put(&out[*known], seconds);
    });
}

std::map<std::string, unsigned> counts(od::value v) {
    std::map<std::string, unsigned> out;
    each(v, [&](const std::string& what, od::value n) { put(&out[what], n); });
    return out;
}

void models(od::value list, std::vector<model::CoreModel>& out) {
    for (auto item : list.get_array()) {
        auto& p = out.emplace_back();
        read(item.get_object(), {{"processor", &p.processor}, {"ports", &p.ports}, {"cycles", &p.cycles}});
    }
}

model::Hot hot(od::value v) {
    model::Hot h;
    read(v.get_object(),
         {{"evidence", &h.evidence, true},
          {"reason", &h.reason},
          {"method", &h.method},
          {"samples", &h.samples},
          {"in_kernel", &h.in_kernel},
          {"executed", &h.executed},
          {"elsewhere", [&](od::value part) { h.elsewhere = counts(part); }},
          {"code", &h.code},
          {"blocks",
           [&](od::value list) {
               for (auto item : list.get_array()) {
                   auto& b = h.blocks.emplace_back();
                   read(item.get_object(), {{"function", &b.function},
                                            {"begin", &b.begin},
                                            {"end", &b.end},
                                            {"samples", &b.samples},
                                            {"executed", &b.executed},
                                            {"share", &b.share},
                                            {"instructions", &b.instructions},
                                            {"classes", [&](od::value part) { b.classes = counts(part); }},
                                            {"memory", [&](od::value part) { b.memory = counts(part); }},
                                            {"loops", [&](od::value part) {
                                                 for (auto header : part.get_array())
                                                     put(&b.loops.emplace_back(), header.value());
                                             }}});
               }
           }},
          {"loops",
           [&](od::value list) {
               for (auto item : list.get_array()) {
                   auto& l = h.loops.emplace_back();
                   read(item.get_object(), {{"function", &l.function},
                                            {"header", &l.header},
                                            {"depth", &l.depth},
                                            {"own", &l.own},
                                            {"share", &l.share},
                                            {"instructions", &l.instructions}});
               }
           }},
          {"models", [&](od::value part) {
               auto& m = h.models.emplace();
               read(part.get_object(), {{"by", &m.by}, {"reason", &m.reason}, {"processors", [&](od::value list) {
                                                                                   models(list, m.processors);
                                                                               }}});
           }}});
    const auto possible = {model::Hot::sampled, model::Hot::counted, model::Hot::accounted, model::Hot::unknown};
    if (std::find(possible.begin(), possible.end(), h.evidence) == possible.end()) throw NotPlain{};
    return h;
}

model::Record record(od::object object) {
    model::Record r;
    unsigned schema = 0;
    bool has_samples = false, has_run = false;
    std::string status;
    auto& d = r.device;
    const auto in = [](auto read_part) { return std::function<void(od::value)>(read_part); };
    read(object,
         {{"schema", &schema, true},
          {"id", &r.id, true},
          {"family", &r.family, true},
          {"variant", &r.variant, true},
          {"point", in([&](od::value v) {
               each(v,
                    [&](const std::string& axis, od::value value) { r.point.emplace_back(axis, point_value(value)); });
           }),
           true},
          {"status", &status, true},
          {"reason", &r.reason},
          {"device", in([&](od::value v) {
               read(v.get_object(), {{"platform", &d.platform},
                                     {"name", &d.name},
                                     {"vendor", &d.vendor},
                                     {"driver", &d.driver},
                                     {"type", &d.type},
                                     {"selector", &d.selector},
                                     {"identity", &d.identity},
                                     {"last_level_bytes", &d.last_level_bytes},
                                     {"last_level_from", &d.last_level_from}});
           }),
           true},
          {"metrics", in([&](od::value v) {
               each(v, [&](const std::string& name, od::value m) { r.metrics.emplace_back(name, metric(m)); });
           })},
          {"time", in([&](od::value v) { r.time = timing(v); })},
          {"work", in([&](od::value v) { work(v, r.work); })},
          {"limit", &r.limit},
          {"yardstick", in([&](od::value v) {
               auto& y = r.yardstick.emplace();
               read(v.get_object(),
                    {{"bytes", &y.bytes}, {"bandwidth", &y.bandwidth}, {"cache", &y.cache}, {"n", &y.n}});
           })},
          {"clocks", in([&](od::value v) {
               auto& c = r.clocks.emplace();
               read(v.get_object(), {{"source", &c.source},
                                     {"core_mhz_low", &c.core_mhz_low},
                                     {"core_mhz_high", &c.core_mhz_high},
                                     {"limits", &c.limits}});
           })},
          {"native", in([&](od::value v) {
               auto& n = r.native.emplace();
               read(v.get_object(),
                    {{"threads", &n.threads}, {"compiler", &n.compiler}, {"instruction_set", &n.instruction_set}});
           })},
          {"hot", in([&](od::value v) { r.hot = hot(v); })},
          {"samples", in([&](od::value v) {
               has_samples = true;
               put(&r.samples, v);
           })},
          {"rounds", &r.rounds},
          {"aside", &r.aside},
          {"aside_rounds", &r.aside_rounds},
          {"phases", in([&](od::value v) { phases(v, r.phases); })},
          {"checked_by", &r.checked_by},
          {"warnings", &r.warnings},
          {"build", in([&](od::value v) {
               read(v.get_object(), {{"options", &r.build.options},
                                     {"source", &r.build.source},
                                     {"source_sha256", &r.build.source_sha256},
                                     {"log", &r.build.log},
                                     {"seconds", &r.build.seconds},
                                     {"cached", &r.build.cached},
                                     {"elsewhere", &r.build.elsewhere}});
           })},
          {"launch", &r.launch},
          {"code", in([&](od::value v) { code(v, r.code); })},
          {"dump", &r.dump},
          {"host", in([&](od::value v) {
               read(v.get_object(),
                    {{"name", &r.host.name}, {"cpu", &r.host.cpu}, {"os", &r.host.os}, {"threads", &r.host.threads}});
           })},
          {"run", in([&](od::value v) {
               has_run = true;
               run(v, r.run);
           })},
          {"utc", &r.utc},
          {"argv", &r.argv}});
    const auto known = model::status_from(status);
    if (!known || (schema != 1 && schema != model::schema_version) || has_run != (schema >= 2)) throw NotPlain{};
    r.schema = static_cast<int>(schema);
    r.status = *known;
    if (r.time && !r.time->has_interval() && !r.samples.empty()) {
        const auto [least, most] = std::minmax_element(r.samples.begin(), r.samples.end());
        r.time->low = *least;
        r.time->high = *most;
    }
    if (impossible(r, has_samples)) throw NotPlain{};
    return r;
}

}  // namespace

struct QuickReader::Buffers {
    od::parser parser;
    std::string line;
};

QuickReader::QuickReader() : buffers_(std::make_unique<Buffers>()) {}
QuickReader::~QuickReader() = default;

std::optional<model::Record> QuickReader::read(const std::string& line) {
    auto& padded = buffers_->line;
    padded.assign(line);
    padded.append(simdjson::SIMDJSON_PADDING, ' ');
    try {
        od::document document = buffers_->parser.iterate(padded.data(), line.size(), padded.size());
        auto out = record(document.get_object());
        if (const char* more = nullptr; document.current_location().get(more) == simdjson::SUCCESS) return std::nullopt;
        return out;
    } catch (const simdjson::simdjson_error&) {
    } catch (const NotPlain&) {
    }
    return std::nullopt;
}

}  // namespace cllab::report

#include "report/records/json.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <type_traits>

#include "core/error.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "json/read.hpp"
#include "json/write_fields.hpp"
#include "model/count_fields.hpp"
#include "model/record_fields.hpp"
#include "model/warning.hpp"

namespace cllab::report {
namespace {

using Json = nlohmann::ordered_json;  // keys stay in the order of the list, metrics in display order

// Build logs have all bytes that a driver prints. Invalid UTF-8 becomes U+FFFD, never an exception.
std::string text(const model::Record& record, int indent) {
    Json j{{"schema", record.schema}};
    j.update(fields_json<Json>(record));
    return json_text(j, indent);
}

using model::FieldRow;

[[noreturn]] void damaged(const std::string& what) { throw Error(Blame::usage, "this is not a record: " + what); }

/// The values that a T can have, in words. `in_list`: for a list of T.
template <typename T>
constexpr const char* expected(bool in_list = false) {
    if (std::is_same_v<T, std::string>) return in_list ? "an array of strings" : "a string";
    if (std::is_same_v<T, bool>) return "true or false";
    if (std::is_floating_point_v<T>) return in_list ? "an array of numbers" : "a number";
    if (in_list) return "an array of whole numbers";
    if (std::is_same_v<T, unsigned>) return "a whole number from 0 to 2^32-1";
    return std::is_unsigned_v<T> ? "a whole number from 0 to 2^64-1" : "a whole number";
}

/// Stores the value in `to`, if it is a T. False if it is not.
template <typename T>
bool take(Json& j, T& to) {
    if constexpr (std::is_same_v<T, std::string>) {
        if (!j.is_string()) return false;
        to = j.get_ref<const std::string&>();  // copied, because the parser's texts have spare memory
        return true;
    } else {
        bool is = j.is_number_integer();
        if constexpr (std::is_same_v<T, bool>)
            is = j.is_boolean();
        else if constexpr (std::is_floating_point_v<T>)
            is = j.is_number();
        else if constexpr (std::is_unsigned_v<T>)
            is = j.is_number_unsigned() && j.get<std::uint64_t>() <= std::numeric_limits<T>::max();
        if (is) to = j.get<T>();
        return is;
    }
}

/// One JSON object and its place in the record, for messages ("time.median").
class Reader : public model::Fields<Reader> {
public:
    static constexpr bool reads = true;

    Reader(Json& object, const Reader* outer, std::string_view key) : object_(object), outer_(outer), key_(key) {
        if (!object_.is_object())
            damaged((outer_ ? "'" + excerpt(outer_->where(key_)) + "'" : "the line") + " is not an object");
    }

    /// A missing key keeps the default, because numbers that are not finite are not written. Throws if the key is
    /// needed.
    template <typename T>
    void field(const char* key, T& to, const FieldRow& row) {
        if (Json* const found = find(key))
            read(key, *found, to, row);
        else if (row.presence == model::Presence::needed)
            damaged("it has no '" + where(key) + "'");
    }
    void sampled(const char* key, const char* key_of_rounds, std::vector<double>& samples,
                 std::vector<unsigned>& rounds, const FieldRow& row, const FieldRow& row_of_rounds) {
        field(key, samples, row);
        field(key_of_rounds, rounds, row_of_rounds);
    }
    void require(bool holds, const char* sentence) const {
        if (!holds) damaged(sentence);
    }

private:
    /// Begins at the member after the last one found, because records are written in the order of the fields.
    Json* find(std::string_view key) {
        auto& members = object_.get_ref<Json::object_t&>();
        for (std::size_t left = members.size(); left > 0; --left) {
            if (next_ >= members.size()) next_ = 0;
            auto& [name, value] = members.data()[next_++];
            if (name == key) return &value;
        }
        return nullptr;
    }
    std::string where(std::string_view key) const {
        return (outer_ ? outer_->where(key_) + "." : "") + std::string(key);
    }
    [[noreturn]] void refuse(std::string_view key, const std::string& what) const {
        damaged("'" + excerpt(where(key)) + "' is " + what);
    }

    template <typename T>
    void read(std::string_view key, Json& j, T& to, const FieldRow& row) {
        if constexpr (requires(Reader & r) { fields(r, to); }) {
            Reader inner(j, this, key);
            fields(inner, to);
        } else {
            if (!take(j, to)) refuse(key, std::string("not ") + expected<T>());
            if constexpr (std::is_same_v<T, std::string>)
                if (!row.one_of.empty() && std::ranges::find(row.one_of, to) == row.one_of.end())
                    refuse(key, "'" + excerpt(to) + "', not one of " + join(row.one_of, ", "));
        }
    }
    template <typename T>
    void read(std::string_view key, Json& j, std::optional<T>& to, const FieldRow& row) {
        read(key, j, to.emplace(), row);
    }
    template <typename T>
    void read(std::string_view key, Json& j, std::vector<T>& to, const FieldRow& row) {
        constexpr bool of_objects = requires(Reader & r, T & t) { fields(r, t); };
        if (!j.is_array()) refuse(key, std::string("not ") + (of_objects ? "an array" : expected<T>(true)));
        to.reserve(j.size());
        for (auto& item : j) {
            T& value = to.emplace_back();
            if constexpr (of_objects)
                read(key, item, value, row);
            else if (!take(item, value))
                refuse(key, std::string("not ") + expected<T>(true));
        }
    }
    /// Reads an object whose keys are free names.
    template <typename Each>
    void each(std::string_view key, Json& j, Each take_one) {
        Reader inner(j, this, key);
        for (auto& [name, value] : j.get_ref<Json::object_t&>()) take_one(inner, name, value);
    }
    template <typename T>
    void read(std::string_view key, Json& j, std::map<std::string, T>& to, const FieldRow& row) {
        each(key, j, [&](Reader& r, const std::string& name, Json& value) { r.read(name, value, to[name], row); });
    }
    void read(std::string_view key, Json& j, std::vector<std::pair<std::string, std::string>>& point, const FieldRow&) {
        each(key, j, [&](Reader&, const std::string& axis, Json& value) {
            if (!value.is_string() && !value.is_number())
                damaged("'point." + excerpt(axis) + "' is neither a string nor a number");
            point.emplace_back(axis, value.is_string() ? value.get<std::string>() : value.dump());
        });
    }
    void read(std::string_view key, Json& j, std::vector<std::pair<std::string, model::MetricValue>>& metrics,
              const FieldRow& row) {
        each(key, j, [&](Reader& r, const std::string& name, Json& value) {
            r.read(name, value, metrics.emplace_back(name, model::MetricValue{}).second, row);
        });
    }
    void read(std::string_view key, Json& j, std::vector<model::Counter>& counters, const FieldRow& row) {
        each(key, j, [&](Reader& r, const std::string& name, Json& value) {
            r.read(name, value, counters.emplace_back(model::Counter{name, "", 0}), row);
        });
    }
    /// Skips phases that only later versions time.
    void read(std::string_view key, Json& j, Phases& phases, const FieldRow& row) {
        each(key, j, [&](Reader& r, const std::string& name, Json& value) {
            for (const auto phase : all_phases)
                if (name == cllab::name(phase)) r.read(name, value, phases[phase], row);
        });
    }
    void read(std::string_view key, Json& j, model::Better& to, const FieldRow&) {
        using enum model::Better;
        static const FieldRow row{.one_of = {name(lower), name(higher), name(neither)}};
        std::string text;
        read(key, j, text, row);
        to = static_cast<model::Better>(std::ranges::find(row.one_of, text) - row.one_of.begin());
    }
    void read(std::string_view key, Json& j, model::Status& to, const FieldRow& row) {
        std::string text;
        read(key, j, text, row);
        const auto known = model::status_from(text);
        if (!known)
            damaged("the status '" + excerpt(text) +
                    "' is unknown; expected ok, unsupported, build_failed, launch_failed, "
                    "wrong_result, timed_out or disagree");
        to = *known;
    }

    Json& object_;
    const Reader* outer_;
    std::string_view key_;
    std::size_t next_ = 0;
};

}  // namespace

Json point_json(const std::vector<std::pair<std::string, std::string>>& point) { return point_object<Json>(point); }

Json device_json(const model::DeviceInfo& device) {
    return {{"platform", device.platform},
            {"name", device.name},
            {"driver", device.driver},
            {"selector", device.selector},
            {"identity", device.identity}};
}

Json line_of(const char* record, const std::string& id, const std::vector<std::pair<std::string, std::string>>& point,
             const model::DeviceInfo& device) {
    auto out = fact(record);
    out.update({{"id", id}, {"point", point_json(point)}, {"device", device_json(device)}});
    return out;
}

Json fact(const char* record) { return {{"schema", model::schema_version}, {"record", record}}; }

void add_figure(Json& to, const std::string& name, const Json& value, const std::string& unit,
                const std::string& from) {
    to["figures"][name] = {{"value", value}, {"unit", unit}, {"from", from}};
}

void add_refusal(Json& to, const std::string& code, const std::string& seen, const std::string& enough) {
    to.update({{"refused", code}, {"reason", seen}, {"enough", enough}});
}

std::string line_text(const Json& json) { return json_text(json); }

std::string to_json_line(const model::Record& record) { return text(record, -1); }

std::string to_json_pretty(const model::Record& record) { return text(record, 2); }

std::string counts_json(const model::Counts& c) {
    auto out = fact("counts");
    out.update(fields_json<Json>(c));
    const auto from = concat(format_exact(c.counted_groups), " of ", format_exact(c.groups), " groups, ", c.source);
    const auto lacks = join(c.not_counted, "; ", [](const auto& one) { return one.what + ": " + one.why; });
    const std::pair<const char*, model::Amount> amounts[]{{"flop", model::flop_amount(c)},
                                                          {"asked_bytes", model::asked_amount(c)},
                                                          {"moved_bytes", model::moved_amount(c)},
                                                          {"instructions", c.instructions},
                                                          {"issued", c.issued},
                                                          {"barriers", c.barriers}};
    for (const auto& [name, amount] : amounts)
        if (amount.known)
            add_figure(out, name, amount.mean, "per work-item", from);
        else
            add_refusal(out["figures"][name], "not counted", lacks.empty() ? "it accesses images" : lacks,
                        lacks.empty() ? "buffers in their place" : "a larger --count-budget");
    return line_text(out);
}

std::string counters_json(const model::Counted& c) {
    auto out = line_of("counters", c.id, c.point, c.device);
    out.update({{"opencl_seconds", c.opencl_seconds}, {"cuda_seconds", c.cuda_seconds}, {"counters", Json::object()}});
    for (const auto& counter : c.counters)
        out["counters"][counter.name] = {{"value", counter.value}, {"unit", counter.unit}};
    return line_text(out);
}

model::Record from_json(std::string_view line) {
    Json j;
    try {
        j = parse_json<Json>(line);
    } catch (const JsonRefused& e) {
        damaged(std::string("its JSON is ") + e.what());
    }
    Reader reader(j, nullptr, "");
    const auto schema = j.find("schema");
    if (schema == j.end()) damaged("it has no 'schema'");
    if (*schema != 1 && *schema != model::schema_version)
        throw Error(Blame::usage, "the record has schema " + excerpt(json_text(*schema)) +
                                      "; this build reads schemas 1 and " + std::to_string(model::schema_version));
    model::Record record;
    record.schema = schema->get<int>();
    fields(reader, record);
    if (record.time && !record.time->has_interval() && !record.samples.empty()) {
        const auto [least, most] = std::ranges::minmax_element(record.samples);
        record.time->low = *least;
        record.time->high = *most;
    }
    if (const auto why = impossible(record, j.contains("samples")))
        throw Error(Blame::usage, "this record is impossible: " + *why);
    return record;
}

// Records that no run can have measured.

namespace {

using model::Record;

std::string seconds(double value) { return format_significant(value, 3) + " s"; }

/// Whether the time is that of a step, which is a difference of two times. Single samples may then be negative. If the
/// step has no measurable cost, all may be.
bool is_difference(const Record& r) {
    return std::ranges::any_of(
        r.metrics, [&](const auto& m) { return m.first == "step_time" && m.second.value == r.time->median; });
}

std::optional<std::string> impossible_time(const Record& r) {
    const model::Timing& t = *r.time;
    if (!model::warns(r, model::Warning::no_cost)) {
        if (!(t.median > 0)) return "its time is " + seconds(t.median);
        for (const auto& [what, value] : {std::pair{"low", t.low}, {"min", t.min}})
            if (value < 0 && !is_difference(r)) return std::string("'time.") + what + "' is " + seconds(value);
    }
    if (t.low > t.median || t.high < t.median)
        return "its interval from " + seconds(t.low) + " to " + seconds(t.high) + " excludes its median of " +
               seconds(t.median);
    if (t.min > t.median) return "'time.min' of " + seconds(t.min) + " is above its median of " + seconds(t.median);
    if (t.q1 > t.median || t.q3 < t.median)
        return "its quartiles " + seconds(t.q1) + " and " + seconds(t.q3) + " exclude its median of " +
               seconds(t.median);
    if (t.mad < 0) return "'time.mad' is " + seconds(t.mad);
    if (t.n == 0) return "it has a time, but 'time.n' is 0";
    return std::nullopt;
}

std::optional<std::string> impossible_samples(const Record& r) {
    if (!r.time) {
        if (!r.samples.empty()) return "it has samples and no time";
        return std::nullopt;
    }
    if (r.samples.size() != r.time->n)
        return "'time.n' is " + std::to_string(r.time->n) + " and it has " + std::to_string(r.samples.size()) +
               " samples";
    const auto [least, most] = std::ranges::minmax_element(r.samples);
    if (r.time->median < *least || r.time->median > *most)
        return "its median of " + seconds(r.time->median) + " is outside its samples, " + seconds(*least) + " to " +
               seconds(*most);
    return std::nullopt;
}

}  // namespace

std::optional<std::string> impossible(const Record& r, bool has_samples) {
    if (r.status != model::Status::ok && (r.time || !r.samples.empty()))
        return "its status is " + std::string(model::name(r.status)) + ", but it has times";
    if (r.time) {
        if (auto why = impossible_time(r)) return why;
    }
    if (has_samples) {
        if (auto why = impossible_samples(r)) return why;
    }
    for (const auto& [what, samples, rounds] :
         {std::tuple{"samples", &r.samples, &r.rounds}, {"samples set aside", &r.aside, &r.aside_rounds}})
        if (!rounds->empty() && !samples->empty() && rounds->size() != samples->size())
            return "it has " + std::to_string(samples->size()) + " " + what + " and the rounds of " +
                   std::to_string(rounds->size());
    for (const auto& [name, metric] : r.metrics) {
        static constexpr std::array<std::string_view, 5> never_negative{"bandwidth", "flops", "of_copy", "upload",
                                                                        "download"};
        if (metric.value < 0 && std::ranges::find(never_negative, name) != never_negative.end())
            return "its " + name + " is " + format_significant(metric.value, 3) + " " + metric.unit;
    }
    return std::nullopt;
}

}  // namespace cllab::report

// tools/record.schema.json: what it says of a cell's record and of counts are the lists of fields; the rest of the file
// is written by hand.
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

#include "model/count_fields.hpp"
#include "model/explanation.hpp"
#include "model/record_fields.hpp"
#include "unit/golden.hpp"

BOOST_AUTO_TEST_SUITE(record_schema)

namespace {

using namespace cllab;
using Json = nlohmann::ordered_json;

Json ref(const std::string& name) { return {{"$ref", "#/$defs/" + name}}; }
Json list_of(const Json& items) { return {{"type", "array"}, {"items", items}}; }
Json named(const Json& values) { return {{"type", "object"}, {"additionalProperties", values}}; }

/// What the fields of an object must be together, which no row can say.
template <class T>
const char* together = "{}";
template <>
const char* together<model::Timing> = R"({
    "dependentRequired": {"low": ["high"], "high": ["low"]},
    "if": {"properties": {"n": {"minimum": 6}}},
    "then": {"required": ["low", "high"]},
    "else": {"properties": {"low": false, "high": false}}})";
template <>
const char* together<model::Hot> = R"({
    "if": {"properties": {"evidence": {"const": "unknown"}}}, "then": {"required": ["reason"]}})";
template <>
const char* together<model::Record> = R"({
    "if": {"properties": {"status": {"const": "ok"}}},
    "then": {"properties": {"reason": {"const": ""}}},
    "else": {"properties": {"reason": {"minLength": 1}, "samples": {"maxItems": 0}, "time": false}},
    "dependentRequired": {"samples": ["status"], "rounds": ["samples"], "aside_rounds": ["aside"], "time": ["samples"]}})";

template <class T>
Json object_of(const T& object);

Json type_of(const std::string&) { return {{"type", "string"}}; }
Json type_of(double) { return {{"type", "number"}}; }
Json type_of(bool) { return {{"type", "boolean"}}; }
Json type_of(unsigned) { return ref("count"); }
Json type_of(std::uint64_t) { return ref("count"); }
Json type_of(std::int64_t) { return ref("count"); }
Json type_of(model::Status) {
    Json names;
    for (int i = 0; i <= static_cast<int>(model::Status::disagree); ++i)
        names.push_back(model::name(static_cast<model::Status>(i)));
    return {{"enum", names}};
}
Json type_of(model::Operation) {
    Json names;
    for (int i = 0; i <= static_cast<int>(model::Operation::conversion); ++i)
        names.push_back(model::name(static_cast<model::Operation>(i)));
    return {{"enum", names}};
}
Json type_of(model::Better) { return {{"enum", {"lower", "higher", "neither"}}}; }
Json type_of(const std::vector<std::string>&) { return ref("texts"); }
Json type_of(const std::vector<std::pair<std::string, std::string>>&) { return ref("point"); }
Json type_of(const std::vector<std::pair<std::string, model::MetricValue>>&) {
    return named(object_of(model::MetricValue{}));
}
Json type_of(const std::vector<model::Counter>&) { return named(object_of(model::Counter{})); }
Json type_of(const Phases&) {
    Json out = named(ref("seconds"));
    for (const auto phase : all_phases) out["propertyNames"]["enum"].push_back(name(phase));
    return out;
}
template <class T>
requires std::is_class_v<T> Json type_of(const T& object) { return object_of(object); }
template <class T>
Json type_of(const std::map<std::string, T>&) {
    return named(type_of(T{}));
}
template <class T>
Json type_of(const std::optional<T>&) {
    return type_of(T{});
}
template <class T>
Json type_of(const std::vector<T>&) {
    return list_of(type_of(T{}));
}

class Schema : public model::Fields<Schema> {
public:
    static constexpr bool reads = false;

    template <class T>
    void field(const char* key, const T& member, const model::FieldRow& row) {
        const std::string about = row.about, asks = row.schema;
        Json& out = properties_[key] = Json::object();
        if (!about.empty()) out["description"] = about;
        if (asks.empty() || asks.starts_with("{"))
            out.update(type_of(member));
        else
            out.update(ref(asks));
        if (asks.starts_with("{")) out.update(Json::parse(asks));
        if (!row.one_of.empty()) out["enum"] = row.one_of;
        if (std::is_same_v<T, bool> && row.if_set) out["const"] = true;
        if (row.presence != model::Presence::sometimes) required_.push_back(key);
    }
    void sampled(const char* key, const char* key_of_rounds, const std::vector<double>& samples,
                 const std::vector<unsigned>& rounds, model::FieldRow row, model::FieldRow row_of_rounds) {
        row.presence = row_of_rounds.presence = model::Presence::sometimes;
        field(key, samples, row);
        field(key_of_rounds, rounds, row_of_rounds);
    }
    Json object() const {
        Json out{{"type", "object"}};
        if (!required_.empty()) out["required"] = required_;
        out["additionalProperties"] = false;
        out["properties"] = properties_;
        return out;
    }

private:
    Json properties_ = Json::object(), required_ = Json::array();
};

template <class T>
Json object_of(const T& object) {
    Schema schema;
    fields(schema, object);
    Json out = schema.object();
    out.update(Json::parse(together<T>));
    return out;
}

std::string on_one_line(const Json& j) {
    if (!j.is_structured()) return j.dump();
    std::string out, comma;
    for (const auto& [key, value] : j.items()) {
        out += comma + (j.is_object() ? Json(key).dump() + ": " : "") + on_one_line(value);
        comma = ", ";
    }
    return j.is_object() ? "{" + out + "}" : "[" + out + "]";
}

/// With each value on one line that fits there, `before` columns of it being taken.
std::string pretty(const Json& j, std::size_t before = 0, std::size_t indent = 0) {
    constexpr std::size_t width = 120;
    if (auto line = on_one_line(j); !j.is_structured() || before + line.size() < width) return line;
    std::string out, comma = "\n";
    for (const auto& [key, value] : j.items()) {
        const auto label = std::string(indent + 2, ' ') + (j.is_object() ? Json(key).dump() + ": " : "");
        out += comma + label + pretty(value, label.size(), indent + 2);
        comma = ",\n";
    }
    out += "\n" + std::string(indent, ' ');
    return j.is_object() ? "{" + out + "}" : "[" + out + "]";
}

}  // namespace

BOOST_AUTO_TEST_CASE(schemas_of_records_and_counts_match_their_field_lists) {
    const std::string file = "../../tools/record.schema.json";
    Json schema = Json::parse(test::golden(file));
    Json cell = object_of(model::Record{}), properties{{"schema", true}};
    properties.update(cell["properties"]);
    cell["properties"] = properties;
    schema["$defs"]["cell"] = cell;
    Json counts = object_of(model::Counts{});
    properties = {{"schema", true}, {"record", true}, {"figures", ref("figures")}};
    properties.update(counts["properties"]);
    counts["properties"] = properties;
    counts["required"].push_back("figures");
    schema["$defs"]["counts"] = counts;
    test::matches_golden(file, pretty(schema) + "\n");
}

BOOST_AUTO_TEST_CASE(record_schema_lists_every_limit) {
    using model::Limit;
    const Json schema = Json::parse(test::golden("../../tools/record.schema.json"));
    Json limits = Json::array();
    for (int i = 0; i <= static_cast<int>(Limit::unsteady); ++i) limits.push_back(model::name(static_cast<Limit>(i)));
    BOOST_TEST(schema.at("$defs").at("why").at("properties").at("limit").at("enum") == limits);
}

BOOST_AUTO_TEST_SUITE_END()

// Writes an object with a list of fields (model/fields.hpp) as JSON, in the order of the list. Omits numbers that are
// not finite.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/phases.hpp"
#include "core/units.hpp"
#include "model/record_fields.hpp"

namespace cllab {

/// A number if it prints as the same text, else text ("64x4", "linear").
template <class Json>
Json point_value(const std::string& text) {
    if (const auto whole = parse_integer(text)) {
        if (std::to_string(*whole) == text) return *whole;
    } else if (const auto real = parse_real(text)) {
        if (Json number = *real; number.dump() == text) return number;
    }
    return text;
}

template <class Json>
Json point_object(const std::vector<std::pair<std::string, std::string>>& point) {
    Json out = Json::object();
    for (const auto& [axis, value] : point) out[axis] = point_value<Json>(value);
    return out;
}

template <class Json>
class FieldWriter : public model::Fields<FieldWriter<Json>> {
public:
    static constexpr bool reads = false;

    template <class T>
    void field(const char* key, const T& member, const model::FieldRow& row) {
        if (!row.now || (row.if_set && is_unset(member))) return;
        if constexpr (std::is_same_v<T, std::string>) {
            out_[key] = row.as ? row.as(member) : member;
        } else if (auto value = value_of(member); value && !(row.if_set && value->empty())) {
            out_[key] = std::move(*value);
        }
    }
    /// Omits values that are not finite, with their rounds. Old records have no rounds.
    void sampled(const char* key, const char* key_of_rounds, const std::vector<double>& samples,
                 const std::vector<unsigned>& rounds, const model::FieldRow& row, const model::FieldRow&) {
        if (row.now) out_[key] = Json::array();
        for (std::size_t i = 0; i < samples.size(); ++i) {
            if (!std::isfinite(samples[i])) continue;
            out_[key].push_back(samples[i]);
            if (rounds.size() == samples.size()) out_[key_of_rounds].push_back(rounds[i]);
        }
    }
    Json take() { return std::move(out_); }

private:
    template <class T>
    static bool is_unset(const T& member) {
        if constexpr (std::is_arithmetic_v<T>)
            return !(member > 0);
        else if constexpr (requires { member.empty(); })
            return member.empty();
        else
            return false;
    }
    template <class T>
    static std::optional<Json> value_of(const T& member) {
        if constexpr (requires(FieldWriter& w) { fields(w, member); }) {
            FieldWriter inner;
            fields(inner, member);
            return inner.take();
        } else if constexpr (std::is_floating_point_v<T>) {
            return std::isfinite(member) ? std::optional<Json>(member) : std::nullopt;
        } else if constexpr (std::is_enum_v<T>) {
            return name(member);
        } else {
            return Json(member);
        }
    }
    template <class T>
    static std::optional<Json> value_of(const std::optional<T>& member) {
        return member ? value_of(*member) : std::nullopt;
    }
    template <class T>
    static std::optional<Json> value_of(const std::vector<T>& list) {
        Json out = Json::array();
        for (const auto& item : list) out.push_back(*value_of(item));
        return out;
    }
    static std::optional<Json> value_of(const std::vector<std::pair<std::string, std::string>>& point) {
        return point_object<Json>(point);
    }
    static std::optional<Json> value_of(const std::vector<std::pair<std::string, model::MetricValue>>& metrics) {
        Json out = Json::object();
        for (const auto& [name, metric] : metrics)
            if (std::isfinite(metric.value)) out[name] = *value_of(metric);
        return out;
    }
    static std::optional<Json> value_of(const std::vector<model::Counter>& counters) {
        Json out = Json::object();
        for (const auto& counter : counters)
            if (std::isfinite(counter.value)) out[counter.name] = *value_of(counter);
        return out.empty() ? std::nullopt : std::optional(std::move(out));
    }
    static std::optional<Json> value_of(const Phases& phases) {
        Json out = Json::object();
        for (const auto& [phase, seconds] : phases)
            if (std::isfinite(seconds)) out[name(phase)] = seconds;
        return out;
    }

    Json out_ = Json::object();
};

template <class Json, class T>
Json fields_json(const T& object) {
    FieldWriter<Json> writer;
    fields(writer, object);
    return writer.take();
}

}  // namespace cllab

#include "report/records/points.hpp"

#include <algorithm>
#include <cctype>
#include <ranges>
#include <unordered_map>
#include <unordered_set>

#include "core/random.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

namespace cllab::report {
namespace {

using Numbers = std::unordered_map<std::string, std::uint32_t>;

std::uint32_t number_of(Numbers& numbers, const std::string& text) {
    return numbers.emplace(text, static_cast<std::uint32_t>(numbers.size())).first->second;
}

}  // namespace

const std::string& value_at(const model::PointValues& point, const std::string& axis) {
    static const std::string none;
    const auto* value = find_in(point, axis);
    return value ? *value : none;
}

std::string without_numbers(const std::string& reason) {
    std::string out;
    for (const auto& word : split(reason, ' '))
        if (word.empty() || !std::isdigit(static_cast<unsigned char>(word.front()))) out += word + " ";
    return out;
}

std::string axis_value(const std::string& value) {
    const auto number = parse_integer(value);
    return number ? format_integer(*number) : value;
}

std::optional<double> metric_value(const model::Record& record, std::string_view name) {
    const auto* found = find_in(record.metrics, name);
    return found ? std::optional(found->value) : std::nullopt;
}

std::string cell_title(const std::string& id, const std::string& point) {
    return id + (point.empty() ? "" : " ") + point;
}

const model::Record* latest_of(const model::Rows& records) {
    // Of records in the same second, the one read last.
    const auto reversed = records | std::views::reverse;
    return *std::ranges::max_element(reversed, {}, &model::Record::utc);
}

bool several_hosts(const model::Rows& records) {
    return std::ranges::any_of(records,
                               [&](const auto* record) { return record->host.name != records.front()->host.name; });
}

std::string device_details(const model::DeviceInfo& device, const std::string& host) {
    return printable(" (" + device.selector + "), " + device.platform + ", driver " + device.driver +
                     (host.empty() ? "" : " on " + host));
}

Notes::Notes(const model::Rows& records) {
    for (const auto* record : records)
        for (const auto& warning : record->warnings) {
            const auto [number, is_new] = number_of_.emplace(warning, all_.size());
            if (is_new) all_.push_back({warning, {}});
            auto& holders = all_[number->second].records;
            if (holders.empty() || holders.back() != record) holders.push_back(record);
        }
}

std::set<std::size_t> Notes::of(const model::Record& record) const {
    std::set<std::size_t> out;
    for (const auto& warning : record.warnings) out.insert(number_of_.at(warning) + 1);
    return out;
}

std::string Notes::text_of(const model::Record& record) const {
    return join(of(record), ",", [](std::size_t number) { return std::to_string(number); });
}

Points::Points(const model::Rows& rows, const std::function<std::string(const model::Record&)>& owner) {
    std::unordered_map<std::string, std::size_t> axis_of;
    std::vector<Numbers> numbers;
    Numbers owners;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        owners_.push_back(number_of(owners, owner(*rows[row])));
        for (const auto& [name, value] : rows[row]->point) {
            const auto [at, is_new] = axis_of.emplace(name, names_.size());
            if (is_new) {
                names_.push_back(name);
                number_of(numbers.emplace_back(), "");  // 0: the rows without this axis
                values_.emplace_back(rows.size());
            }
            values_[at->second][row] = number_of(numbers[at->second], value);
        }
    }
}

bool Points::differs(std::size_t axis) const {
    const auto& values = values_[axis];
    return std::ranges::any_of(values, [&](auto v) { return v != values.front(); });
}

bool Points::everywhere(std::size_t axis) const {
    return std::ranges::none_of(values_[axis], [](auto v) { return v == 0; });
}

bool Points::differs_by_owner(std::size_t axis) const {
    std::map<std::uint32_t, std::set<std::uint32_t>> of_owner;
    for (std::size_t row = 0; row < owners_.size(); ++row) of_owner[owners_[row]].insert(values_[axis][row]);
    return std::ranges::any_of(of_owner, [&](const auto& o) { return o.second != of_owner.begin()->second; });
}

bool Points::tell_apart(std::optional<std::size_t> without) const {
    // Compares hashes of the values. Two rows have equal hashes by chance in one of 2^64 cases.
    std::unordered_set<std::uint64_t> seen;
    for (std::size_t row = 0; row < owners_.size(); ++row) {
        std::uint64_t hash = mix64(owners_[row]);
        for (std::size_t axis = 0; axis < names_.size(); ++axis)
            if (axis != without) hash = mix64(hash + values_[axis][row]);
        if (!seen.insert(hash).second) return false;
    }
    return true;
}

void Points::drop_if(const std::function<bool(std::size_t)>& leaves) {
    for (std::size_t axis = 0; axis < names_.size();) {
        if (!leaves(axis)) {
            ++axis;
            continue;
        }
        const auto at = static_cast<std::ptrdiff_t>(axis);
        names_.erase(names_.begin() + at);
        values_.erase(values_.begin() + at);
    }
}

std::vector<std::size_t> Points::groups() const {
    std::map<std::vector<std::uint32_t>, std::size_t> known;
    std::vector<std::size_t> out;
    for (std::size_t row = 0; row < owners_.size(); ++row) {
        std::vector<std::uint32_t> key;
        for (std::size_t axis = 0; axis < names_.size(); ++axis) key.push_back(values_[axis][row]);
        out.push_back(known.emplace(std::move(key), known.size()).first->second);
    }
    return out;
}

}  // namespace cllab::report

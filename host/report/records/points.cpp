#include "report/records/points.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/text.hpp"

namespace cllab::report {
namespace {

using Numbers = std::unordered_map<std::string, std::uint32_t>;

std::uint32_t number_of(Numbers& numbers, const std::string& text) {
    return numbers.emplace(text, static_cast<std::uint32_t>(numbers.size())).first->second;
}

/// splitmix64. A sum of such parts is that of another point with a chance of one in 2^64.
std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

}  // namespace

const std::string& value_at(const model::Record& record, const std::string& axis) {
    static const std::string none;
    for (const auto& [name, value] : record.point)
        if (name == axis) return value;
    return none;
}

std::optional<double> metric_value(const model::Record& record, std::string_view name) {
    for (const auto& [key, value] : record.metrics)
        if (key == name) return value.value;
    return std::nullopt;
}

std::string point_text(const std::vector<std::pair<std::string, std::string>>& point,
                       const std::vector<std::string>& axes) {
    std::string out;
    for (const auto& [axis, value] : point)
        if (axes.empty() || std::ranges::find(axes, axis) != axes.end())
            out += (out.empty() ? "" : " ") + axis + "=" + value;
    return out;
}

std::string cell_title(const std::string& id, const std::vector<std::pair<std::string, std::string>>& point) {
    return id + (point.empty() ? "" : " ") + point_text(point);
}

bool several_hosts(const model::Rows& records) {
    return std::ranges::any_of(records,
                               [&](const auto* record) { return record->host.name != records.front()->host.name; });
}

std::string device_details(const model::DeviceInfo& device, const std::string& host) {
    return printable(" (" + device.selector + "), " + device.platform + ", driver " + device.driver +
                     (host.empty() ? "" : " on " + host));
}

std::map<std::string, std::string> labels_of_several_devices(const std::vector<model::Record>& records) {
    const bool hosts = several_hosts(records);
    std::map<std::string, std::string> out;
    for (const auto& r : records) {
        auto& label = out[model::device_key(r)];
        if (label.empty()) label = printable(r.device.name) + device_details(r.device, hosts ? r.host.name : "");
    }
    if (out.size() < 2) out.clear();
    return out;
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
                salts_.push_back(salts_.size() + 1);
                number_of(numbers.emplace_back(), "");  // 0: the rows without this axis
                values_.emplace_back(rows.size());
            }
            values_[at->second][row] = number_of(numbers[at->second], value);
        }
    }
    for (std::size_t row = 0; row < rows.size(); ++row) {
        std::uint64_t mark = mix(owners_[row]);
        for (std::size_t axis = 0; axis < axes(); ++axis) mark += part(row, axis);
        marks_.push_back(mark);
    }
}

std::uint64_t Points::part(std::size_t row, std::size_t axis) const {
    return mix(mix(salts_[axis] << 32) + values_[axis][row]);
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

bool Points::distinct(const std::vector<std::uint64_t>& marks) const {
    std::unordered_set<std::uint64_t> seen;
    return std::ranges::all_of(marks, [&](auto mark) { return seen.insert(mark).second; });
}

bool Points::tell_apart() const { return distinct(marks_); }

bool Points::tell_apart_without(std::size_t axis) const {
    auto marks = marks_;
    for (std::size_t row = 0; row < marks.size(); ++row) marks[row] -= part(row, axis);
    return distinct(marks);
}

void Points::drop_if(const std::function<bool(std::size_t)>& leaves) {
    for (std::size_t axis = 0; axis < axes();)
        if (leaves(axis))
            drop(axis);
        else
            ++axis;
}

void Points::drop(std::size_t axis) {
    for (std::size_t row = 0; row < marks_.size(); ++row) marks_[row] -= part(row, axis);
    const auto at = static_cast<std::ptrdiff_t>(axis);
    names_.erase(names_.begin() + at);
    salts_.erase(salts_.begin() + at);
    values_.erase(values_.begin() + at);
}

std::vector<std::size_t> Points::groups() const {
    std::map<std::vector<std::uint32_t>, std::size_t> known;
    std::vector<std::size_t> out;
    for (std::size_t row = 0; row < owners_.size(); ++row) {
        std::vector<std::uint32_t> key;
        for (std::size_t axis = 0; axis < axes(); ++axis) key.push_back(values_[axis][row]);
        out.push_back(known.emplace(std::move(key), known.size()).first->second);
    }
    return out;
}

}  // namespace cllab::report

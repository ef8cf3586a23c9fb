#include "portrait/conclusion.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "core/stats.hpp"
#include "core/units.hpp"
#include "model/registry.hpp"

namespace cllab::portrait {

using namespace model;

bool is_long_enough(const Curve& curve) {
    // Samples are by ascending x. A cell that several runs repeated, such as the yardstick, is one point of the curve.
    std::size_t points = 0;
    for (std::size_t i = 0; i < curve.samples.size(); ++i)
        if (i == 0 || curve.samples[i].x != curve.samples[i - 1].x) ++points;
    return points >= 3;
}

const Axis* swept_axis(const Experiment& experiment, const std::string& variant) {
    for (const auto* variants : {&experiment.variants, &experiment.native})
        for (const auto& v : *variants)
            for (const auto& axis : experiment.axes)
                if (v.name == variant && axis.name == experiment.swept_axis(v)) return &axis;
    return nullptr;
}

namespace {

/// Of a list of names and values; nothing where the name is none of them.
template <typename Value>
const Value* value_of(const std::vector<std::pair<std::string, Value>>& list, const std::string& wanted) {
    const auto found = std::ranges::find(list, wanted, &std::pair<std::string, Value>::first);
    return found == list.end() ? nullptr : &found->second;
}

double metric(const Record& record, const std::string& wanted) {
    const auto* found = value_of(record.metrics, wanted);
    return found ? found->value : 0;
}

/// x of a curve: a number, the work-items of a shape, the place of a choice among the axis' choices; 0 without an axis.
double position(const Axis* axis, const Record& record) {
    const auto* text = axis ? value_of(record.point, axis->name) : nullptr;
    if (!text) return 0;
    if (axis->kind == Axis::Kind::choice)
        return static_cast<double>(std::ranges::find(axis->choices, *text) - axis->choices.begin());
    if (axis->kind != Axis::Kind::shape) return parse_real(*text).value_or(0);
    Point point;
    point.set(axis->name, *text);
    return *text == "auto" ? 0 : static_cast<double>(point.shape(axis->name).count());
}

Curve::Sample sample_of(const Record& record, double x) {
    Curve::Sample out;
    const auto& t = *record.time;
    out.x = x;
    out.seconds = t.median;
    out.low = t.low;
    out.high = t.high;
    out.n = t.n;
    out.per_step = metric(record, "step_time");
    out.work.bytes = metric(record, "bandwidth") * t.median;
    out.work.flops = metric(record, "flops") * t.median;
    if (out.per_step > 0) out.work.steps = t.median / out.per_step;
    for (const auto& [name, value] : record.metrics) out.metrics[name] = value.value;
    if (const auto mode = half_sample_mode(record.samples); mode.value > 0) {
        out.metrics["mode"] = mode.value;
        out.metrics["mode_share"] = mode.share;
    }
    if (t.cores > 0) {
        out.metrics["cores"] = t.cores;
        out.metrics["cores_waited"] = t.waited;
    }
    if (record.code.registers) out.metrics["registers"] = static_cast<double>(*record.code.registers);
    for (const auto& [what, count] : record.code.loop) out.metrics["loop_" + what] = static_cast<double>(count);
    if (record.code.spills) out.metrics["spills"] = static_cast<double>(*record.code.spills);
    return out;
}

Point without(const Record& record, const Axis* axis) {
    Point out;
    for (const auto& [name, value] : record.point) {
        if (!axis || name != axis->name) out.set(name, value);
    }
    return out;
}

using CurveKey = std::pair<std::string, std::vector<std::pair<std::string, std::string>>>;

std::vector<Curve> curves_of(const Experiment& experiment, const Rows& records) {
    std::vector<Curve> out;
    std::map<CurveKey, std::size_t> known;
    for (const auto* row : records) {
        const auto& record = *row;
        if (record.family != experiment.family || record.status != Status::ok || !record.time) continue;
        const auto* axis = swept_axis(experiment, record.variant);
        const auto fixed = without(record, axis);
        const auto [at, is_new] = known.emplace(CurveKey{record.variant, fixed.values()}, out.size());
        if (is_new) out.push_back(Curve{record.variant, fixed, {}});
        out[at->second].samples.push_back(sample_of(record, position(axis, record)));
    }
    for (auto& curve : out) {
        std::ranges::stable_sort(curve.samples, [](const auto& a, const auto& b) { return a.x < b.x; });
    }
    return out;
}

/// What its own evidence leaves open by more than itself is no figure.
std::vector<Finding> believable(std::vector<Finding> findings) {
    for (auto& f : findings) {
        if (!f.withheld.empty() || !(f.high - f.low > std::abs(f.value))) continue;
        const auto text = [&](double x) {
            return f.unit == "byte"         ? format_bytes(static_cast<std::uint64_t>(std::max(0.0, x)))
                   : f.unit == "s"          ? (x < 0 ? "-" : "") + format_seconds(std::abs(x))
                   : f.unit.ends_with("/s") ? format_rate(x, f.unit)
                                            : format_significant(x, 3) + (f.unit.empty() ? "" : " " + f.unit);
        };
        f.withheld = "its interval, " + text(f.low) + " to " + text(f.high) + ", is wider than the value";
    }
    return findings;
}

}  // namespace

std::vector<Conclusion> curves_of_device(const Rows& records, const std::string& device) {
    std::vector<Conclusion> out;
    const auto key = records.empty() ? std::string() : model::device_key(*records.front());
    for (const auto& experiment : registry()) {
        if (experiment.curve_over.empty() && !experiment.conclude) continue;
        Conclusion conclusion{&experiment, curves_of(experiment, records), {}, device, key};
        if (!conclusion.curves.empty()) out.push_back(std::move(conclusion));
    }
    return out;
}

void keep_shorter(std::vector<Record>& records, std::vector<Record> again) {
    constexpr double disturbed = 0.1;
    for (auto& second : again) {
        if (second.status != Status::ok || !second.time || second.time->uncertainty() > disturbed) continue;
        const auto first = std::ranges::find_if(
            records, [&](const Record& r) { return r.id == second.id && r.point == second.point; });
        if (first != records.end() && first->time && second.time->median < first->time->median)
            *first = std::move(second);
    }
}

std::vector<Conclusion> conclude(const std::vector<Record>& records, const Device& device) {
    const auto own = rows_of(records, [&](const auto& r) { return r.device.selector == device.selector; });
    auto out = curves_of_device(own, device.name + " (" + device.selector + ")");
    for (auto& conclusion : out)
        if (conclusion.experiment->conclude)
            conclusion.findings = believable(conclusion.experiment->conclude(conclusion.curves, device));
    return out;
}

std::vector<std::optional<CurvePlace>> places_in_curves(const std::vector<Record>& records,
                                                        const std::vector<Conclusion>& conclusions) {
    std::map<std::pair<std::string, std::string>, std::size_t> families;  // by device and family
    std::map<std::pair<std::size_t, CurveKey>, std::size_t> curves;
    for (std::size_t k = 0; k < conclusions.size(); ++k) {
        families[{conclusions[k].device_key, conclusions[k].experiment->family}] = k;
        for (std::size_t m = 0; m < conclusions[k].curves.size(); ++m)
            if (const auto& curve = conclusions[k].curves[m]; is_long_enough(curve))
                curves[{k, {curve.variant, curve.fixed.values()}}] = m;
    }
    std::vector<std::optional<CurvePlace>> out(records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
        const auto& record = records[i];
        const auto found = record.status == Status::ok && record.time
                               ? families.find({model::device_key(record), record.family})
                               : families.end();
        if (found == families.end()) continue;
        const auto* axis = swept_axis(*conclusions[found->second].experiment, record.variant);
        if (!axis) continue;
        const auto curve = curves.find({found->second, {record.variant, without(record, axis).values()}});
        if (curve != curves.end()) out[i] = CurvePlace{found->second, curve->second, position(axis, record)};
    }
    return out;
}

Rows without_curves(const std::vector<Record>& records, const std::vector<Conclusion>& conclusions) {
    const auto places = places_in_curves(records, conclusions);
    Rows out;
    for (std::size_t i = 0; i < records.size(); ++i)
        if (!places[i]) out.push_back(&records[i]);
    return out;
}

}  // namespace cllab::portrait

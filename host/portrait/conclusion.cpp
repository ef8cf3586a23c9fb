#include "portrait/conclusion.hpp"

#include <algorithm>
#include <cmath>

#include "core/grouped.hpp"
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

/// x of a record on a curve: the number, the work-items of a shape, or the index of a choice; 0 without an axis.
double position(const Axis* axis, const Record& record) {
    if (!axis) return 0;
    const auto found = std::ranges::find(record.point, axis->name, &PointValues::value_type::first);
    if (found == record.point.end()) return 0;
    const auto& text = found->second;
    if (axis->kind == Axis::Kind::choice)
        return static_cast<double>(std::ranges::find(axis->choices, text) - axis->choices.begin());
    if (axis->kind != Axis::Kind::shape) return parse_real(text).value_or(0);
    Point point;
    point.set(axis->name, text);
    return text == "auto" ? 0 : static_cast<double>(point.shape(axis->name).count());
}

Curve::Sample sample_of(const Record& record, double x) {
    const auto& t = *record.time;
    Curve::Sample out{.x = x, .seconds = t.median, .low = t.low, .high = t.high, .n = t.n};
    for (const auto& [name, value] : record.metrics) {
        out.metrics[name] = value.value;
        if (name == "step_time") out.per_step = value.value;
        if (name == "bandwidth") out.work.bytes = value.value * t.median;
        if (name == "flops") out.work.flops = value.value * t.median;
    }
    if (out.per_step > 0) out.work.steps = t.median / out.per_step;
    if (const auto mode = half_sample_mode(record.samples); mode.value > 0) {
        out.metrics["mode"] = mode.value;
        out.metrics["mode_share"] = mode.share;
    }
    if (t.cores > 0) {
        out.metrics["cores"] = t.cores;
        out.metrics["cores_waited"] = t.waited;
    }
    if (record.code.registers) out.metrics["registers"] = static_cast<double>(*record.code.registers);
    // PTX does not count: it has register moves and conversions that machine code lacks.
    const auto& code = record.code;
    const auto count = code.loop.find("instructions");
    const auto from = code.origin.find("loop");
    if (count != code.loop.end() && (from == code.origin.end() || !from->second.starts_with("ptx")))
        out.metrics["loop_instructions"] = static_cast<double>(count->second);
    if (record.code.spills) out.metrics["spills"] = static_cast<double>(*record.code.spills);
    return out;
}

Point without(const Record& record, const Axis* axis) {
    Point out;
    for (const auto& [name, value] : record.point)
        if (!axis || name != axis->name) out.set(name, value);
    return out;
}

void add_curves(Conclusion& out, const Rows& records) {
    const auto& experiment = *out.experiment;
    auto own = records;
    std::erase_if(own, [&](const Record* r) { return r->family != experiment.family || !r->time; });
    const auto fixed = [&](const Record* r) { return without(*r, swept_axis(experiment, r->variant)); };
    for (auto& points : grouped(own, [&](const Record* r) { return std::pair(r->variant, fixed(r).values()); })) {
        const auto& first = *points.front();
        const auto* axis = swept_axis(experiment, first.variant);
        const auto place = [axis](const Record* r) { return position(axis, *r); };
        std::ranges::stable_sort(points, {}, place);
        auto& curve = out.curves.emplace_back(Curve{first.variant, fixed(&first), {}});
        for (const auto* r : points) curve.samples.push_back(sample_of(*r, place(r)));
        out.points.push_back(std::move(points));
    }
}

/// Withholds findings whose interval is wider than their value.
std::vector<Finding> believable(std::vector<Finding> findings) {
    for (auto& f : findings) {
        if (!f.withheld.empty() || !(f.high - f.low > std::abs(f.value))) continue;
        f.withheld = "too uncertain: it lies between " + value_text(f.low, f.unit) + " and " +
                     value_text(f.high, f.unit) + "; an idle machine or a profile without --quick may narrow it";
    }
    return findings;
}

}  // namespace

std::vector<std::pair<std::string, const Finding*>> findings_of(const std::vector<Conclusion>& conclusions) {
    std::vector<std::pair<std::string, const Finding*>> out;
    for (const auto& conclusion : conclusions)
        for (const auto& finding : conclusion.findings)
            out.emplace_back(conclusion.experiment->family + "." + finding.id, &finding);
    return out;
}

std::vector<Conclusion> curves_of_device(const Rows& records, const std::string& device) {
    std::vector<Conclusion> out;
    const auto key = records.empty() ? std::string() : model::device_key(*records.front());
    for (const auto& experiment : registry()) {
        if (experiment.curve_over.empty() && !experiment.conclude) continue;
        Conclusion conclusion{&experiment, {}, {}, device, key};
        add_curves(conclusion, records);
        if (!conclusion.curves.empty()) out.push_back(std::move(conclusion));
    }
    return out;
}

std::vector<Conclusion> conclude(const std::vector<Record>& records, const Device& device) {
    const auto own = rows_of(records, [&](const auto& r) { return r.device.selector == device.selector; });
    auto out = curves_of_device(own, device.name + " (" + device.selector + ")");
    for (auto& conclusion : out)
        if (conclusion.experiment->conclude)
            conclusion.findings = believable(conclusion.experiment->conclude(conclusion.curves, device));
    return out;
}

std::unordered_set<const Record*> points_of_curves(const std::vector<Conclusion>& conclusions) {
    std::unordered_set<const Record*> out;
    for (const auto& conclusion : conclusions)
        for (std::size_t i = 0; i < conclusion.curves.size(); ++i)
            if (is_long_enough(conclusion.curves[i]))
                out.insert(conclusion.points[i].begin(), conclusion.points[i].end());
    return out;
}

}  // namespace cllab::portrait

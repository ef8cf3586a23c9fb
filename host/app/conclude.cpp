#include "app/conclude.hpp"

#include <algorithm>
#include <ostream>

#include "core/units.hpp"
#include "model/registry.hpp"
#include "report/curve.hpp"

namespace cllab::app {
namespace {

using namespace model;

constexpr std::size_t least_points = 3;

double metric(const Record& record, const std::string& wanted) {
    for (const auto& [name, value] : record.metrics) {
        if (name == wanted) return value.value;
    }
    return 0;
}

const std::string* coordinate(const Record& record, const std::string& axis) {
    for (const auto& [name, value] : record.point) {
        if (name == axis) return &value;
    }
    return nullptr;
}

Curve::Sample sample_of(const Record& record, double x) {
    Curve::Sample out;
    const auto& t = *record.time;
    out.x = x;
    out.seconds = t.median;
    out.low = t.low;
    out.high = t.high;
    out.per_step = metric(record, "step_time");
    out.work.bytes = metric(record, "bandwidth") * t.median;
    out.work.flops = metric(record, "flops") * t.median;
    if (out.per_step > 0) out.work.steps = t.median / out.per_step;
    return out;
}

Point without(const Record& record, const std::string& axis) {
    Point out;
    for (const auto& [name, value] : record.point) {
        if (name != axis) out.set(name, value);
    }
    return out;
}

std::vector<Curve> curves_of(const Experiment& experiment, const std::vector<Record>& records, const Device& device) {
    std::vector<Curve> out;
    for (const auto& record : records) {
        if (record.family != experiment.family || record.device.selector != device.selector || record.status != Status::ok ||
            !record.time)
            continue;
        double x = 0;
        if (const auto* text = coordinate(record, experiment.curve_over)) x = parse_real(*text).value_or(0);
        const auto fixed = without(record, experiment.curve_over);
        auto curve = std::find_if(out.begin(), out.end(),
                                  [&](const auto& c) { return c.variant == record.variant && c.fixed == fixed; });
        if (curve == out.end()) curve = out.insert(out.end(), Curve{record.variant, fixed, {}});
        curve->samples.push_back(sample_of(record, x));
    }
    for (auto& curve : out) {
        std::stable_sort(curve.samples.begin(), curve.samples.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
    }
    return out;
}

}  // namespace

std::vector<Conclusion> conclude(const std::vector<Record>& records, const Device& device) {
    std::vector<Conclusion> out;
    for (const auto& experiment : registry()) {
        if (experiment.curve_over.empty() && !experiment.conclude) continue;
        Conclusion conclusion{&experiment, curves_of(experiment, records, device), {}};
        if (conclusion.curves.empty()) continue;
        if (experiment.conclude) conclusion.findings = experiment.conclude(conclusion.curves, device);
        out.push_back(std::move(conclusion));
    }
    return out;
}

bool shown_as_curve(const Record& record, const std::vector<Conclusion>& conclusions) {
    if (record.status != Status::ok) return false;
    return std::any_of(conclusions.begin(), conclusions.end(), [&](const auto& conclusion) {
        const auto& experiment = *conclusion.experiment;
        if (experiment.family != record.family || experiment.curve_over.empty()) return false;
        const auto fixed = without(record, experiment.curve_over);
        return std::any_of(conclusion.curves.begin(), conclusion.curves.end(), [&](const auto& curve) {
            return curve.variant == record.variant && curve.fixed == fixed && curve.samples.size() >= least_points;
        });
    });
}

void print_conclusions(std::ostream& out, const std::vector<Conclusion>& conclusions, const report::TableStyle& style) {
    for (const auto& conclusion : conclusions) {
        const auto& experiment = *conclusion.experiment;
        std::string unit;
        for (const auto& axis : experiment.axes) {
            if (axis.name == experiment.curve_over) unit = axis.unit;
        }
        bool any = false;
        for (const auto& curve : conclusion.curves) {
            if (experiment.curve_over.empty() || curve.samples.size() < least_points) continue;
            out << '\n';
            report::print_curve(out, curve, {experiment.family + "_" + curve.variant, experiment.curve_over, unit},
                                conclusion.findings, style);
            any = true;
        }
        if (conclusion.findings.empty()) continue;
        out << (any ? "\n" : "\n" + experiment.family + "\n");
        report::print_findings(out, conclusion.findings, style);
    }
}

}  // namespace cllab::app

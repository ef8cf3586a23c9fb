#include "app/claim_test.hpp"

#include <algorithm>

#include "app/versus.hpp"
#include "core/units.hpp"
#include "explain/claim.hpp"
#include "model/params.hpp"
#include "model/work.hpp"
#include "report/comparison.hpp"

namespace cllab::app {
namespace {

constexpr double seconds_of_a_test = 4;

struct Change {
    model::Cell cell;
    model::ClaimTest test;
    bool elsewhere = false;
};

std::string value_of(const model::Record& record, const std::string& axis) {
    for (const auto& [name, value] : record.point)
        if (name == axis) return value;
    return "";
}

/// The work that the cell would declare; nothing when there is no such cell here.
std::optional<model::WorkInfo> work_of(const model::Cell& cell, const run::Settings& settings, const model::Device& device) {
    try {
        return model::work_of(model::set_up(*cell.experiment, {*cell.variant, cell.point, device, settings.seed, settings.files, 1}));
    } catch (const Unsupported&) {
    } catch (const Error&) {
    }
    return std::nullopt;
}

/// One change that the claim predicts something of with the limiter still there, and one with the data elsewhere, as far as there are such.
std::vector<Change> changes(const run::Settings& settings, const model::Device& device, const model::Cell& cell, const model::Record& record,
                            const model::Explanation& claim, const model::Limits& limits) {
    constexpr double most_bytes = 1 << 30;  // of the larger cell: it is made anew for each arrangement
    std::vector<Change> out;
    const auto lacks = [&](bool elsewhere) { return std::none_of(out.begin(), out.end(), [&](const auto& c) { return c.elsewhere == elsewhere; }); };
    for (const auto& axis : model::axes_of(*cell.experiment, *cell.variant)) {
        const auto before = parse_integer(value_of(record, axis.name));
        if (axis.kind != model::Axis::Kind::integer || !before || *before < 1) continue;
        for (const double factor : {2.0, 0.5, 8.0, 0.125}) {
            if (!lacks(false) && !lacks(true)) return out;
            if (factor > 1 && record.work.footprint * factor > most_bytes) continue;
            const auto after = static_cast<std::int64_t>(static_cast<double>(*before) * factor);
            if (after < 1 || after == *before) continue;
            Change change{cell, {axis.name, std::to_string(*before), std::to_string(after)}};
            try {
                model::expand_axis(axis, change.test.after);
            } catch (const Error&) {
                continue;
            }
            change.cell.point.set(axis.name, change.test.after);
            const auto work = work_of(change.cell, settings, device);
            const auto prediction = work ? explain::predict(record, claim, *work, limits) : std::nullopt;
            if (!prediction || !lacks(prediction->elsewhere)) continue;
            change.test.low = prediction->low;
            change.test.high = prediction->high;
            change.test.because = prediction->because;
            change.elsewhere = prediction->elsewhere;
            out.push_back(std::move(change));
        }
    }
    return out;
}

}  // namespace

void test_claim(Runner& runner, const run::Settings& settings, const model::Device& device, const model::Cell& cell, const model::Record& record,
                model::Explanation& claim, const std::function<void(const std::string&)>& progress) {
    if (!claim.limiter()) return;
    for (auto& change : changes(settings, device, cell, record, claim, settings.limits.at(device.selector))) {
        auto& test = change.test;
        auto changed = record;
        changed.code.fingerprint.clear();
        const auto comparison = compare_cells(runner, settings, device.selector, {change.cell, cell}, changed, record, seconds_of_a_test,
                                              [&](const model::Comparison& so_far) {
                                                  progress(test.axis + "=" + test.after + ": " + report::comparison_progress(so_far));
                                              });
        test.found = comparison.judgement.ratio;
        test.trouble = comparison.trouble;
        if (test.trouble.empty()) test.outcome = explain::judge(test.low, test.high, test.found);
        claim.tests.push_back(test);
    }
    if (claim.tests.empty()) claim.untested = "no axis of the cell changes its work so that this limiter predicts what no other one does";
    explain::conclude(claim);
}

}  // namespace cllab::app

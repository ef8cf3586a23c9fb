#include "explain/claim/claim.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "model/work.hpp"

namespace cllab::explain {
namespace {

/// A cell to be measured against the one that it was made of, and what the claim predicts of it.
struct Planned {
    ChangedCell changed;
    ClaimTest test;
    Prediction prediction;
};

/// What is tested, and with what.
struct Tested {
    Measure& measure;
    const Limits& limits;
    const Explanation& claim;
    Unchanged cell;

    const Record& record() const { return cell.record; }
};

std::string value_of(const Record& record, const std::string& axis) {
    for (const auto& [name, value] : record.point)
        if (name == axis) return value;
    return "";
}

/// The values of an axis to try, as they are typed: those of a number larger and smaller, those of a group's shape
/// twice and half as wide.
std::vector<std::pair<std::string, double>> values_near(const Axis& axis, const std::string& before) {
    std::vector<std::pair<std::string, double>> out;
    if (axis.kind == Axis::Kind::integer) {
        const auto number = parse_integer(before);
        for (const double factor : {2.0, 0.5, 8.0, 1.0 / 8, 1.0 / 32, 1.0 / 128, 1.0 / 512}) {
            const auto after = number ? static_cast<std::int64_t>(static_cast<double>(*number) * factor) : 0;
            if (number && *number >= 1 && after >= 1 && after != *number)
                out.emplace_back(std::to_string(after), factor);
        }
    } else if (axis.kind == Axis::Kind::shape) {
        const auto cross = before.find('x');
        const auto wide = parse_integer(before.substr(0, cross));
        for (const double factor : {2.0, 0.5}) {
            const auto after = wide ? static_cast<std::int64_t>(static_cast<double>(*wide) * factor) : 0;
            if (after >= 16) out.emplace_back(concat(after, cross == std::string::npos ? "" : before.substr(cross)), 1);
        }
    }
    return out;
}

/// One change that the claim predicts something of with the limiter still there, one with the data elsewhere, and one
/// with the same work in other groups, as far as there are such.
std::vector<Planned> changed_axes(const Tested& of) {
    constexpr double most_bytes = 1 << 30;  // of the larger cell: it is made anew for each arrangement
    // The least change that tells the limiter from another is taken; where none does so clearly, the one that does so
    // best.
    constexpr double clearly = 1.3;
    // Groups of fewer than two waves leave a GPU idle, and narrow ones make a CPU's compiler write other code.
    const double least_group = of.cell.device.is_gpu() ? 128 : 32;
    std::vector<Planned> out;
    if (of.record().counts) return out;  // the counts are of this point
    for (const auto& axis : axes_of(*of.cell.cell.experiment, *of.cell.cell.variant)) {
        const auto before = value_of(of.record(), axis.name);
        for (const auto& [after, factor] : values_near(axis, before)) {
            if (factor > 1 && of.record().work.footprint * factor > most_bytes) continue;
            Planned change{{of.cell.cell}, {axis.name, before, after}, {}};
            change.changed.cell.point.set(axis.name, after);
            std::optional<Prediction> prediction;
            try {
                expand_axis(axis, after);
                const auto work = work_of(of.measure.set_up(change.changed.cell));
                prediction = predict(of.record(), of.claim, work, of.limits);
                if (prediction && prediction->divided && std::min(work.group, of.record().work.group) < least_group)
                    continue;
            } catch (const Unsupported&) {  // there is no such cell here
            } catch (const Error&) {
            }
            if (!prediction) continue;
            change.prediction = *prediction;
            const auto alike = std::ranges::find_if(out, [&](const auto& other) {
                return other.prediction.elsewhere == prediction->elsewhere &&
                       (prediction->elsewhere || other.prediction.divided == prediction->divided);
            });
            if (alike == out.end())
                out.push_back(std::move(change));
            else if (alike->prediction.apart < clearly && prediction->apart > alike->prediction.apart)
                *alike = std::move(change);
        }
    }
    return out;
}

/// Adds the cell with half of its work-items; else says why there is none.
std::string add_half_of_items(const Tested& of, std::vector<Planned>& out) {
    const auto halved = half_of_items(of.cell);
    if (const auto* why = std::get_if<std::string>(&halved)) return *why;
    const auto& half = std::get<HalfItems>(halved);
    const auto prediction = predict(of.record(), of.claim, half.work, of.limits);
    if (!prediction) return "half of the work-items may take equally long whatever the limiter is";
    const auto number = [](double items) { return std::to_string(static_cast<std::uint64_t>(items)); };
    out.push_back({half.changed, {"work-items", number(half.before), number(half.after)}, *prediction});
    return "";
}

/// The test as it came out.
ClaimTest measured(const Tested& of, const Planned& planned) {
    // A prediction is wide, so that five arrangements that all lie within it, or all beside it, say which: by chance
    // one in sixteen of a ratio at its end does. More are taken, as long as there is time, while they differ by more
    // than it is wide.
    auto out = planned.test;
    out.low = planned.prediction.low;
    out.high = planned.prediction.high;
    out.because = planned.prediction.because;
    const double wide = std::sqrt(out.high / std::max(out.low, 0.1 * out.high)) - 1;
    const auto comparison = of.measure.compare(planned.changed.cell, of.cell.cell, of.record(),
                                               out.axis + "=" + out.after, {4, 0.93, 5, wide});
    out.found = comparison.judgement.ratio;
    out.trouble = comparison.trouble;
    if (out.trouble.empty()) out.outcome = judge(out.low, out.high, out.found);
    return out;
}

}  // namespace

void test_claim(Measure& measure, const Cell& cell, const Record& record, const Limits& limits, Explanation& claim) {
    constexpr std::size_t most_tests = 3;
    if (!claim.limiter()) return;
    auto setup = measure.set_up(cell);
    auto built = measure.built_from(cell, setup);
    const Tested of{measure, limits, claim, {cell, record, measure.device(), std::move(setup), std::move(built)}};
    auto planned = changed_axes(of);
    const auto no_half = add_half_of_items(of, planned);
    // Those that tell most.
    std::ranges::stable_sort(planned, std::greater(), [](const auto& p) { return p.prediction.apart; });
    if (planned.size() > most_tests) planned.resize(most_tests);
    for (const auto& each : planned) {
        claim.tests.push_back(measured(of, each));
        if (claim.tests.back().outcome == Outcome::otherwise) break;
    }
    if (planned.empty())
        claim.untested = "no axis of the cell separates this limiter's prediction from those of the others; ";
    if (!no_half.empty()) claim.untested += "with half of the work-items: " + no_half;
    conclude(claim);
}

}  // namespace cllab::explain

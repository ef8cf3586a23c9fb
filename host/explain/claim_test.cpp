#include "explain/claim_test.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "core/error.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/changed_cell.hpp"
#include "explain/claim.hpp"
#include "model/work.hpp"

namespace cllab::explain {
namespace {

/// A cell to be measured against the one that it was made of, and what the claim predicts of it.
struct Planned {
    ChangedCell changed;
    model::ClaimTest test;
    Prediction prediction;
};
using PlannedOrWhyNot = std::variant<Planned, std::string>;

/// What is tested, and with what.
struct Tested {
    Measure& measure;
    const model::Limits& limits;
    const model::Explanation& claim;
    Unchanged cell;

    const model::Record& record() const { return cell.record; }
    bool on_gpu() const { return cell.device.is_gpu(); }
    model::Record alone(const ChangedCell& changed) const {
        constexpr double seconds = 0.02;  // for its code, and for whether it is right
        return measure.run(changed.cell, seconds, true);
    }
};

std::string value_of(const model::Record& record, const std::string& axis) {
    for (const auto& [name, value] : record.point)
        if (name == axis) return value;
    return "";
}

/// The values of an axis to try, as they are typed: those of a number larger and smaller, those of a group's shape
/// twice and half as wide.
std::vector<std::pair<std::string, double>> values_near(const model::Axis& axis, const std::string& before) {
    std::vector<std::pair<std::string, double>> out;
    if (axis.kind == model::Axis::Kind::integer) {
        const auto number = parse_integer(before);
        for (const double factor : {2.0, 0.5, 8.0, 1.0 / 8, 1.0 / 32, 1.0 / 128, 1.0 / 512}) {
            const auto after = number ? static_cast<std::int64_t>(static_cast<double>(*number) * factor) : 0;
            if (number && *number >= 1 && after >= 1 && after != *number)
                out.emplace_back(std::to_string(after), factor);
        }
    } else if (axis.kind == model::Axis::Kind::shape) {
        const auto cross = before.find('x');
        const auto wide = parse_integer(before.substr(0, cross));
        for (const double factor : {2.0, 0.5}) {
            const auto after = wide ? static_cast<std::int64_t>(static_cast<double>(*wide) * factor) : 0;
            if (after >= 16)
                out.emplace_back(std::to_string(after) + (cross == std::string::npos ? "" : before.substr(cross)), 1);
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
    const double least_group = of.on_gpu() ? 128 : 32;
    std::vector<Planned> out;
    if (of.record().counts) return out;  // the counts are of this point
    for (const auto& axis : model::axes_of(*of.cell.cell.experiment, *of.cell.cell.variant)) {
        const auto before = value_of(of.record(), axis.name);
        for (const auto& [after, factor] : values_near(axis, before)) {
            if (factor > 1 && of.record().work.footprint * factor > most_bytes) continue;
            Planned change{{of.cell.cell}, {axis.name, before, after}, {}};
            change.changed.cell.point.set(axis.name, after);
            std::optional<Prediction> prediction;
            try {
                model::expand_axis(axis, after);
                const auto work = model::work_of(of.measure.set_up(change.changed.cell));
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

/// The cell with fewer groups resident; else why there is none.
PlannedOrWhyNot fewer_waves(const Tested& of) {
    const auto plan = plan_ballast(of.cell);
    if (const auto* why = std::get_if<std::string>(&plan)) return *why;
    const auto& residency = std::get<Residency>(plan);
    auto prediction = predict_fewer(of.record(), of.claim, static_cast<double>(residency.after) / residency.before);
    const auto before = std::to_string(residency.before), after = std::to_string(residency.after);
    if (!prediction) return "with " + after + " waves a unit instead of " + before + " any limiter may take as long";
    const auto changed = with_ballast(of.cell, residency.bytes);
    if (!changed) return "cllab does not find the kernel in its text, or an operation has several launches";
    const auto found = of.alone(*changed);
    const std::string with = "with local memory that it does not use the kernel ";
    if (found.status != model::Status::ok) return with + "is " + model::name(found.status) + ": " + found.reason;
    // It says nothing of fewer waves unless it has the registers that the cell has.
    const auto &ours = found.code, &theirs = of.record().code;
    if (ours.registers != theirs.registers || ours.spills != theirs.spills)
        return with + "has " + std::to_string(ours.registers.value_or(0)) + " registers, not " +
               std::to_string(theirs.registers.value_or(0));
    prediction->because += ", by " + std::to_string(residency.bytes) + " bytes of local memory that no group uses";
    return Planned{*changed, {"waves a unit", before, after}, *prediction};
}

/// The cell with half of its work-items; else why there is none.
PlannedOrWhyNot fewer_items(const Tested& of) {
    const auto halved = half_of_items(of.cell);
    if (const auto* why = std::get_if<std::string>(&halved)) return *why;
    const auto& half = std::get<HalfItems>(halved);
    const auto prediction = predict(of.record(), of.claim, half.work, of.limits);
    if (!prediction) return "half of the work-items may take equally long whatever the limiter is";
    const auto number = [](double items) { return std::to_string(static_cast<std::uint64_t>(items)); };
    return Planned{half.changed, {"work-items", number(half.before), number(half.after)}, *prediction};
}

/// The cell with multiply-adds that nothing needs; else why there is none.
PlannedOrWhyNot more_arithmetic(const Tested& of) {
    constexpr double part = 0.4;             // of the time that they are to take: seen by any limiter, and idle in some
    constexpr unsigned few = 4, most = 512;  // of a work-item
    const auto& record = of.record();
    const double items = static_cast<double>(of.cell.setup.global.count()), time = record.time->median,
                 units = std::max(1u, of.cell.device.compute_units);
    // What stands in front of a work-item's own work runs beside that of others, of which there must be many at a time:
    // four times the 2048 that a unit holds, and on a core as many as fit into what it looks ahead, twenty ns.
    if (of.on_gpu() && items < 8192 * units)
        return "there are too few work-items to overlap the added work with the kernel's own";
    if (!of.on_gpu() && time * units / items > 20e-9)
        return "each work-item runs too long to overlap the added work with the kernel's own";
    const auto is_sampled = [](const model::Record& r) { return r.hot && r.hot->evidence == model::Hot::sampled; };
    if (!of.on_gpu() && !is_sampled(record)) return "the vector width of its code is not known";
    const auto least = arithmetic_of(record, few * items, of.limits);
    if (!least) return "the profile has no float peak";
    const double times = std::ceil(part * time / least->seconds);
    if (least->seconds > 0.6 * time || few * times > most) return "no number of them takes a useful part of its time";
    const auto operations = few * static_cast<unsigned>(times);
    const auto prediction = predict_more_arithmetic(record, of.claim, least->seconds * times);
    if (!prediction) return "their effect under this limiter is not known";
    const auto changed = with_arithmetic(of.cell, operations);
    if (!changed)
        return "cllab does not find the kernel in its text, an operation has several launches, or the time is per step "
               "of a loop";
    const auto found = of.alone(*changed);
    if (found.status != model::Status::ok)
        return std::string("the kernel with them is ") + model::name(found.status) + ": " + found.reason;
    if (found.code.spills.value_or(0) != record.code.spills.value_or(0)) return "the kernel with them spills registers";
    if (of.on_gpu() && of.cell.waves(found) != of.cell.waves(record))
        return "with them, its registers change the number of waves per unit";
    const auto after = arithmetic_of(found, few * items, of.limits);
    if (!of.on_gpu() && (!is_sampled(found) || !after || after->seconds != least->seconds))
        return "with them, the compiler uses other vectors, or the vectors are not known";
    return Planned{*changed, {"multiply-adds", "none", std::to_string(operations) + " more"}, *prediction};
}

/// The test as it came out.
model::ClaimTest measured(const Tested& of, const Planned& planned) {
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

void test_claim(Measure& measure, const model::Cell& cell, const model::Record& record, const model::Limits& limits,
                model::Explanation& claim) {
    constexpr std::size_t most_tests = 3;
    if (!claim.limiter()) return;
    auto setup = measure.set_up(cell);
    auto built = measure.built_from(cell, setup);
    const Tested of{measure, limits, claim, {cell, record, measure.device(), std::move(setup), std::move(built)}};
    auto planned = changed_axes(of);
    std::vector<std::string> without;
    const auto plan = [&](const char* what, PlannedOrWhyNot found) {
        if (auto* change = std::get_if<Planned>(&found))
            planned.push_back(std::move(*change));
        else
            without.push_back(std::string(what) + ": " + std::get<std::string>(found));
    };
    plan("with fewer groups resident", fewer_waves(of));
    plan("with half of the work-items", fewer_items(of));
    plan("with more arithmetic", more_arithmetic(of));
    // Those that tell most.
    std::ranges::stable_sort(planned, std::greater(), [](const auto& p) { return p.prediction.apart; });
    if (planned.size() > most_tests) planned.resize(most_tests);
    for (const auto& each : planned) {
        claim.tests.push_back(measured(of, each));
        if (claim.tests.back().outcome == model::Outcome::otherwise) break;
    }
    if (planned.empty())
        without.insert(without.begin(),
                       "no axis of the cell separates this limiter's prediction from those of the others");
    claim.untested = join(without, "; ");
    conclude(claim);
}

}  // namespace cllab::explain

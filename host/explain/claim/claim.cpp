#include "explain/claim/claim.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/limiter.hpp"
#include "model/work.hpp"

namespace cllab::explain {
namespace {

/// Of peaks that are no more than bounds, and of work that is not quite proportional: twice explain::alike.
constexpr double tolerance = 0.1;
constexpr double least_apart = 1 + tolerance;       ///< predictions that differ by less are no test
constexpr double still_faster = 1 - tolerance / 2;  ///< by the byte than in the slower level, beyond what is alike
/// Work of which as much more or less is no more of the same: half of what the least change of an axis makes, twice.
constexpr double most_alike = 1.5;

/// How many times the work there is, at the most of what is declared.
double growth(const WorkInfo& before, const WorkInfo& after) {
    double out = 0;
    for (const auto member : {&WorkInfo::bytes, &WorkInfo::flops, &WorkInfo::atomics})
        if (before.*member > 0) out = std::max(out, after.*member / before.*member);
    return out;
}

/// What the bounds come to together as the claim has it: those of the launch and of the largest else add up where it
/// says so.
double together(const std::vector<Bound>& bounds, const Explanation& claim) {
    if (!claim.follower()) return bounds.front().seconds;
    double launch = 0, other = 0;
    for (const auto& b : bounds)
        (b.id == "launch" ? launch : other) = std::max(b.id == "launch" ? launch : other, b.seconds);
    return launch + other;
}

/// The cell as it declares `changed`. What a profiler counted is of the cell as it was.
Record record_of(const Record& record, const WorkInfo& changed) {
    auto out = record;
    out.work = changed;
    out.counters.clear();
    if (!record.counts) return out;
    // The same code in so many groups more or less: each work-item does what it did.
    auto counts = *record.counts;
    const double part = record.work.groups > 0 ? changed.groups / record.work.groups : 1;
    for (double* number : {&counts.items, &counts.groups}) *number *= part;
    counts.counted_groups = std::min(counts.counted_groups, counts.groups);
    out.counts = std::make_shared<const Counts>(std::move(counts));
    return out;
}

bool is_rate_of_cache(const Bound& bound) { return bound.id.size() == 2 && bound.id.front() == 'l'; }

bool is_rate_of_memory(const Bound& bound) { return bound.id == "memory" || is_rate_of_cache(bound); }

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
};

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
    if (of.cell.record.counts) return out;  // the counts are of this point
    for (const auto& axis : axes_of(*of.cell.cell.experiment, *of.cell.cell.variant)) {
        const auto* const before = find_in(of.cell.record.point, axis.name);
        if (!before) continue;
        for (const auto& [after, factor] : values_near(axis, *before)) {
            if (factor > 1 && of.cell.record.work.footprint * factor > most_bytes) continue;
            Planned change{{of.cell.cell}, {axis.name, *before, after}, {}};
            change.changed.cell.point.set(axis.name, after);
            std::optional<Prediction> prediction;
            try {
                expand_axis(axis, after);
                const auto work = work_of(of.measure.set_up(change.changed.cell));
                prediction = predict(of.cell.record, of.claim, work, of.limits);
                if (prediction && prediction->divided && std::min(work.group, of.cell.record.work.group) < least_group)
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
    const auto prediction = predict(of.cell.record, of.claim, half.work, of.limits);
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
    const auto comparison = of.measure.compare(planned.changed.cell, of.cell.cell, of.cell.record,
                                               out.axis + "=" + out.after, {4, 0.93, 5, wide});
    out.found = comparison.judgement.ratio;
    out.trouble = comparison.trouble;
    if (out.trouble.empty()) out.outcome = judge(out.low, out.high, out.found);
    return out;
}

}  // namespace

std::optional<Prediction> predict(const Record& record, const Explanation& claim, const WorkInfo& changed,
                                  const Limits& limits) {
    const auto* limiter = claim.limiter();
    if (!limiter || !record.time) return std::nullopt;
    auto after = record_of(record, changed);
    const auto bounds = bounds_of(after, limits).bounds;
    if (bounds.empty()) return std::nullopt;
    const double time = record.time->median, rest = std::max(0.0, time - claim.seconds());
    const auto& largest = bounds.front();
    const auto is_there = [&](const Bound* wanted) {
        return !wanted || std::ranges::any_of(bounds, [&](const auto& b) { return b.id == wanted->id; });
    };
    const bool same = is_there(limiter) && is_there(claim.follower());
    // Another value of an axis may make other code: how wide its vectors are was seen in this code only, and they may
    // be wider then.
    after.hot.reset();
    auto of_any_code = bounds_of(after, limits).bounds;
    // In what order loads come, how many hit a nearer level and where addresses lie may be other than before, and what
    // was not measured lies anywhere in its interval.
    const auto is_vague = [](const Bound& b) {
        return b.id == "latency" || b.id == "atomics" || b.id == "local_atomics" || is_rate_of_cache(b);
    };
    for (auto& bound : of_any_code)
        if (is_vague(bound)) bound.seconds = bound.low;
    // Where the data will lie is known as far as it is known where each level ends: no time is below the one, none
    // above the other.
    auto farther = bounds_of(record_of(record, changed), limits, Capacity::least).bounds;
    for (auto& bound : farther)
        if (is_vague(bound)) bound.seconds = bound.high;
    const double least = of_any_code.empty() ? 0 : together(of_any_code, claim);
    const double here = std::max(together(bounds, claim), farther.empty() ? 0 : together(farther, claim));
    // The same work in more groups or fewer: what starts them, and waits at their barriers, has more or less to do.
    const double work = growth(record.work, changed),
                 groups = record.work.groups > 0 ? changed.groups / record.work.groups : 1;
    const bool divided = work == 1 && (groups >= 2 || (groups > 0 && groups <= 0.5));
    const double more = divided ? groups : work;
    Prediction out{(1 - tolerance) * least / time, 0, "", !same};
    if (same) {
        out.high = (1 + tolerance) * (here + rest * std::max(1.0, more)) / time;
        out.because = largest.name + " bounds it then";
        out.divided = divided;
        // A time that stays tells something only where the work does not: of other limiters it goes with that.
        const bool stays = out.low <= 1 && out.high >= 1;
        if (!stays)
            out.apart = out.low > 1 ? out.low : 1 / out.high;
        else if (more >= most_alike)
            out.apart = more / out.high;
        else if (more > 0 && more * most_alike <= 1)
            out.apart = out.low / more;
        return stays && out.apart < least_apart ? std::nullopt : std::optional(out);
    }
    if (!is_rate_of_memory(*limiter) || !is_rate_of_memory(largest) || record.work.bytes <= 0) return std::nullopt;
    const double bytes = changed.bytes / record.work.bytes;
    // A level that is hardly faster says nothing: the limiter alone may be most of the time
    // (explain::most_of_the_time).
    if (largest.seconds / bytes > most_of_the_time * limiter->seconds) return std::nullopt;
    const bool surely = std::ranges::any_of(farther, [&](const auto& b) { return b.id == largest.id; });
    if (!surely) return std::nullopt;
    out.apart = 1 / still_faster;
    out.high = still_faster * bytes;
    out.because = largest.name + " is higher than " + limiter->name;
    return out.low < out.high ? std::optional(out) : std::nullopt;
}

Outcome judge(double low, double high, const RatioEstimate& found) {
    if (!found.covered()) return Outcome::undecided;
    if (found.low >= low && found.high <= high) return Outcome::as_predicted;
    return found.high < low || found.low > high ? Outcome::otherwise : Outcome::undecided;
}

void conclude(Explanation& claim) {
    const bool fails = std::ranges::any_of(claim.tests, [](const auto& t) { return t.outcome == Outcome::otherwise; });
    if (fails) claim.limit = Limit::withdrawn;
}

void test_claim(Measure& measure, const Cell& cell, const Record& record, const Limits& limits, Explanation& claim) {
    constexpr std::size_t most_tests = 3;
    if (!claim.limiter()) return;
    if (claim.by_elimination) {
        claim.untested = "it is named by what else does not take the time, and so predicts no other time";
        return;
    }
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

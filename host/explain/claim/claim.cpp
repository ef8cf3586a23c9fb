#include "explain/claim/claim.hpp"

#include <algorithm>

#include "core/units.hpp"
#include "explain/limiter.hpp"

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

}  // namespace cllab::explain

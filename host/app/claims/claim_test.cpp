#include "app/claims/claim_test.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "app/claims/ballast.hpp"
#include "app/claims/extra_arithmetic.hpp"
#include "app/claims/half_items.hpp"
#include "app/comparing/versus.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/claim.hpp"
#include "model/params.hpp"
#include "model/work.hpp"
#include "report/table/comparison.hpp"

namespace cllab::app {
namespace {

constexpr double seconds_of_a_test = 4;
constexpr std::size_t most_tests = 3;

struct Change {
    model::Cell cell;
    model::ClaimTest test;
    enum class Kind { amount, place, groups, residency, items, arithmetic } kind = Kind::amount;
    double apart = 1;                                       ///< as a prediction has it
    std::shared_ptr<const model::Experiment> experiment{};  ///< of a cell that is no experiment's of the lab
};

std::string value_of(const model::Record& record, const std::string& axis) {
    for (const auto& [name, value] : record.point)
        if (name == axis) return value;
    return "";
}

/// The work that the cell would declare; nothing when there is no such cell here.
std::optional<model::WorkInfo> work_of(const model::Cell& cell, const run::Settings& settings,
                                       const model::Device& device) {
    try {
        return model::work_of(
            model::set_up(*cell.experiment, {*cell.variant, cell.point, device, settings.seed, settings.files, 1}));
    } catch (const Unsupported&) {
    } catch (const Error&) {
    }
    return std::nullopt;
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
std::vector<Change> changes(const run::Settings& settings, const model::Device& device, const model::Cell& cell,
                            const model::Record& record, const model::Explanation& claim, const model::Limits& limits) {
    constexpr double most_bytes = 1 << 30;  // of the larger cell: it is made anew for each arrangement
    // The least change that tells the limiter from another is taken; where none does so clearly, the one that does so
    // best.
    constexpr double clearly = 1.3;
    std::vector<Change> out;
    const auto take = [&](Change change) {
        const auto before = std::find_if(out.begin(), out.end(), [&](const auto& c) { return c.kind == change.kind; });
        if (before == out.end())
            out.push_back(std::move(change));
        else if (before->apart < clearly && change.apart > before->apart)
            *before = std::move(change);
    };
    for (const auto& axis : model::axes_of(*cell.experiment, *cell.variant)) {
        const auto before = value_of(record, axis.name);
        for (const auto& [after, factor] : values_near(axis, before)) {
            if (factor > 1 && record.work.footprint * factor > most_bytes) continue;
            Change change{cell, {axis.name, before, after}};
            try {
                model::expand_axis(axis, change.test.after);
            } catch (const Error&) {
                continue;
            }
            change.cell.point.set(axis.name, change.test.after);
            const auto work = work_of(change.cell, settings, device);
            const auto prediction = work ? explain::predict(record, claim, *work, limits) : std::nullopt;
            // Groups of fewer than two waves leave a GPU idle, and narrow ones make a CPU's compiler write other code.
            if (!prediction ||
                (prediction->divided && std::min(work->group, record.work.group) < (device.is_gpu() ? 128 : 32)))
                continue;
            change.kind = prediction->elsewhere ? Change::Kind::place
                          : prediction->divided ? Change::Kind::groups
                                                : Change::Kind::amount;
            change.apart = prediction->apart;
            change.test.low = prediction->low;
            change.test.high = prediction->high;
            change.test.because = prediction->because;
            take(std::move(change));
        }
    }
    return out;
}

/// A changed cell as it runs alone.
model::Record run_alone(Runner& runner, const run::Settings& settings, const model::Device& device,
                        const model::Cell& cell) {
    run::RunRequest request{std::nullopt, {{cell}}, settings};
    request.settings.sampling_seconds = 0.02;
    request.settings.dumps.reset();
    request.settings.pictures.clear();
    model::Record found;
    runner.run(request, device.selector,
               {[](std::size_t, std::size_t, const model::Record&, const char*) {},
                [&](std::size_t, std::size_t, const model::Record& r) { found = r; }});
    return found;
}

/// Why the cell with a ballast says nothing of fewer waves: it must have the registers that the cell has.
std::string trouble_of(Runner& runner, const run::Settings& settings, const model::Device& device,
                       const model::Cell& cell, const model::Record& record) {
    const auto found = run_alone(runner, settings, device, cell);
    const std::string with = "with local memory that it does not use the kernel ";
    if (found.status != model::Status::ok) return with + "is " + model::name(found.status) + ": " + found.reason;
    if (found.code.registers == record.code.registers && found.code.spills == record.code.spills) return "";
    return with + "has " + std::to_string(found.code.registers.value_or(0)) + " registers, not " +
           std::to_string(record.code.registers.value_or(0));
}

/// The cell with fewer groups resident; else why there is none.
std::variant<Change, std::string> fewer_waves(Runner& runner, const run::Settings& settings,
                                              const model::Device& device, const model::Cell& cell,
                                              const model::Setup& setup, const model::Record& record,
                                              const model::Explanation& claim) {
    if (!device.is_gpu()) return "a CPU runs one group a core at a time";
    const auto plan = plan_ballast(record, device, local_arguments(setup));
    if (const auto* why = std::get_if<std::string>(&plan)) return *why;
    const auto& residency = std::get<Residency>(plan);
    const auto prediction =
        explain::predict_fewer(record, claim, static_cast<double>(residency.after) / residency.before);
    const auto before = std::to_string(residency.before), after = std::to_string(residency.after);
    if (!prediction) return "with " + after + " waves a unit instead of " + before + " any limiter may take as long";
    const auto ballasted = with_ballast(cell, setup, settings, device, residency.bytes);
    if (!ballasted) return "cllab does not find the kernel in its text, or an operation has several launches";
    if (const auto trouble = trouble_of(runner, settings, device, ballasted->cell, record); !trouble.empty())
        return trouble;
    Change out{ballasted->cell, {"waves a unit", before, after}, Change::Kind::residency, 1, ballasted->experiment};
    out.test.low = prediction->low;
    out.test.high = prediction->high;
    out.test.because =
        prediction->because + ", by " + std::to_string(residency.bytes) + " bytes of local memory that no group uses";
    return out;
}

/// The cell with half of its work-items; else why there is none.
std::variant<Change, std::string> fewer_items(const run::Settings& settings, const model::Device& device,
                                              const model::Cell& cell, const model::Setup& setup,
                                              const model::Record& record, const model::Explanation& claim,
                                              const model::Limits& limits) {
    const auto halved = half_of_items(cell, setup, record, settings, device);
    if (const auto* why = std::get_if<std::string>(&halved)) return *why;
    const auto& half = std::get<HalfItems>(halved);
    const auto prediction = explain::predict(record, claim, half.work, limits);
    if (!prediction) return "half of the work-items may take equally long whatever the limiter is";
    const auto number = [](double items) { return std::to_string(static_cast<std::uint64_t>(items)); };
    Change out{half.cell,
               {"work-items", number(half.before), number(half.after)},
               Change::Kind::items,
               prediction->apart,
               half.experiment};
    out.test.low = prediction->low;
    out.test.high = prediction->high;
    out.test.because = prediction->because;
    return out;
}

/// The cell with multiply-adds that nothing needs; else why there is none.
std::variant<Change, std::string> more_arithmetic(Runner& runner, const run::Settings& settings,
                                                  const model::Device& device, const model::Cell& cell,
                                                  const model::Setup& setup, const model::Record& record,
                                                  const model::Explanation& claim, const model::Limits& limits) {
    constexpr double part = 0.4;             // of the time that they are to take
    constexpr unsigned few = 4, most = 512;  // of a work-item
    const auto items = static_cast<double>(setup.global.count());
    const auto units = static_cast<double>(std::max(1u, device.compute_units));
    // What stands in front of a work-item's own work runs beside that of others, of which there must be many at a time.
    if (device.is_gpu() && items < 8192 * units)
        return "there are too few work-items to overlap the added work with the kernel's own";
    if (!device.is_gpu() && record.time->median * units / items > 20e-9)
        return "each work-item runs too long to overlap the added work with the kernel's own";
    const auto is_sampled = [](const model::Record& r) { return r.hot && r.hot->evidence == model::Hot::sampled; };
    if (!device.is_gpu() && !is_sampled(record)) return "the vector width of its code is not known";
    const auto least = explain::arithmetic_of(record, few * items, limits);
    if (!least) return "the profile has no float peak";
    const double times = std::ceil(part * record.time->median / least->seconds);
    if (least->seconds > 0.6 * record.time->median || few * times > most)
        return "no number of them takes a useful part of its time";
    const auto operations = few * static_cast<unsigned>(times);
    const double seconds = least->seconds * times;
    const auto prediction = explain::predict_more_arithmetic(record, claim, seconds);
    if (!prediction) return "their effect under this limiter is not known";
    const auto changed = with_arithmetic(cell, setup, settings, device, operations);
    if (!changed)
        return "cllab does not find the kernel in its text, an operation has several launches, or the time is per step "
               "of a loop";
    const auto found = run_alone(runner, settings, device, changed->cell);
    if (found.status != model::Status::ok)
        return std::string("the kernel with them is ") + model::name(found.status) + ": " + found.reason;
    if (found.code.spills.value_or(0) != record.code.spills.value_or(0)) return "the kernel with them spills registers";
    if (device.is_gpu() &&
        waves_of(found, device, local_arguments(setup)) != waves_of(record, device, local_arguments(setup)))
        return "with them, its registers change the number of waves per unit";
    const auto after = explain::arithmetic_of(found, few * items, limits);
    if (!device.is_gpu() && (!is_sampled(found) || !after || after->seconds != least->seconds))
        return "with them, the compiler uses other vectors, or the vectors are not known";
    Change out{changed->cell,
               {"multiply-adds", "none", std::to_string(operations) + " more"},
               Change::Kind::arithmetic,
               prediction->apart,
               changed->experiment};
    out.test.low = prediction->low;
    out.test.high = prediction->high;
    out.test.because = prediction->because;
    return out;
}

}  // namespace

void test_claim(Runner& runner, const run::Settings& settings, const model::Device& device, const model::Cell& cell,
                const model::Record& record, const model::Limits& limits, model::Explanation& claim,
                const std::function<void(const std::string&)>& progress) {
    if (!claim.limiter()) return;
    auto planned = changes(settings, device, cell, record, claim, limits);
    const auto setup =
        model::set_up(*cell.experiment, {*cell.variant, cell.point, device, settings.seed, settings.files, 1});
    std::vector<std::string> without;
    const auto plan = [&](const char* what, std::variant<Change, std::string> found) {
        if (auto* change = std::get_if<Change>(&found))
            planned.push_back(std::move(*change));
        else
            without.push_back(std::string(what) + ": " + std::get<std::string>(found));
    };
    plan("with fewer groups resident", fewer_waves(runner, settings, device, cell, setup, record, claim));
    plan("with half of the work-items", fewer_items(settings, device, cell, setup, record, claim, limits));
    plan("with more arithmetic", more_arithmetic(runner, settings, device, cell, setup, record, claim, limits));
    // Those that tell most. A prediction is wide, so that five arrangements that all lie within it, or all beside it,
    // say which: by chance one in sixteen of a ratio at its end does. More are taken, as long as there is time, while
    // they differ by more than it is wide.
    std::stable_sort(planned.begin(), planned.end(), [](const auto& a, const auto& b) { return a.apart > b.apart; });
    if (planned.size() > most_tests) planned.resize(most_tests);
    for (auto& change : planned) {
        if (std::any_of(claim.tests.begin(), claim.tests.end(),
                        [](const auto& t) { return t.outcome == model::Outcome::otherwise; }))
            break;
        compare::Rules few;
        few.coverage = 0.93;
        few.least = 5;
        few.precise = std::sqrt(change.test.high / std::max(change.test.low, 0.1 * change.test.high)) - 1;
        auto& test = change.test;
        auto changed = record;
        changed.code.fingerprint.clear();
        const auto comparison = compare_cells(
            runner, settings, device.selector, {change.cell, cell}, changed, record, seconds_of_a_test,
            [&](const model::Comparison& so_far) {
                progress(test.axis + "=" + test.after + ": " + report::comparison_progress(so_far));
            },
            few, model::Control::right);
        test.found = comparison.judgement.ratio;
        test.trouble = comparison.trouble;
        if (test.trouble.empty()) test.outcome = explain::judge(test.low, test.high, test.found);
        claim.tests.push_back(test);
    }
    if (planned.empty())
        without.insert(without.begin(),
                       "no axis of the cell separates this limiter's prediction from those of the others");
    claim.untested = join(without, "; ");
    explain::conclude(claim);
}

}  // namespace cllab::app

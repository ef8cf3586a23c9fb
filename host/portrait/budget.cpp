#include "portrait/budget.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <set>

#include "core/grouped.hpp"
#include "core/stats.hpp"
#include "model/registry.hpp"

namespace cllab::portrait {
namespace {

// Before a plan was run: what PoCL takes for what its cache knows.
constexpr double first_of_program = 0.1, another_point = 0.02;

double usual(const std::vector<double>& seconds, double before) {
    return seconds.empty() ? before : summarise(seconds).median;
}

/// What no other program has: the cell less its data.
std::string program_of(const model::Cell& cell, const std::vector<std::string>& data) {
    auto out = cell.id;
    for (const auto& [axis, value] : cell.point.values())
        if (std::ranges::find(data, axis) == data.end()) out += " " + axis + "=" + value;
    return out;
}

}  // namespace

Amount Amount::operator-(const Amount& other) const {
    return {cells - std::min(cells, other.cells), programs - std::min(programs, other.programs)};
}

std::vector<model::Group> plan_of(const std::vector<Part>& parts, bool interleave) {
    std::vector<model::Group> plan;
    for (const auto& part : parts) {
        auto groups = model::make_plan(model::select(model::registry(), {part.pattern}), part.axes);
        if (interleave) groups = grouped(groups | std::views::join, [](const auto& cell) { return cell.id; });
        std::move(groups.begin(), groups.end(), std::back_inserter(plan));
    }
    return plan;
}

std::vector<Part> refined_parts(const Probe& probe, const std::string& points) {
    std::vector<Part> out;
    for (auto part : probe.parts) {
        if (part.pattern != probe.family + "_" + probe.refine.variant) continue;
        std::erase_if(part.axes, [&](const auto& axis) { return axis.first == probe.refine.axis; });
        part.axes.emplace_back(probe.refine.axis, points);
        out.push_back(part);
    }
    return out;
}

Amount refined(const Probe& probe, std::size_t points) {
    const auto cells = points * refined_parts(probe, "1").size();
    const bool data = std::ranges::find(probe.data, probe.refine.axis) != probe.data.end();
    return {cells, data ? 0 : cells};
}

Amount amount_of(const std::vector<model::Group>& plan, const std::vector<std::string>& data) {
    Amount out;
    out.cells = static_cast<std::size_t>(std::ranges::distance(plan | std::views::join));
    out.programs = one_of_each_program(plan, data).size();
    return out;
}

std::vector<model::Group> one_of_each_program(const std::vector<model::Group>& plan,
                                              const std::vector<std::string>& data) {
    std::vector<model::Group> out;
    std::set<std::string> known;
    for (const auto& cell : plan | std::views::join)
        if (known.insert(program_of(cell, data)).second) out.push_back({cell});
    return out;
}

double beside_sampling(const model::Record& record) {
    auto phases = record.phases;
    phases.erase(Phase::sampling);
    phases.erase(Phase::warm_up);
    return total(phases);
}

Budget::Budget(double seconds, const Amount& amount, const std::vector<Probe>& probes)
    : seconds_(seconds), rest_(amount) {
    for (const auto& probe : probes) data_of_family_[probe.family] = probe.data;
}

double Budget::sampling() const {
    // What is left over repeats what was disturbed.
    return sampling_of(rest_.cells, overhead(rest_));
}

double Budget::sampling_of(std::size_t cells, double overhead) const {
    return std::clamp(0.5 * (left() - overhead) / static_cast<double>(std::max<std::size_t>(1, cells)), least_sampling,
                      0.5);
}

double Budget::least(const Amount& amount) const {
    return overhead(amount) + static_cast<double>(amount.cells) * least_sampling;
}

void Budget::learn(const std::vector<model::Group>& plan, std::span<const model::Record> records, double seconds) {
    Amount amount;
    double of_programs = 0, of_others = 0, rest = seconds;
    auto record = records.begin();
    for (const auto& cell : plan | std::views::join) {
        if (record == records.end()) break;
        const auto& one = *record++;
        if (one.status == model::Status::unsupported) continue;
        const bool first = programs_.insert(program_of(cell, data_of_family_[cell.experiment->family])).second;
        const double beside = beside_sampling(one);
        amount = amount + Amount{1, first ? 1u : 0u};
        (first ? of_programs : of_others) += beside;
        rest -= total(one.phases) - beside;
    }
    // What is in no cell's account, such as the end of a process, is shared as the rest is.
    if (const double shared = of_programs + of_others; shared > 0 && rest > 0)
        done(amount, rest / shared * of_programs, rest / shared * of_others);
}

void Budget::done(const Amount& amount, double of_programs, double of_others) {
    if (amount.programs > 0) of_programs_.push_back(of_programs / static_cast<double>(amount.programs));
    if (amount.others() > 0) of_others_.push_back(of_others / static_cast<double>(amount.others()));
}

double Budget::overhead(const Amount& amount) const {
    return static_cast<double>(amount.programs) * usual(of_programs_, first_of_program) +
           static_cast<double>(amount.others()) * usual(of_others_, another_point);
}

}  // namespace cllab::portrait

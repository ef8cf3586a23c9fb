#include "portrait/budget.hpp"

#include <algorithm>
#include <set>

#include "core/stats.hpp"

namespace cllab::portrait {
namespace {

/// What a cell with a program of its own takes more, in times of what one without takes: 0.05 s over 0.02 where PoCL's
/// cache knows the program, 0.3 over 0.02 where it does not (`phases` of the records of a profile). Between the two.
constexpr double of_a_program = 5;

double weight(const Amount& amount) {
    return static_cast<double>(amount.cells) + of_a_program * static_cast<double>(amount.programs);
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

Amount amount_of(const std::vector<model::Group>& plan, const std::vector<std::string>& data) {
    Amount out;
    for (const auto& group : plan) out.cells += group.size();
    out.programs = one_of_each_program(plan, data).size();
    return out;
}

std::vector<model::Group> one_of_each_program(const std::vector<model::Group>& plan,
                                              const std::vector<std::string>& data) {
    std::vector<model::Group> out;
    std::set<std::string> known;
    for (const auto& group : plan)
        for (const auto& cell : group)
            if (known.insert(program_of(cell, data)).second) out.push_back({cell});
    return out;
}

double Budget::sampling() const {
    const double cells = static_cast<double>(std::max<std::size_t>(1, rest_.cells));
    // What is left over repeats what was disturbed.
    return std::clamp(0.5 * (left() - overhead(rest_)) / cells, least_sampling, 0.5);
}

double Budget::least(const Amount& amount) const {
    return overhead(amount) + static_cast<double>(amount.cells) * least_sampling;
}

void Budget::done(const Amount& amount, double seconds, double sampling) {
    if (amount.cells > 0)
        scales_.push_back(std::max(0.0, seconds - static_cast<double>(amount.cells) * sampling) / weight(amount));
}

/// A few plans, of large data, take far longer than the rest: the median tells what is usual.
double Budget::overhead(const Amount& amount) const {
    return weight(amount) * (scales_.empty() ? 0.02 : summarise(scales_).median);
}

}  // namespace cllab::portrait

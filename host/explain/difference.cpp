// What two launches execute differently, in a sentence.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/counted.hpp"

namespace cllab::explain {
namespace {

using model::Counts;
using model::Operation;

struct Amount {
    const char* name;
    double a = 0, b = 0;  ///< in the launch
    double ratio() const { return std::max(a, b) / std::max(1.0, std::min(a, b)); }
    bool only_one() const { return std::min(a, b) < 1; }
};

std::string short_number(double x) { return format_exact(parse_real(format_significant(x, 3)).value_or(x)); }

}  // namespace

std::string difference(const Counts& a, const Counts& b) {
    std::vector<Amount> amounts;
    const auto compare = [&](const char* name, auto of) {
        amounts.push_back({name, of(a) * a.items, of(b) * b.items});
    };
    compare("sectors of global memory", [](const Counts& c) { return c.reads.sectors.mean + c.writes.sectors.mean; });
    compare("turns of local memory",
            [](const Counts& c) { return c.local_reads.ways.mean + c.local_writes.ways.mean; });
    compare("floating-point operations", [](const Counts& c) { return flops(c); });
    compare("integer divisions", [](const Counts& c) { return operations(c, Operation::integer_divide); });
    compare("calls of functions", [](const Counts& c) { return operations(c, Operation::float_function); });
    compare("turns of atomics",
            [](const Counts& c) { return c.global_atomics.turns.mean + c.local_atomics.turns.mean; });
    compare("barriers", [](const Counts& c) { return c.barriers.mean; });
    compare("instructions of waves", [](const Counts& c) { return c.issued.mean; });
    // What differs by less than a tenth is an edge, or another way to the same address.
    constexpr double alike = 1.1;
    constexpr std::size_t most = 2;
    std::erase_if(amounts, [](const Amount& x) { return std::max(x.a, x.b) <= 0 || x.ratio() < alike; });
    if (amounts.empty()) return a.id + " and " + b.id + " execute alike, within a tenth.";
    std::stable_sort(amounts.begin(), amounts.end(),
                     [](const auto& x, const auto& y) { return x.ratio() > y.ratio(); });
    if (amounts.size() > most) amounts.resize(most);
    std::vector<std::string> parts;
    for (const auto& x : amounts) {
        const auto &more = x.a > x.b ? a.id : b.id, &less = x.a > x.b ? b.id : a.id;
        parts.push_back(x.only_one() ? std::string(x.name) + " only in " + more
                                     : short_number(x.ratio()) + " times the " + x.name + " in " + more +
                                           (parts.empty() && amounts.size() == 1 ? " against " + less : ""));
    }
    return "Counted: " + join(parts, ", and ") + ".";
}

}  // namespace cllab::explain

// `cllab list` and `cllab describe`: what the registry knows, no device needed.
#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "core/suggest.hpp"
#include "core/text.hpp"
#include "model/registry.hpp"

namespace cllab::app {
namespace {

using nlohmann::ordered_json;

}  // namespace

int command_list(const Invocation& invocation) {
    const auto& all = model::registry();
    const auto selected = model::select(all, invocation.patterns.empty() ? std::vector<std::string>{"*"} : invocation.patterns);
    if (invocation.as_json) {
        auto out = ordered_json::array();
        for (const auto& s : selected)
            out.push_back({{"id", s.id}, {"family", s.experiment->family}, {"variant", s.variant->name},
                           {"meaning", s.variant->meaning}, {"question", s.experiment->question}, {"needs", s.variant->needs}});
        std::cout << out.dump(2) << '\n';
        return 0;
    }
    std::size_t width = 0;
    for (const auto& s : selected) width = std::max(width, s.id.size());
    const model::Experiment* last = nullptr;
    for (const auto& s : selected) {
        if (s.experiment != last) std::cout << fmt::format("{}{}: {}\n", last ? "\n" : "", s.experiment->family, s.experiment->question);
        last = s.experiment;
        std::cout << fmt::format("  {:<{}}  {}\n", s.id, width, s.variant->meaning);
    }
    return 0;
}

int command_describe(const Invocation& invocation) {
    if (invocation.patterns.size() != 1)
        throw Error(Blame::usage, "`cllab describe` takes one FAMILY; found " + std::to_string(invocation.patterns.size()));
    const auto& wanted = invocation.patterns.front();
    std::vector<std::string> families;
    for (const auto& e : model::registry()) {
        families.push_back(e.family);
        if (e.family != wanted) continue;
        std::cout << fmt::format("{}: {}\n\nAxes (--axis NAME=VALUES)\n", e.family, e.question);
        for (const auto& axis : e.axes) {
            std::cout << fmt::format("  {} = {}{}\n      {}; {}\n", axis.name, join(axis.values, ","),
                                     axis.unit.empty() ? "" : " [" + axis.unit + "]", axis.meaning, legal_values(axis));
            if (!axis.only.empty()) std::cout << fmt::format("      only {}\n", join(axis.only, ", "));
        }
        std::cout << "\nMetrics\n  time, with the 95 % interval of its median; bandwidth, flops and step_time where the work is stated\n";
        for (const auto& metric : e.metrics) std::cout << fmt::format("  {} [{}]\n", metric.name, metric.unit);
        if (!e.curve_over.empty()) std::cout << fmt::format("  a curve over axis '{}'\n", e.curve_over);
        if (!e.file_inputs.empty()) std::cout << fmt::format("\nInput files (--input NAME=FILE): {}\n", join(e.file_inputs, ", "));
        std::cout << "\nVariants\n";
        for (const auto& v : e.variants) {
            std::cout << fmt::format("  {}\n      {}{}\n", e.id(v), v.meaning, v.needs.empty() ? "" : " Needs " + join(v.needs, ", ") + ".");
            for (const auto& [axis, values] : v.axes) std::cout << fmt::format("      {} = {}\n", axis, values);
            if (!v.curve_over.empty()) std::cout << fmt::format("      a curve over axis '{}'\n", v.curve_over);
        }
        return 0;
    }
    throw Error(Blame::usage, "there is no family '" + wanted + "'; " + did_you_mean(wanted, families, "`cllab list` has the families"));
}

}  // namespace cllab::app

#include <algorithm>

#include "core/suggest.hpp"
#include "core/text.hpp"
#include "model/registry.hpp"

namespace cllab::model {
namespace {

[[noreturn]] void nothing_matched(const std::string& pattern, const std::vector<Experiment>& experiments) {
    std::vector<std::string> families, names;
    for (const auto& experiment : experiments) {
        families.push_back(experiment.family);
        names.push_back(experiment.family);
        for (const auto& variant : experiment.variants) names.push_back(experiment.id(variant));
    }
    throw Error(Blame::usage, "no kernel matches '" + pattern + "'; " +
                                  did_you_mean(pattern, names,
                                               families.empty() ? "this build holds no kernels"
                                                                : "the " + std::to_string(families.size()) +
                                                                      " families are in `cllab list`"));
}

}  // namespace

std::vector<Selected> select(const std::vector<Experiment>& experiments, const std::vector<std::string>& patterns) {
    std::vector<Selected> selected;
    std::vector<bool> used(patterns.size(), false);
    for (const auto& experiment : experiments) {
        for (const auto& variant : experiment.variants) {
            const std::string id = experiment.id(variant);
            bool wanted = false;
            for (std::size_t i = 0; i < patterns.size(); ++i) {
                if (patterns[i] != experiment.family && !glob_match(patterns[i], id)) continue;
                used[i] = wanted = true;
            }
            if (wanted) selected.push_back({&experiment, &variant, id});
        }
    }
    const auto unused = std::ranges::find(used, false);
    if (unused != used.end()) nothing_matched(patterns[static_cast<std::size_t>(unused - used.begin())], experiments);
    return selected;
}

}  // namespace cllab::model

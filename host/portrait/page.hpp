// The page of a portrait as data.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "portrait/conclusion.hpp"

namespace cllab::portrait {

/// Everything one profile knows.
struct Profile {
    model::Device device;
    std::vector<model::Record> records;
    std::vector<Conclusion> conclusions;
    double budget_seconds = 0, seconds = 0;
    std::map<std::string, std::string> skipped{};  ///< families that the budget had no room for, and why in a sentence
    std::string utc;
};

/// "<family>.<finding>", what facts are joined by.
std::string id_of(const Conclusion& conclusion, const model::Finding& finding);

/// One figure as it stands on the page.
struct PageLine {
    std::string section, id, name;
    std::string absent;  ///< why there is no figure; then the rest is empty
    model::Finding finding{};
    double per_cycle = 0;  ///< 0: not shown
    std::string per_cycle_unit, claim;
};

/// The page as data: every figure in order of the table, then the findings that no figure names.
std::vector<PageLine> page_of(const Profile& profile);

}  // namespace cllab::portrait

// The page of a portrait as data, and where each figure stands on it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "portrait/conclusion.hpp"

namespace cllab::portrait {

/// How a figure is shown beside its own unit, once the clock is known.
enum class PerCycle {
    no,
    cycles,        ///< a time, in cycles
    rate,          ///< a rate, per cycle
    rate_of_unit,  ///< a rate, per cycle and compute unit
};

/// A line of the page, or several: every finding whose identifier "<family>.<finding>" matches `id`, a glob.
struct Figure {
    std::string section, label, id;
    PerCycle per_cycle = PerCycle::no;
    std::function<std::string(const model::Device&)> claim{};  ///< what the driver says; empty text: nothing
    std::string variant{};  ///< whose status explains an absence, where the family has several

    std::string family() const { return id.substr(0, id.find('.')); }
};
const std::vector<Figure>& figures();

/// Everything one profile knows.
struct Profile {
    model::Device device;
    std::vector<model::Record> records;
    std::vector<Conclusion> conclusions;
    double budget_seconds = 0, seconds = 0;
    std::map<std::string, std::string> skipped{};  ///< families that had no time, or too little: a sentence each
    std::string utc;
};

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

/// One line of the page's head: what a reader asks first.
struct HeadLine {
    std::string label;
    std::vector<std::string> ids;  ///< of its figures: globs, in order
    std::string said;              ///< of a figure's name what the label says
};
const std::vector<HeadLine>& head();

/// The figures of the line that were found, in its order, but for those with more parts in their identifier, which are
/// details; where none was, why, and what the driver or the system says.
struct HeadFigures {
    std::vector<const PageLine*> found;
    std::vector<std::string> absent;  ///< reasons, each once
    std::string claim;
};
HeadFigures figures_of(const HeadLine& line, const std::vector<PageLine>& page);

}  // namespace cllab::portrait

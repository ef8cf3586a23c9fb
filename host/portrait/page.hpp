// The page of a device profile as data, with the place of each figure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "portrait/conclusion.hpp"

namespace cllab::portrait {

/// How a figure is also shown per clock cycle, if the clock is known.
enum class PerCycle {
    no,
    cycles,        ///< a time in cycles
    rate,          ///< a rate per cycle
    rate_of_unit,  ///< a rate per cycle and compute unit
};

/// One or more lines of the page: every finding whose identifier "<family>.<finding>" matches the glob `id`.
struct Figure {
    std::string section, label, id;
    PerCycle per_cycle = PerCycle::no;
    std::function<std::string(const model::Device&)> claim{};  ///< what the driver reports; empty text: nothing
    std::string variant{};  ///< variant whose status explains a missing figure, if the family has several

    std::string family() const { return id.substr(0, id.find('.')); }
};
const std::vector<Figure>& figures();

/// One figure on the page.
struct PageLine {
    std::string section, id, name;
    std::string absent;  ///< why there is no figure; empty if there is one
    model::Finding finding{};
    double per_cycle = 0;  ///< 0: not shown
    std::string per_cycle_unit, claim;
};

/// All data of one profile.
struct Profile {
    model::Device device;
    std::vector<model::Record> records;
    std::vector<Conclusion> conclusions;
    double budget_seconds = 0, seconds = 0;
    double disturbed = 0;  ///< without records: share of the timed cells whose threads lacked cores
    std::map<std::string, std::string> skipped{};  ///< families with no time or too little: one sentence each
    std::string utc;
    std::vector<PageLine> lines{};  ///< lines of a profile from a file, which has no records
};

/// The page as data: every figure in the order of figures(), then the findings that no figure names.
std::vector<PageLine> page_of(const Profile& profile);

/// One line of the page's head, which has the most important figures.
struct HeadLine {
    std::string label;
    std::vector<std::string> ids;  ///< globs of its figures' identifiers, in order
    std::string said;              ///< part of a figure's name that the label already says
};
const std::vector<HeadLine>& head();

/// The found figures of the line, in its order, without details: a detail's identifier has more parts than the glob. If
/// no figure was found: the reasons, and what the driver or the system reports.
struct HeadFigures {
    std::vector<const PageLine*> found;
    std::vector<std::string> absent;  ///< reasons, each once
    std::string claim;
};
HeadFigures figures_of(const HeadLine& line, const std::vector<PageLine>& page);

}  // namespace cllab::portrait

// The portrait of a device: which probes are run for it, which of their findings stand on the page and where, and the
// page.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "app/conclude.hpp"

namespace cllab::app {

/// One sweep of the profile: a pattern with axis values that suit the device.
struct ProfilePart {
    std::string pattern;
    std::vector<std::pair<std::string, std::string>> axes{};
    bool whole = false;  ///< no point may be left out for want of time
};

/// The sweeps of one family. Families come in order of importance: the budget may end before the last.
struct ProfileProbe {
    std::string family;
    std::vector<ProfilePart> parts;
    /// Samples of all points of a curve alternate, so that drift does not look like a trend. Not for probes of memory,
    /// whose points would push each other out of the caches.
    bool interleave = true;
};
std::vector<ProfileProbe> profile_probes(const model::Device& device);

/// How a figure is shown beside its own unit, once the clock is known.
enum class PerCycle {
    no,
    cycles,        ///< a time, in cycles
    rate,          ///< a rate, per cycle
    rate_of_unit,  ///< a rate, per cycle and compute unit
};

/// A line of the page, or several: every finding of `family` whose name matches `finding`, a glob.
struct Figure {
    std::string section, label, family, finding;
    PerCycle per_cycle = PerCycle::no;
    std::function<std::string(const model::Device&)> claim{};  ///< what the driver says; empty text: nothing
    std::string variant{};  ///< whose status explains an absence, where the family has several
};
const std::vector<Figure>& profile_figures();

/// Everything one profile knows.
struct Profile {
    model::Device device;
    std::vector<model::Record> records;
    std::vector<Conclusion> conclusions;
    double budget_seconds = 0, seconds = 0;
    std::size_t thinned = 1;  ///< only every so many points of some sweeps were taken, for want of time
    std::string utc;
};

/// One figure as it stands on the page.
struct PageLine {
    std::string section, name;
    std::string absent;  ///< why there is no figure; then the rest is empty
    model::Finding finding{};
    std::string family;
    double per_cycle = 0;  ///< 0: not shown
    std::string per_cycle_unit, claim;
};

/// The page as data: every figure in order of the table, then the findings that no figure names.
std::vector<PageLine> page_of(const Profile& profile);

void print_profile(std::ostream& out, const Profile& profile, const report::TableStyle& style);
/// The same with every curve, indented.
std::string profile_json(const Profile& profile);

}  // namespace cllab::app

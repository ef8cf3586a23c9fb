// A device's profile: measured, and its page as text and as JSON.
#pragma once

#include <iosfwd>
#include <string>

#include "app/commandline/options.hpp"
#include "app/processes/runner.hpp"
#include "portrait/page.hpp"
#include "report/table/table.hpp"

namespace cllab::app {

struct ProfileOptions : CellOptions {
    static constexpr double whole_seconds = 60, quick_seconds = 20;
    double budget_seconds = whole_seconds;  ///< in all; every probe has a time of its own within it
    std::string dumps;  ///< where the file goes; empty: the user's cache
    Strings columns;
    bool force = false;  ///< replaces a profile that has more figures
    bool no_dumps = false, quick = false, isolate = false, as_json = false, all = false;
    bool no_page = false;  ///< for a command that needs the file alone
};
/// The whole command; its exit status.
int run_profile(const ProfileOptions& invocation);

struct MeasuredProfile {
    portrait::Profile profile;
    bool finished = false;  ///< false: interrupted, or
    std::string lost;       ///< why the device was lost
};
/// Runs the probes in their order, as long as there is time.
MeasuredProfile measure_profile(const ProfileOptions& invocation, Runner& runner, const model::Device& device);

/// Part of the timed cells whose threads did not have the cores that they could use.
double disturbed_part(const portrait::Profile& profile);
/// What one asks first of a device, a line each.
void print_profile_head(std::ostream& out, const portrait::Profile& profile, const report::TableStyle& style);
/// Every figure, and what was not found.
void print_profile(std::ostream& out, const portrait::Profile& profile, const report::TableStyle& style);
/// The same with every curve, indented.
std::string profile_json(const portrait::Profile& profile);

}  // namespace cllab::app

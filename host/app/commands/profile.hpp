// Measures a device's profile and prints it as text and JSON.
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
    double budget_seconds = whole_seconds;  ///< total; every probe also has its own limit
    std::string dumps;                      ///< folder for the file; empty: the user's cache
    Strings columns;
    bool force = false;  ///< replaces even a profile with more figures
    bool no_dumps = false, quick = false, isolate = false, as_json = false, all = false;
    bool saved = false;    ///< measures nothing
    bool no_page = false;  ///< for commands that need only the file
};
/// Runs the whole command. Returns the exit status.
int run_profile(const ProfileOptions& invocation);

struct MeasuredProfile {
    portrait::Profile profile;
    bool finished = false;  ///< false: interrupted, or the device was lost
    std::string lost;       ///< why the device was lost
};
/// Runs the probes in order until the time is used up.
MeasuredProfile measure_profile(const ProfileOptions& invocation, Runner& runner, const model::Device& device);

/// Share of the timed cells whose threads lacked usable cores.
double disturbed_part(const portrait::Profile& profile);
/// Says that cells of a profile lacked cores, and names the command that measures it again. `disturbed`: share of these
/// cells; 0 gives an empty text. `device`: as for --device, with further options.
std::string busy_sentence(double disturbed, const std::string& device);
/// Prints the most important figures, one line each.
void print_profile_head(std::ostream& out, const portrait::Profile& profile, const report::TableStyle& style);
/// Prints all figures, and which are missing.
void print_profile(std::ostream& out, const portrait::Profile& profile, const report::TableStyle& style);
/// The same figures and all curves, as indented JSON.
std::string profile_json(const portrait::Profile& profile);

}  // namespace cllab::app

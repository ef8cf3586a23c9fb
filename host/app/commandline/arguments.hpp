// What Boost.Program_options lets pass and a user did not mean.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace cllab::app {

/// An empty argument is a variable of a script that was not set. Throws Error(usage).
void refuse_empty(const std::vector<std::string>& args);

/// Boost takes whatever comes next for an option's value, so that `--json --no-dumps` would write a file "--no-dumps".
/// Throws Error(usage).
void refuse_missing_values(const std::vector<std::string>& args,
                           const boost::program_options::options_description& known);

/// The whole number of --seed; Boost makes 2^64 - 1 of -1. Throws Error(usage).
std::uint64_t seed_from(const std::string& text);

}  // namespace cllab::app

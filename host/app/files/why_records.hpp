// `cllab why FILE.jsonl`: what limited cells that were measured before, here or elsewhere, by their records.
#pragma once

#include <string>

#include "app/commandline/options.hpp"

namespace cllab::app {

/// Whether a pattern of `why` names a file of records: its name ends in .jsonl or .json.
bool names_records(const std::string& pattern);

/// Explains the records of all patterns against the profiles below --dumps, each device's own. What `cllab ncu` counted
/// of a cell takes the place of what the cell declares. Returns the exit status; throws Error.
int why_of_records(const WhyOptions& invocation);

}  // namespace cllab::app

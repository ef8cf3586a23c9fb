// What `cllab why --json` says of a cell, read back for the page of its records.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/explanation.hpp"

namespace cllab::report {

/// The explanations in such lines, by the index of the record that each is of. Other lines, and those of no record, are
/// passed over.
std::map<std::size_t, model::Explanation> explanations_of(const std::vector<model::Record>& records,
                                                          const std::vector<std::string>& lines);

}  // namespace cllab::report

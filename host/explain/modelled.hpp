// The hot block's cycles by models of processors, as a time of the cell.
#pragma once

#include "model/explanation.hpp"
#include "model/limits.hpp"
#include "model/result.hpp"

namespace cllab::explain {

/// Adds what the record's models say, or why they say nothing; nothing at all where nobody asked them.
void add_modelled(const model::Record& record, const model::Limits& limits, model::Explanation& out);

}  // namespace cllab::explain

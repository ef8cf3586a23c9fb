// Declared work against the accesses of a block: how often it runs, where both add up.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "inspect/analysis.hpp"
#include "model/hot.hpp"

namespace cllab::inspect {

/// What one operation declares, in bytes: stored is all of its outputs, moved is those and all that it must read.
struct DeclaredBytes {
    double stored = 0, moved = 0;
};

/// What one operation declares, of one work-item.
struct DeclaredPerItem {
    double stored = 0, loaded = 0;  ///< bytes; loaded: at least
    double multiply_adds = 0;
};

/// Hot code without samples, for devices on which nothing can be sampled: the loop, or the straight path, whose stores and
/// multiply-adds come out as the declared ones of a work-item after a whole number of passes, and whose loads bring at least
/// what must be read. Unknown where none adds up, or more than one: a scalar loop over the edge often does so too.
model::Hot account(const Analysis& analysis, const DeclaredPerItem& declared);

/// Executions of `block` in one operation. Nothing unless it alone can account for the operation: it has nine tenths of the
/// samples or more, its stores make the outputs, and its loads bring at least what must be read.
std::optional<double> executions(const model::HotBlock& block, const DeclaredBytes& declared);

/// Bytes of the accesses of one kind, "load" or "store", to memory that is not the stack. Nothing where one of them does not
/// say its width, as a gather.
std::optional<double> bytes_of(const std::map<std::string, unsigned>& memory, std::string_view kind);

}  // namespace cllab::inspect

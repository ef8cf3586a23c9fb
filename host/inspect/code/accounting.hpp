// Declared work against the accesses of a block: how often it runs, where both add up.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "inspect/code/analysis.hpp"
#include "model/experiment.hpp"
#include "model/hot.hpp"

namespace cllab::inspect {

/// What one operation declares, in bytes: stored is all of its outputs, moved is those and all that it must read.
struct DeclaredBytes {
    double stored = 0, moved = 0;
};

/// Nothing where not all that it stores is an output's, or where it is more than one launch.
std::optional<DeclaredBytes> declared_bytes(const model::Setup& setup);
/// The same, also where buffers are changed in place: all of them, if that adds up to what is declared, each input read
/// once.
std::optional<DeclaredBytes> declared_in_place(const model::Setup& setup);

/// What one operation declares, of one work-item.
struct DeclaredPerItem {
    double stored = 0, loaded = 0;  ///< bytes; loaded: at least
    double multiply_adds = 0;
};

/// Hot code without samples, for devices on which nothing can be sampled: the loop, or the straight path, whose stores
/// and multiply-adds come out as the declared ones of a work-item after a whole number of passes, and whose loads bring
/// at least what must be read. Unknown where none adds up, and where another part does such work too: it may be another
/// way to the same end, as a scalar loop for the edge of an image is. Unknown too where other code may take longer:
/// another loop, of which nobody knows how often it is passed, or more instructions in front of the loop than in all
/// its passes.
model::Hot account(const Analysis& analysis, const DeclaredPerItem& declared);
/// The same of what a set-up declares.
model::Hot account(const Analysis& analysis, const model::Setup& setup);

/// Executions of `block` in one operation. Nothing unless it alone can account for the operation: it has nine tenths of
/// the samples or more, its stores make the outputs, and its loads bring at least what must be read.
std::optional<double> executions(const model::HotBlock& block, const DeclaredBytes& declared);

/// Bytes of the accesses of one kind, "load" or "store", to memory that is not the stack. Nothing where one of them
/// does not say its width, as a gather.
std::optional<double> bytes_of(const std::map<std::string, unsigned>& memory, std::string_view kind);

}  // namespace cllab::inspect

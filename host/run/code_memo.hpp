// The last few binaries that were read. Points of a sweep often have the same code, and reading it takes longer than
// running it where ptxas and a disassembler are asked.
#pragma once

#include <deque>
#include <string>
#include <utility>

#include "inspect/dump.hpp"

namespace cllab::run {

class CodeMemo {
public:
    /// As inspect::read_code; valid until the next call.
    const inspect::Analysis& read(const inspect::DumpRequest& request);
    unsigned remembered() const { return remembered_; }  ///< calls that found what an earlier one had read

private:
    std::deque<std::pair<std::string, inspect::Analysis>> recent_;
    unsigned remembered_ = 0;
};

}  // namespace cllab::run

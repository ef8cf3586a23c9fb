// The last few binaries that were read. Points of a sweep often have the same code, and reading it takes longer than
// running it where ptxas and a disassembler are asked.
#pragma once

#include <deque>
#include <future>
#include <string>
#include <utility>

#include "inspect/tools/dump.hpp"

namespace cllab::run {

class CodeMemo {
public:
    /// As inspect::read_code: in a thread of its own, or by the first get() when not `beside`. The device that
    /// the request refers to outlives it.
    std::shared_future<inspect::Analysis> read(const inspect::DumpRequest& request, bool beside);
    unsigned remembered() const { return remembered_; }  ///< calls that found what an earlier one had read

private:
    std::deque<std::pair<std::string, std::shared_future<inspect::Analysis>>> recent_;
    unsigned remembered_ = 0;
};

}  // namespace cllab::run

// What outlives a run on a session: the next one finds the same texts built and read, and the same reference.
#pragma once

#include <optional>

#include "model/memo.hpp"
#include "run/cell/code_memo.hpp"
#include "run/conditions/reference.hpp"
#include "run/programs.hpp"

namespace cllab::run {

/// Goes before its session.
struct Kept {
    std::optional<Reference> reference;
    std::optional<Programs> programs;
    bool in_advance = false;  ///< these were built before there was a run, for the runs to come
    CodeMemo code;
    model::Memo data;
};

}  // namespace cllab::run

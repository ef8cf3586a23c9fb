// What the cells of a device share beside their own kernels; made when the first cell needs it.
#pragma once

#include <optional>

#include "run/cache_state.hpp"
#include "run/code_memo.hpp"
#include "run/programs.hpp"
#include "run/reference.hpp"
#include "run/yardstick.hpp"

namespace cllab::run {

class Instruments {
public:
    /// `reference`: of the session; made here where it is empty. `built`: programs that were built before, where there are some.
    Instruments(device::Session& session, std::optional<Reference>& reference, const std::optional<model::Limits>& limits, bool builds_ahead = true,
                Programs* built = nullptr)
        : session_(session), reference_(reference), own_programs_(session, builds_ahead), programs_(built ? *built : own_programs_),
          limits_(limits), last_level_(run::last_level(session.facts(), limits)) {}

    const std::optional<model::Limits>& limits() const { return limits_; }
    const LastLevel& last_level() const { return last_level_; }
    Reference& reference() {
        if (!reference_) reference_.emplace(session_);
        return *reference_;
    }
    /// Throws as Flush's constructor at the first call.
    Flush& flush() {
        if (!flush_) flush_.emplace(session_, displacing(last_level_.bytes));
        return *flush_;
    }
    CodeMemo& code() { return code_; }
    Programs& programs() { return programs_; }
    Yardsticks& yardsticks() { return yardsticks_; }

private:
    device::Session& session_;
    std::optional<Reference>& reference_;
    Programs own_programs_;
    Programs& programs_;
    std::optional<model::Limits> limits_;
    CodeMemo code_;
    LastLevel last_level_;
    std::optional<Flush> flush_;
    Yardsticks yardsticks_;
};

}  // namespace cllab::run

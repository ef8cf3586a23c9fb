// What the cells of a device share beside their own kernels; made when the first cell needs it.
#pragma once

#include <optional>

#include "model/experiment.hpp"
#include "run/cache_state.hpp"
#include "run/conditions/reference.hpp"
#include "run/conditions/yardstick.hpp"
#include "run/programs.hpp"

namespace cllab::run {

/// What outlives a run on a session: the next one finds the same texts built and read, and the same reference. Goes
/// before its session.
struct Kept {
    std::optional<Reference> reference;
    std::optional<Programs> programs;
    bool in_advance = false;  ///< these were built before there was a run, for the runs to come
    CodeMemo code;
    model::Memo data;
};

class Instruments {
public:
    /// `kept`: of the session; what is empty is made here.
    Instruments(device::Session& session, Kept& kept, const std::optional<model::Limits>& limits,
                bool builds_ahead = true)
        : session_(session), kept_(kept), limits_(limits), last_level_(run::last_level(session.facts(), limits)) {
        if (!kept.programs || (!kept.in_advance && kept.programs->builds_ahead() != builds_ahead))
            kept.programs.emplace(session, builds_ahead);
    }

    const std::optional<model::Limits>& limits() const { return limits_; }
    const LastLevel& last_level() const { return last_level_; }
    Reference& reference() {
        if (!kept_.reference) kept_.reference.emplace(session_);
        return *kept_.reference;
    }
    /// Throws as Flush's constructor at the first call.
    Flush& flush() {
        if (!flush_) flush_.emplace(session_, displacing(last_level_.bytes));
        return *flush_;
    }
    CodeMemo& code() { return kept_.code; }
    model::Memo& data() { return kept_.data; }
    Programs& programs() { return *kept_.programs; }
    Yardsticks& yardsticks() { return yardsticks_; }

private:
    device::Session& session_;
    Kept& kept_;
    std::optional<model::Limits> limits_;
    LastLevel last_level_;
    std::optional<Flush> flush_;
    Yardsticks yardsticks_;
};

}  // namespace cllab::run

#include "core/phases.hpp"

#include <chrono>

namespace cllab {

using Clock = std::chrono::steady_clock;

struct ThreadPhases {
    Phases* account = nullptr;
    const InPhase* innermost = nullptr;
    Clock::time_point since{};

    /// Ends the interval that began last, and begins the next.
    void settle() {
        const auto now = Clock::now();
        if (account && innermost) (*account)[innermost->phase_] += std::chrono::duration<double>(now - since).count();
        since = now;
    }
    static ThreadPhases& here() {
        thread_local ThreadPhases phases;
        return phases;
    }
};

const char* name(Phase phase) {
    switch (phase) {
        case Phase::driver_start:
            return "driver_start";
        case Phase::timer_audit:
            return "timer_audit";
        case Phase::data:
            return "data";
        case Phase::build:
            return "build";
        case Phase::buffers:
            return "buffers";
        case Phase::verify:
            return "verify";
        case Phase::download:
            return "download";
        case Phase::host_reference:
            return "host_reference";
        case Phase::warm_up:
            return "warm_up";
        case Phase::yardstick:
            return "yardstick";
        case Phase::sampling:
            return "sampling";
        case Phase::drift_reference:
            return "drift_reference";
        case Phase::hot_code:
            return "hot_code";
        case Phase::disassembly:
            return "disassembly";
        case Phase::dump:
            return "dump";
        case Phase::transfers:
            return "transfers";
        case Phase::arrangements:
            return "arrangements";
    }
    return "other";
}

double total(const Phases& phases) {
    double out = 0;
    for (const auto& [phase, seconds] : phases) out += seconds;
    return out;
}

void add(Phases& to, const Phases& more) {
    for (const auto& [phase, seconds] : more) to[phase] += seconds;
}

InPhase::InPhase(Phase phase, Inner inner) : phase_(phase), with_inner_(inner == Inner::included) {
    auto& here = ThreadPhases::here();
    here.settle();
    outer_ = here.innermost;
    if (outer_ && outer_->with_inner_) {
        phase_ = outer_->phase_;
        with_inner_ = true;
    }
    here.innermost = this;
}

InPhase::~InPhase() {
    auto& here = ThreadPhases::here();
    here.settle();
    here.innermost = outer_;
}

ChargedTo::ChargedTo(Phases& account) {
    auto& here = ThreadPhases::here();
    here.settle();
    outer_ = here.account;
    here.account = &account;
}

ChargedTo::~ChargedTo() {
    auto& here = ThreadPhases::here();
    here.settle();
    here.account = outer_;
}

}  // namespace cllab

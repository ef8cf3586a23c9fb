#include "core/phases.hpp"

#include "core/clock.hpp"
#include "core/table.hpp"

namespace cllab {

struct ThreadPhases {
    Phases* account = nullptr;
    const InPhase* innermost = nullptr;
    Clock::time_point since{};

    /// Ends the current interval and begins the next.
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
    static constexpr std::array names{"driver_start", "timer_audit",     "data",           "build",       "buffers",
                                      "verify",       "download",        "host_reference", "warm_up",     "yardstick",
                                      "sampling",     "drift_reference", "hot_code",       "disassembly", "dump",
                                      "transfers",    "energy",          "arrangements"};
    static_assert(names.size() == all_phases.size());
    return name_in(names, phase);
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

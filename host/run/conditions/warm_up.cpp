#include "run/conditions/warm_up.hpp"

#include <vector>

#include "core/clock.hpp"
#include "core/phases.hpp"

namespace cllab::run {

bool warm_up_device(device::Session& session, Reference& reference, const MeasureRules& rules) {
    if (!reference.exists()) return true;
    if (session.settled() && seconds_since(session.last_wait()) <= rules.cold_after_seconds) return *session.settled();
    const InPhase phase(Phase::warm_up);
    std::vector<double> launches;
    const auto start = Clock::now();
    bool steady = false;
    do {
        launches.push_back(reference.once());
        steady = settled(launches, rules);
    } while (reference.exists() && (seconds_since(start) < rules.warm_seconds || !steady) &&
             seconds_since(start) < rules.warm_cap_seconds);
    session.set_settled(steady);
    return steady;
}

void make_ready(device::Session& session, std::optional<Reference>& reference) {
    session.timer();
    if (!reference) reference.emplace(session);
    warm_up_device(session, *reference, rules_for(session.facts(), {}));
}

}  // namespace cllab::run

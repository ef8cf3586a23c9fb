#include "run/conditions/reference.hpp"

#include <algorithm>
#include <exception>
#include <vector>

#include "core/clock.hpp"
#include "core/phases.hpp"

namespace cllab::run {
namespace {

constexpr double chain_seconds = 0.2e-3;
constexpr auto interval = std::chrono::milliseconds(50);

}  // namespace

Reference::Reference(device::Session& session) : session_(session), by_events_(session.timer().trusted) {
    const InPhase phase(Phase::drift_reference);
    if (session.facts().implementation == model::Implementation::oclgrind) return;  // its times are of a simulation
    try {
        chain_.emplace(session);
        run();  // compiles on PoCL
        while (trips_ < 1 << 24 && std::min(run(), run()) < chain_seconds) trips_ *= 2;
    } catch (const std::exception&) {
        chain_.reset();
    }
}

double Reference::run() {
    const auto start = Clock::now();
    cl::Event event;
    chain_->launch(trips_, &event);
    session_.wait();
    if (!by_events_) return seconds_since(start);
    const auto stamps = device::stamps_of(event);
    return stamps.end > stamps.start ? static_cast<double>(stamps.end - stamps.start) * 1e-9 : 0;
}

double Reference::once() {
    if (!chain_) return 0;
    try {
        return run();
    } catch (const cl::Error&) {
        chain_.reset();  // what broke the queue shows in the cell itself
        return 0;
    }
}

double Reference::take() {
    const InPhase phase(Phase::drift_reference);
    const double best = std::min({once(), once(), once()});
    last_ = Clock::now();
    return best;
}

bool Reference::due() const { return chain_ && Clock::now() - last_ >= interval; }

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

}  // namespace cllab::run

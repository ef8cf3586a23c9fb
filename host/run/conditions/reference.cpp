#include "run/conditions/reference.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <stdexcept>

#include "core/clock.hpp"
#include "core/phases.hpp"
#include "core/stats.hpp"
#include "core/units.hpp"
#include "model/params.hpp"
#include "run/instruments.hpp"
#include "run/kernel_source.hpp"

namespace cllab::run {
namespace {

constexpr double chain_seconds = 0.2e-3;
constexpr auto interval = std::chrono::milliseconds(50);

}  // namespace

Reference::Reference(device::Session& session) : session_(session), by_events_(session.timer().trusted) {
    const InPhase phase(Phase::drift_reference);
    if (session.facts().implementation == model::Implementation::oclgrind) return;  // simulated times mean nothing
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
        chain_.reset();  // the cell itself reports what broke the queue
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

namespace {

constexpr std::uint64_t least_bytes = 4096;
constexpr unsigned least_samples = 5, enough_samples = 20;
constexpr double seconds_of_one = 0.15;  // an accuracy of a few per cent is enough

}  // namespace

std::uint64_t yardstick_bytes(double moved, double data) {
    const auto bytes = std::max(least_bytes, static_cast<std::uint64_t>(std::min(moved, data)));
    const auto unit = std::uint64_t{1} << (std::bit_width(bytes) - 4);
    return (bytes + unit / 2) / unit * unit;
}

Yardstick::Yardstick(device::Session& session, Instruments& instruments, model::Cell cell, std::uint64_t bytes,
                     Cache cache, bool proved) {
    const auto& facts = session.facts();
    cell.point.set("size", std::to_string(bytes / 2));
    setup_ = model::set_up(*cell.experiment, {*cell.variant, cell.point, facts, 1, {}});
    // Uses the lab's own text and options instead of those of the cells, so that the yardstick stays the same.
    built_ = instruments.programs()
                 .build(kernel_source(cell.experiment->family, {}).text, build_options(cell, setup_, facts, ""))
                 .get();
    if (!built_.ok) throw Unsupported(cell.id + " does not build here (" + device::error_name(built_.code) + ")");
    const auto sets = sets_for(cache, facts, setup_, instruments.last_level().bytes, memory_budget(facts));
    subject_ = std::make_unique<Subject>(session, built_, setup_, cell.id);
    subject_->make_sets(sets);
    if (!proved)
        if (const auto wrong = subject_->verify(setup_, 1, 1, true))
            throw Unsupported(cell.id + " gives wrong results here: " + *wrong);
    if (cache == Cache::cold) flush_ = &instruments.flush();
    const double once = std::min(subject_->timed(1), subject_->timed(1));
    const auto& audit = session.timer();
    per_sample_ = flush_ ? 1
                         : operations_per_sample(std::max(once, 1e-9), static_cast<double>(audit.step_ns) * 1e-9,
                                                 audit.empty_seconds, 0, MeasureRules{});
    info_.bytes = bytes;
    info_.cache = name(cache);
}

bool Yardstick::enough() const {
    return samples_.size() >= enough_samples || (samples_.size() >= least_samples && spent_ >= seconds_of_one);
}

void Yardstick::sample() {
    const InPhase phase(Phase::yardstick, InPhase::Inner::included);
    const auto start = Clock::now();
    if (flush_) flush_->run();
    samples_.push_back(subject_->timed(per_sample_));
    spent_ += seconds_since(start);
}

model::YardstickInfo Yardstick::result() const {
    auto out = info_;
    out.n = static_cast<unsigned>(samples_.size());
    const double seconds = samples_.empty() ? 0 : summarise(samples_).median;
    if (seconds > 0) out.bandwidth = setup_.work.bytes / seconds;
    return out;
}

void Yardsticks::begin_comparison() {
    begun_.clear();
    known_.clear();
}

void Yardsticks::begin(device::Session& session, Instruments& instruments, const model::Cell& cell, std::uint64_t bytes,
                       Cache cache, double room) {
    if (known_.count(bytes) || begun_.count(bytes)) return;
    const InPhase phase(Phase::yardstick, InPhase::Inner::included);
    const auto none = [&](const std::string& why) { known_[bytes] = {std::nullopt, why}; };
    if (static_cast<double>(bytes) > room) {
        none("a copy of " + format_bytes(bytes) + " has no room on the device beside the data");
        return;
    }
    try {
        begun_[bytes] = std::make_unique<Yardstick>(session, instruments, cell, bytes, cache, proved_.contains(bytes));
        proved_.insert(bytes);
        return;
    } catch (const cl::Error& e) {
        none(std::string(e.what()) + " returned " + device::error_name(e.err()));
    } catch (const std::runtime_error& e) {  // Unsupported, or Error
        none(e.what());
    }
    begun_.erase(bytes);
}

double Yardsticks::bytes_on_device() const {
    double out = 0;
    for (const auto& [bytes, one] : begun_) out += static_cast<double>(bytes);
    return out;
}

bool Yardsticks::sample() {
    bool any = false;
    for (auto& [bytes, one] : begun_) {
        if (one->enough()) continue;
        one->sample();
        any = true;
    }
    return any;
}

void Yardsticks::finish() {
    for (const auto& [bytes, one] : begun_) {
        const auto info = one->result();
        if (info.bandwidth > 0)
            known_[bytes].info = info;
        else
            known_[bytes].why_not = "the run was interrupted before the copy was measured";
    }
    begun_.clear();
}

const Yardsticks::Outcome* Yardsticks::find(std::uint64_t bytes) const {
    const auto found = known_.find(bytes);
    return found == known_.end() ? nullptr : &found->second;
}

}  // namespace cllab::run

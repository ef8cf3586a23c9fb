#include "run/cell/subject.hpp"

#include <algorithm>
#include <array>

#include "core/clock.hpp"
#include "core/grouped.hpp"
#include "core/phases.hpp"

namespace cllab::run {

Subject::Subject(device::Session& session, const device::Built& built, const model::Setup& setup,
                 const std::string& entry, const Subject* beside)
    : session_(session), built_(built), entry_(entry), beside_(beside), setup_(&setup) {
    make_sets(1);
}

void Subject::make_sets(std::size_t count) {
    while (sets_.size() < count) {
        const auto* beside =
            beside_ && sets_.size() < beside_->sets_.size() ? beside_->sets_[sets_.size()].get() : nullptr;
        sets_.push_back(std::make_unique<Operation>(session_, built_, *setup_, entry_, beside));
    }
}

bool Subject::shares_memory() const {
    return std::ranges::all_of(sets_, [](const auto& set) { return set->shares_memory(); });
}

void Subject::poison() {
    const InPhase phase(Phase::buffers);
    if (setup_->accumulates) return;
    for (auto& set : sets_) set->poison();
}

void Subject::restore() {
    for (auto& set : sets_) set->restore();
    turn_ = 0;
}

std::uint64_t Subject::operations_on_data() const {
    std::uint64_t most = 0;
    for (const auto& set : sets_) most = std::max(most, set->operations_on_data());
    return most;
}

Subject::OnData Subject::time_on_data(std::uint64_t operations, double seconds, const std::function<void()>& before,
                                      const std::function<bool(const OnData&)>& enough) {
    restore();
    auto& set = first();
    OnData out;
    std::array<Operation::Contents, 3> contents{set.contents()};
    const auto start = Clock::now();
    for (std::uint64_t piece = 1; out.operations < operations && seconds_since(start) < seconds; piece *= 2) {
        piece = std::min(piece, operations - out.operations);
        for (std::uint64_t i = 0; i < piece; ++i) set.enqueue();
        session_.wait();
        out.operations += piece;
        if (out.operations > 1) continue;
        contents[1] = set.contents();
        for (const auto& [name, bytes] : contents[1])
            out.changed = out.changed || (set.goes_in(name) && bytes != contents[0].at(name));
        if (!out.changed) return out;
    }
    contents[2] = set.contents();
    const std::array times{&out.fresh, &out.once, &out.many};
    do {
        // Each kind is the first of a round as often as it is the last.
        const bool forwards = out.fresh.size() % 2 == 0;
        for (std::size_t k = 0; k < times.size(); ++k) {
            const auto kind = forwards ? k : times.size() - 1 - k;
            set.overwrite({contents[kind].begin(), contents[kind].end()});
            before();
            turn_ = 0;
            times[kind]->push_back(timed(1));
        }
    } while (!enough(out));
    restore();
    return out;
}

void Subject::run(unsigned operations) {
    for (unsigned i = 0; i < operations; ++i) next().enqueue();
    session_.wait();
}

void Subject::time_parts(unsigned operations, Parts& parts) {
    std::vector<cl::Event> events;
    for (unsigned i = 0; i < operations; ++i) next().enqueue(&events, {.every = true});
    session_.wait();
    const auto& commands = first().commands();
    if (events.size() != commands.size() * operations)
        throw Error(Blame::result, "the driver gave fewer events than there were steps");
    Parts found;
    const auto add = [&](const std::string& name, double seconds) {
        auto at = std::ranges::find(found, name, &Parts::value_type::first);
        if (at == found.end()) at = found.insert(found.end(), {name, {0.0}});
        at->second.front() += seconds / operations;
    };
    double sum = 0;
    const auto stamps = mapped(events, device::stamps_of);
    for (std::size_t i = 0; i < stamps.size(); ++i) {
        const double seconds = (static_cast<double>(stamps[i].end) - static_cast<double>(stamps[i].start)) * 1e-9;
        add(commands[i % commands.size()].part, seconds);
        sum += seconds;
    }
    const bool one_queue = first().queues() == 1;
    const double whole = device::row_seconds(stamps, one_queue);
    // Parts in several queues run at the same time, and what they add up to says nothing of the gaps.
    if (one_queue) add("between", std::max(whole - sum, 0.0));
    add("whole", whole);
    for (auto& [name, seconds] : found) {
        auto at = std::ranges::find(parts, name, &Parts::value_type::first);
        if (at == parts.end())
            parts.emplace_back(name, std::move(seconds));
        else
            at->second.push_back(seconds.front());
    }
}

double Subject::timed(unsigned operations) {
    if (!event_clock()) {
        session_.wait();
        const auto start = Clock::now();
        for (unsigned i = 0; i < operations; ++i) next().enqueue();
        session_.wait();
        return seconds_since(start) / operations;
    }
    std::vector<cl::Event> events;
    const bool one_by_one = first().single_launch();
    const auto start = Clock::now();
    for (unsigned i = 0; i < operations; ++i)
        next().enqueue(&events, {.first = i == 0, .last = i + 1 == operations, .every = one_by_one});
    session_.wait();
    const double host = seconds_since(start);
    double seconds = 0;
    const auto stamps = mapped(events, device::stamps_of);
    // Launches one by one: the gaps between them are the queue's, not the kernel's. What lies between several of one
    // operation is its own.
    if (one_by_one) {
        for (const auto& s : stamps) seconds += device::row_seconds({&s, 1}, true);
    } else {
        seconds = device::row_seconds(stamps, first().queues() == 1);
    }
    if (seconds > host * 1.05 + 20e-6) events_exceeded_host_ = true;
    return seconds / operations;
}

}  // namespace cllab::run

#include "run/cell/subject.hpp"

#include <algorithm>
#include <array>
#include <new>

#include "core/clock.hpp"
#include "core/grouped.hpp"
#include "core/parallel.hpp"
#include "core/phases.hpp"
#include "core/stats.hpp"
#include "core/units.hpp"
#include "model/work.hpp"
#include "run/cache_state.hpp"

namespace cllab::run {
namespace {

// A kernel that skips work when its output holds the answer is then many times faster. An honest kernel differs only by
// the noise of single launches. A ratio above this is measured longer, and must exceed all of that noise.
constexpr double noticeable = 1.1;
constexpr std::size_t first_rounds = 3, enough_rounds = 8, most_rounds = 32;

Operation::Contents contents_of(const model::Buffers& buffers) {
    Operation::Contents out;
    for (const auto& [name, bytes] : buffers.data)
        copy_bytes(out.emplace(name, model::Bytes(bytes.size())).first->second, bytes);
    return out;
}

std::vector<std::optional<std::int32_t>> trip_counts(const model::Setup& setup) {
    if (!setup.slope) return {std::nullopt};
    return {setup.slope->low, setup.slope->high};
}

}  // namespace

Subject::Subject(device::Session& session, const device::Built& built, const model::Setup& setup,
                 const std::string& entry, const Subject* donor)
    : session_(session), built_(built), entry_(entry), donor_(donor), setup_(&setup) {
    make_sets(1);
}

void Subject::make_sets(std::size_t count) {
    while (sets_.size() < count) {
        const auto* donor = donor_ && sets_.size() < donor_->sets_.size() ? donor_->sets_[sets_.size()].get() : nullptr;
        sets_.push_back(std::make_unique<Operation>(session_, built_, *setup_, entry_, donor));
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
    const std::array times{&out.original, &out.once, &out.many};
    do {
        // Alternate the order, so that each kind is first and last equally often.
        const bool forwards = out.original.size() % 2 == 0;
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
        throw Error(Blame::result, "the driver gave ", events.size(), " of ", commands.size() * operations, " events");
    Parts found;
    const auto add = [&](const std::string& name, double seconds) {
        auto at = std::ranges::find(found, name, &Parts::value_type::first);
        if (at == found.end()) at = found.insert(found.end(), {name, {0.0}});
        at->second.front() += seconds / operations;
    };
    double sum = 0;
    const auto stamps = mapped(events, device::stamps_of);
    for (std::size_t i = 0; i < stamps.size(); ++i) {
        const double seconds = device::row_seconds({&stamps[i], 1}, true);
        add(commands[i % commands.size()].part, seconds);
        sum += seconds;
    }
    const bool one_queue = first().queues() == 1;
    const double whole = device::row_seconds(stamps, one_queue);
    // Parts in several queues overlap, so their sum does not give the gaps.
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
    // Sum single launches, because the gaps between them belong to the queue. Gaps within an operation of several
    // commands belong to the operation.
    if (one_by_one) {
        for (const auto& s : stamps) seconds += device::row_seconds({&s, 1}, true);
    } else {
        seconds = device::row_seconds(stamps, first().queues() == 1);
    }
    if (seconds > host * 1.05 + 20e-6) events_exceeded_host_ = true;
    return seconds / operations;
}

// Whether the output is right, and the reason if it is not.

Subject::Wrong Subject::verify(const model::Setup& setup, std::uint64_t seed, unsigned operations, bool forget,
                               device::Fence fence) {
    const InPhase phase(Phase::verify);
    setup_ = &setup;
    seed_ = seed;
    turn_ = 0;
    answer_.reset();
    if (setup.reference) run_reference(setup, seed, operations);
    // A read in front of a buffer gives another result at each launch. A fence there shows it as an access outside the
    // buffer.
    const auto told = [&](Wrong wrong) {
        if (wrong && fence == device::Fence::end) verify_fenced(operations, device::Fence::start);
        return wrong;
    };
    if (auto wrong = verify_fenced(operations, fence)) return told(std::move(wrong));
    for (const auto trips : trip_counts(setup)) {
        answer_.reset();
        for (auto& set : sets_) {
            run_anew(*set, trips, operations);
            if (auto wrong = check(*set)) return told(std::move(wrong));
            // An accumulating output never recurs later, so only other sets can match it.
            if (answer_ || ((forget || setup.accumulates) && sets_.size() == 1)) continue;
            answer_ = last_answer_ && equals(*last_answer_, buffers_)
                          ? *last_answer_
                          : std::make_shared<const Answer>(contents_of(buffers_), trips.value_or(0), operations);
            if (last_answer_) *last_answer_ = answer_;
        }
    }
    return std::nullopt;
}

bool Subject::run_without_proof(const model::Setup& setup, std::uint64_t seed) {
    setup_ = &setup;
    first().load(setup, seed);
    session_.wait();
    if (model::are_of_file(setup.pages)) {
        if (!first().is_filled()) return false;
        first().repeat_contents();
    }
    run();
    return true;
}

void Subject::run_anew(Operation& set, std::optional<std::int32_t> trips, unsigned operations) {
    set.load(*setup_, seed_);
    if (trips) set.set_trips(*trips);
    for (unsigned i = 0; i < operations; ++i) set.enqueue();
    session_.wait();
}

Subject::Wrong Subject::verify_fenced(unsigned operations, device::Fence fence) {
    using model::Implementation;
    const auto& facts = session_.facts();
    const bool in_place = fence != device::Fence::none && facts.is_cpu() &&
                          facts.implementation != Implementation::oclgrind && device::faults_are_reported();
    if (!in_place || !session_.guards() || first().is_native()) return std::nullopt;
    if (2 * device_bytes(*setup_) > memory_budget(facts)) return std::nullopt;
    std::unique_ptr<Operation> fenced;
    try {
        fenced = std::make_unique<Operation>(session_, built_, *setup_, entry_, nullptr, fence);
    } catch (const std::bad_alloc&) {  // address space is scarce, too: ulimit -v
        return std::nullopt;
    } catch (const cl::Error&) {  // the driver accepts no host memory; the guards remain
        return std::nullopt;
    }
    for (const auto trips : trip_counts(*setup_)) {
        run_anew(*fenced, trips, operations);
        if (auto wrong = check(*fenced)) return wrong;
        if (!fenced->lies_in_place()) return std::nullopt;
    }
    return std::nullopt;
}

Subject::Wrong Subject::explained(Operation& set, std::string wrong) {
    const auto later = contents_of(buffers_);
    if (later.empty()) return wrong;  // it wrote outside a buffer, so nothing was read back
    run_anew(set, std::nullopt, setup_->verify_operations);
    if (check(set)) return wrong;
    const auto right = contents_of(buffers_);
    for (const auto& argument : setup_->args) {
        const auto* output = std::get_if<model::Output>(&argument);
        if (!output) continue;
        const auto differs_on = [&](const model::Bytes* found) {
            set.load(*setup_, seed_);
            if (found) set.overwrite({{output->name, *found}});
            for (unsigned i = 0; i < setup_->verify_operations; ++i) set.enqueue();
            session_.wait();
            return set.read_back(buffers_) || !std::ranges::all_of(right, [&](const auto& content) {
                       return equal_bytes(content.second, buffers_.data.at(content.first));
                   });
        };
        for (const auto* found : {&later.at(output->name), &right.at(output->name)}) {
            // ABBA order, so that a kernel that counts its launches is not accused.
            if (differs_on(nullptr) || !differs_on(found) || !differs_on(found) || differs_on(nullptr)) continue;
            return "'" + output->name + "' is read before it is written" +
                   (output->given.empty() ? "" : "; give it data, as in " + output->given);
        }
    }
    return wrong;
}

void Subject::run_reference(const model::Setup& setup, std::uint64_t seed, unsigned operations) {
    const auto& variant = *setup.reference->variant;
    const auto& own = *setup.reference->setup;
    const auto key = concat(reference_known_by_, " ", variant.entry, " ", seed, " ", operations, " ",
                            model::launch_identity(own, model::Contents::taken));
    expected_ = memo_->get("what references left", key, [&] {
        Operation operation(session_, *reference_, own, variant.entry);
        operation.load(own, seed);
        for (unsigned i = 0; i < operations; ++i) operation.enqueue();
        model::Buffers left;
        if (const auto wrong = operation.read_back(left))
            throw Error(Blame::result, "the reference '" + variant.name + "' is wrong: " + *wrong);
        return contents_of(left);
    });
}

bool Subject::equals(const std::shared_ptr<const Answer>& answer, const model::Buffers& found) const {
    if (!answer || found.trips != answer->trips || (setup_->accumulates && found.operations != answer->operations))
        return false;
    const auto& contents = answer->contents;
    return !contents.empty() && found.data.size() == contents.size() &&
           std::ranges::all_of(contents, [&](const auto& known) {
               const auto bytes = found.data.find(known.first);
               return bytes != found.data.end() && equal_bytes(bytes->second, known.second);
           });
}

Subject::Wrong Subject::check(Operation& set) {
    if (auto wrong = set.read_back(buffers_)) return wrong;
    // Most kernels leave the same bytes each time. Comparing them is faster than the host's reference.
    const InPhase phase(Phase::host_reference);
    if (equals(answer_, buffers_) || equals(same_answer_, buffers_)) return std::nullopt;
    buffers_.expected = setup_->reference ? expected_.get() : nullptr;
    buffers_.errors = setup_->errors.get();
    return setup_->check(buffers_);
}

Subject::Wrong Subject::guard_damage() {
    const InPhase phase(Phase::verify);
    session_.wait();
    for (auto& set : sets_)
        if (auto wrong = set->guard_damage()) return wrong;
    return std::nullopt;
}

Subject::Wrong Subject::read_back() { return first().read_back(buffers_); }

void Subject::forget_read_back() {
    buffers_.data.clear();
    for (auto& set : sets_) set->forget_read_back();
}

Subject::Wrong Subject::check_left() {
    const InPhase phase(Phase::verify);
    session_.wait();
    for (auto& set : sets_) {
        if (auto damage = setup_->accumulates ? set->guard_damage() : std::nullopt) return damage;
        if (setup_->accumulates || !set->rewritten()) continue;
        if (auto wrong = check(*set)) return explained(*set, std::move(*wrong));
    }
    return std::nullopt;
}

Subject::Wrong Subject::check_haste(double seconds) {
    if (setup_->accumulates || setup_->verify_operations != 1) return std::nullopt;
    const InPhase phase(Phase::verify);
    const auto poison = first().poison_contents();
    const Operation::Views raw(poison.begin(), poison.end());
    Operation::Views answer;
    if (answer_) answer.insert(answer_->contents.begin(), answer_->contents.end());
    bool comes_out = false;
    for (auto& [name, bytes] : answer)
        if (first().goes_in(name))
            bytes = poison.at(name);
        else
            comes_out = true;
    if (!comes_out) return std::nullopt;
    std::vector<double> poisoned, answered;
    const auto round = [&](bool of_poison, bool look) -> Wrong {
        auto& set = upcoming();
        set.overwrite(of_poison ? raw : answer);
        (of_poison ? poisoned : answered).push_back(timed(1));
        if (!look) return std::nullopt;
        auto wrong = check(set);
        return wrong ? explained(set, std::move(*wrong)) : wrong;
    };
    const auto start = Clock::now();
    for (std::size_t wanted = first_rounds; wanted <= most_rounds;
         wanted = wanted < enough_rounds ? enough_rounds : 2 * wanted) {
        while (poisoned.size() < wanted) {
            // ABBA order, so that each kind has one checked launch with an odd and one with an even number.
            const auto n = poisoned.size();
            const bool first = n % 2 == 0;
            if (auto wrong = round(first, n < first_rounds)) return wrong;
            if (auto wrong = round(!first, n < first_rounds)) return wrong;
        }
        const auto slow = summarise(poisoned), fast = summarise(answered);
        if (slow.median <= noticeable * fast.median) return std::nullopt;
        const bool apart =
            slow.min > noticeable * fast.max || (wanted >= most_rounds && slow.q1 > noticeable * fast.q3);
        if (apart && wanted >= enough_rounds)
            return "the kernel skips work when its output already holds the answer: it takes " +
                   format_seconds(fast.median) + " when its output holds the answer already, " +
                   format_seconds(slow.median) + " when it does not";
        // Out of time: continue only for a difference that all launches show, because noise cannot cause it.
        if (!apart && seconds_since(start) > seconds) break;
    }
    return std::nullopt;
}

Subject::Wrong Subject::verify_again() {
    same_answer_ = answer_;
    return verify(*setup_, seed_, setup_->verify_operations);
}

Subject::Wrong Subject::verify_one_more(std::uint64_t seed) {
    const InPhase phase(Phase::verify);
    if (setup_->accumulates) return verify(*setup_, seed, setup_->verify_operations + 1);
    turn_ = 0;
    run();
    return check_left();
}

}  // namespace cllab::run

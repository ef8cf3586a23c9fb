// The measured operation of a cell: its sets of buffers (one, or several for --cache rotate), the checks of their
// contents, and the clock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/cell/operation.hpp"

namespace cllab::run {

/// What a check has accepted: the outputs of one verification.
struct Answer {
    Operation::Contents contents;
    std::int32_t trips = 0;
    std::uint64_t operations = 0;
};

class Subject {
public:
    using Wrong = std::optional<std::string>;  ///< what is wrong in one sentence, or nothing

    /// Makes one set of buffers. Throws as Operation's constructor. `beside`: a Subject proved on the same data, whose
    /// equal buffers are reused set by set. It must outlive this one.
    Subject(device::Session& session, const device::Built& built, const model::Setup& setup, const std::string& entry,
            const Subject* beside = nullptr);
    /// Most cells that are compared leave the same bytes: those of the cell before, in `last`, are kept once for both.
    void keep_answers_in(std::shared_ptr<const Answer>& last) { last_answer_ = &last; }
    /// Others have its memory too: each verification fills all of it again, whatever they have left there.
    void lends_memory() {
        for (auto& set : sets_) set->lends_memory();
    }
    /// The program of Setup::reference, and what it is known by; before verify(). What it leaves is kept in `memo`: the
    /// cells whose reference is the same program on the same data run it once.
    void set_reference(const device::Built& built, const std::string& known_by, model::Memo& memo) {
        reference_ = &built;
        reference_known_by_ = known_by;
        memo_ = &memo;
    }
    /// Accepts output that equals, byte by byte, the output that `other`'s check accepted. `other` has the same setup
    /// and seed, and verify() was its last check. Reason: the host's reference of a large cell takes longer than the
    /// rest of an arrangement.
    void share_answer(const Subject& other) { same_answer_ = other.answer_; }
    /// Makes more sets until there are `count`; they are loaded by the next verify().
    void make_sets(std::size_t count);

    /// Loads every set with `setup`'s data and poison of `seed`, runs `operations` of each and checks what they leave;
    /// at both trip counts where there are two. The caller keeps `setup` until the next call: its check and data stay
    /// in use. `forget`: nothing is checked before the next verify(), so what was right is not kept for it. `fence`:
    /// first on buffers of which that end lies at pages that may not be touched, and what goes there ends the process;
    /// not where nobody looks after the process, the device copies memory that it is given, or there is no room.
    Wrong verify(const model::Setup& setup, std::uint64_t seed, unsigned operations, bool forget = false,
                 device::Fence fence = device::Fence::none);
    /// Checks the output of the operations since verify(), in every set in use. For a setup that accumulates, checks
    /// only the guards.
    Wrong check_left();
    /// Whether what an operation leaves is what the next one begins with.
    bool works_in_place() const { return sets_.front()->works_in_place(); }
    /// Puts back what verify() loaded, in every set; the first one is the next in turn.
    void restore();
    /// The most that any set has run on its data since it was put there.
    std::uint64_t operations_on_data() const;
    /// Seconds of single operations of the first set on the data as verify() loaded it, and on what one and what many
    /// operations made of that. All of it is put there in the same way, in rounds of one of each.
    struct OnData {
        std::vector<double> fresh, once, many;
        std::uint64_t operations = 0;  ///< that `many` stands for
        bool changed = false;          ///< by the first operation; else there are no times
    };
    /// `operations`: at most so many, and no more after `seconds`. `before`: what is done before each timed operation.
    /// `enough`: asked after each round.
    OnData time_on_data(std::uint64_t operations, double seconds, const std::function<void()>& before,
                        const std::function<bool(const OnData&)>& enough);
    /// Overwrites every output with what verify() loaded, so that check_left() is about the operations from now on.
    void poison();
    /// Checks that every launch does its work. Runs single launches on the same inputs, half on poisoned outputs and
    /// half on outputs that already hold the answer. All must take the same time and leave the answer. Runs up to
    /// `seconds`, longer while all launches show a difference. Returns nothing for a setup that accumulates.
    Wrong check_haste(double seconds);

    /// The last verify() once more.
    Wrong verify_again();
    /// One more operation of the first set, or of an operation that accumulates the first ones again and one more;
    /// checked.
    Wrong verify_one_more(std::uint64_t seed);

    /// The next operations in turn; waits for them.
    void run(unsigned operations = 1);
    /// Seconds of one of `operations` in sequence, by events where the device's are trusted, else by the host. Sets
    /// take turns.
    double timed(unsigned operations);
    /// Seconds of each part of an operation, by its name, a value for each call; in the order of the operation.
    using Parts = std::vector<std::pair<std::string, std::vector<double>>>;
    /// Runs `operations` in sequence, an event for each command, and adds what the parts of one take. The events may
    /// keep commands further apart than timed() has them.
    void time_parts(unsigned operations, Parts& parts);
    void set_trips(std::int32_t trips) { sets_.front()->set_trips(trips); }

    Operation& first() { return *sets_.front(); }
    const model::Buffers& buffers() const { return buffers_; }  ///< as last read back
    /// Reads the first set back without a check.
    Wrong read_back();
    /// What was read back is looked at no more: the next cell gets the host's memory for it.
    void forget_read_back();
    bool shares_memory() const;  ///< all of its sets are those of `beside`
    /// Says what was written outside of a buffer.
    Wrong guard_damage();
    std::size_t sets() const { return sets_.size(); }
    /// It is timed as a row of operations, by events at its ends: an operation of several commands.
    bool is_row() const { return event_clock() && !sets_.front()->single_launch(); }
    bool event_clock() const { return session_.timer().trusted && !sets_.front()->is_native(); }
    bool events_exceeded_host() const { return events_exceeded_host_; }

private:
    Operation& next() { return *sets_[turn_++ % sets_.size()]; }
    Operation& upcoming() { return *sets_[turn_ % sets_.size()]; }
    Wrong check(Operation& set);
    Wrong verify_fenced(unsigned operations, device::Fence fence);
    /// `wrong`, or that an output is read before it is written: where the first operation on new poison is right, and
    /// one that finds other bytes in that output alone is not.
    Wrong explained(Operation& set, std::string wrong);
    /// Loads `set` as the last verify() did and runs so many operations of it.
    void run_anew(Operation& set, std::optional<std::int32_t> trips, unsigned operations);
    void run_reference(const model::Setup& setup, std::uint64_t seed, unsigned operations);
    bool equals(const std::shared_ptr<const Answer>& answer, const model::Buffers& found) const;

    device::Session& session_;
    const device::Built& built_;
    std::string entry_;
    const Subject* beside_;
    const model::Setup* setup_;
    std::uint64_t seed_ = 0;  ///< of the last verify()
    const device::Built* reference_ = nullptr;
    std::string reference_known_by_;
    model::Memo* memo_ = nullptr;
    std::shared_ptr<const Operation::Contents> expected_;  ///< what Setup::reference left
    std::vector<std::unique_ptr<Operation>> sets_;
    std::size_t turn_ = 0;
    model::Buffers buffers_;
    std::shared_ptr<const Answer> answer_;       ///< of the last verification
    std::shared_ptr<const Answer> same_answer_;  ///< share_answer()
    std::shared_ptr<const Answer>* last_answer_ = nullptr;
    bool events_exceeded_host_ = false;
};

}  // namespace cllab::run

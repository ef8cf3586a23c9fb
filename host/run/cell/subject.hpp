// The measured operation of a cell: its sets of buffers (one, or several for --cache rotate), the checks of their
// contents, and its timing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/cell/operation.hpp"

namespace cllab::run {

/// An output that a check has accepted in a verification.
struct Answer {
    Operation::Contents contents;
    std::int32_t trips = 0;
    std::uint64_t operations = 0;
};

class Subject {
public:
    using Wrong = std::optional<std::string>;  ///< the fault, in one sentence; nullopt: none

    /// Makes one set of buffers. Throws as Operation's constructor. `donor`: a Subject verified on the same data. Its
    /// equal buffers are reused set by set, so it must outlive this one.
    Subject(device::Session& session, const device::Built& built, const model::Setup& setup, const std::string& entry,
            const Subject* donor = nullptr);
    /// `last`: the answer of the previous cell. Most compared cells leave the same bytes, which are then stored once.
    void keep_answers_in(std::shared_ptr<const Answer>& last) { last_answer_ = &last; }
    /// Other cells use this memory, too. Each verification therefore fills all of it again.
    void lends_memory() {
        for (auto& set : sets_) set->lends_memory();
    }
    /// Sets the program of Setup::reference and a text that identifies it. Call before verify(). `memo` keeps the
    /// results, so that cells with the same reference program and data run it once.
    void set_reference(const device::Built& built, const std::string& known_by, model::Memo& memo) {
        reference_ = &built;
        reference_known_by_ = known_by;
        memo_ = &memo;
    }
    /// Accepts output that equals, byte by byte, the output that `other`'s check accepted. `other` has the same setup
    /// and seed, and verify() was its last check. Reason: the host's reference of a large cell takes longer than the
    /// rest of an arrangement.
    void share_answer(const Subject& other) { same_answer_ = other.answer_; }
    /// Makes sets until there are `count`. The next verify() loads them.
    void make_sets(std::size_t count);

    /// Loads every set with `setup`'s data and the poison of `seed`, runs `operations` of each set and checks the
    /// output. Does so at both trip counts of a slope. The caller keeps `setup` until the next call, because its check
    /// and data stay in use. `forget`: the caller checks nothing before the next verify(), so the accepted output is
    /// not kept. `fence`: first verifies on buffers with protected pages at that end, where an access ends the process.
    /// This is skipped on a device that does not work in host memory, and if no other process reports the fault or
    /// memory is short.
    Wrong verify(const model::Setup& setup, std::uint64_t seed, unsigned operations, bool forget = false,
                 device::Fence fence = device::Fence::none);
    /// Instead of verify(): loads the data and runs an operation. Separate and repeated pages get repeated contents;
    /// false if the device does not work in them.
    bool run_without_proof(const model::Setup& setup, std::uint64_t seed);
    /// Checks the output of the operations since verify(), in every set that ran. For a setup that accumulates, checks
    /// only the guards.
    Wrong check_left();
    /// True if an operation reads what the previous one left.
    bool works_in_place() const { return sets_.front()->works_in_place(); }
    /// Restores what verify() loaded in every set. The next operation uses the first set.
    void restore();
    /// Operations on the same data since it was filled: the largest number of any set.
    std::uint64_t operations_on_data() const;
    /// Seconds of single operations of the first set. original: on the data that verify() loaded. once: on what one
    /// operation made of it. many: on what many operations made of it. All data is written in the same way. A round
    /// times each kind once.
    struct OnData {
        std::vector<double> original, once, many;
        std::uint64_t operations = 0;  ///< number of operations that made the data of `many`
        bool changed = false;          ///< the first operation changed the data; if false, there are no times
    };
    /// `operations`: at most so many make the data of `many`, and none begin after `seconds`. `before`: called before
    /// each timed operation. `enough`: called after each round; true ends the rounds.
    OnData time_on_data(std::uint64_t operations, double seconds, const std::function<void()>& before,
                        const std::function<bool(const OnData&)>& enough);
    /// Refills every output as verify() did, so that check_left() checks only the operations from now on.
    void poison();
    /// Checks that every launch does its work. Runs single launches on the same inputs, half on poisoned outputs and
    /// half on outputs that already hold the answer. All must take the same time and leave the answer. Runs up to
    /// `seconds`, longer while all launches show a difference. Returns nullopt for a setup that accumulates or needs
    /// several operations.
    Wrong check_haste(double seconds);

    /// Repeats the last verify().
    Wrong verify_again();
    /// Runs and checks one more operation of the first set. A setup that accumulates is verified anew with one
    /// operation more.
    Wrong verify_one_more(std::uint64_t seed);

    /// Runs the next operations, with the sets in turn, and waits for them.
    void run(unsigned operations = 1);
    /// Seconds per operation of `operations` in sequence, by events if the device's are trusted, else by the host
    /// clock. Sets take turns.
    double timed(unsigned operations);
    /// Seconds of each part of an operation, by its name and in the operation's order. One value per call.
    using Parts = std::vector<std::pair<std::string, std::vector<double>>>;
    /// Runs `operations` in sequence with an event per command, and adds the seconds of each part, per operation. The
    /// events may increase the gaps between commands, compared with timed().
    void time_parts(unsigned operations, Parts& parts);
    void set_trips(std::int32_t trips) { sets_.front()->set_trips(trips); }

    Operation& first() { return *sets_.front(); }
    const model::Buffers& buffers() const { return buffers_; }  ///< as last read back
    /// Reads the first set back without a check.
    Wrong read_back();
    /// Invalidates buffers() and releases its host memory for the next cell.
    void forget_read_back();
    bool shares_memory() const;  ///< all sets use `donor`'s memory
    /// Says where a kernel wrote outside a buffer.
    Wrong guard_damage();
    std::size_t sets() const { return sets_.size(); }
    /// True if operations have several commands and are timed as a row, by events at the ends of the row.
    bool is_row() const { return event_clock() && !sets_.front()->single_launch(); }
    bool event_clock() const { return session_.timer().trusted && !sets_.front()->is_native(); }
    bool events_exceeded_host() const { return events_exceeded_host_; }

private:
    Operation& next() { return *sets_[turn_++ % sets_.size()]; }
    Operation& upcoming() { return *sets_[turn_ % sets_.size()]; }
    Wrong check(Operation& set);
    Wrong verify_fenced(unsigned operations, device::Fence fence);
    /// Explains `wrong`. A kernel reads an output before it writes it if it is right on fresh poison, but wrong if that
    /// output alone holds other bytes. Else returns `wrong`.
    Wrong explained(Operation& set, std::string wrong);
    /// Loads `set` as the last verify() did and runs `operations` operations of it.
    void run_anew(Operation& set, std::optional<std::int32_t> trips, unsigned operations);
    void run_reference(const model::Setup& setup, std::uint64_t seed, unsigned operations);
    bool equals(const std::shared_ptr<const Answer>& answer, const model::Buffers& found) const;

    device::Session& session_;
    const device::Built& built_;
    std::string entry_;
    const Subject* donor_;
    const model::Setup* setup_;
    std::uint64_t seed_ = 0;  ///< of the last verify()
    const device::Built* reference_ = nullptr;
    std::string reference_known_by_;
    model::Memo* memo_ = nullptr;
    std::shared_ptr<const Operation::Contents> expected_;  ///< the output of Setup::reference
    std::vector<std::unique_ptr<Operation>> sets_;
    std::size_t turn_ = 0;
    model::Buffers buffers_;
    std::shared_ptr<const Answer> answer_;       ///< of the last verification
    std::shared_ptr<const Answer> same_answer_;  ///< share_answer()
    std::shared_ptr<const Answer>* last_answer_ = nullptr;
    bool events_exceeded_host_ = false;
};

}  // namespace cllab::run

// One simulated launch: traces of its lanes, depths of its values, and sums of its groups.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "count/plugin/code.hpp"
#include "count/wave/requests.hpp"

namespace cllab::count {

/// An access that the simulator reports, before its instruction is known.
struct Seen {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    Space space = Space::global;
    What what = What::load;
};

/// Sums of one counted group.
struct CountedGroup {
    std::uint64_t items = 0, instructions = 0, issued = 0, image_accesses = 0, barriers = 0;
    GroupTally tally;
    std::vector<std::uint64_t> operations;  ///< by number, in elements
    LaunchTally so_far;                     ///< after this group
    bool whole = true;                      ///< false: only some of its waves have run
};

class LaunchCount {
public:
    explicit LaunchCount(unsigned wave) : wave_(wave) {}

    void begin_group(std::uint64_t items);
    /// `item`: number in the group, from 0.
    void executed(std::uint32_t item, const llvm::Instruction* instruction, const llvm::BasicBlock* previous);
    void begin_item(std::uint32_t item);
    void end_item() { ++finished_; }
    void access(const Seen& seen) { pending_.push_back(seen); }
    /// An access by the group as a whole: an asynchronous copy.
    void copied(const Seen& seen) { copied_.push_back(seen); }
    void barrier();
    void end_group();
    /// Replays the traces of the wave that runs.
    void flush();
    /// Whether only complete waves of the group have run so far, from first to last instruction.
    bool has_whole_waves() const { return barriers_ == 0 && finished_ > 0 && finished_ % wave_ == 0; }
    /// The sums of the group as if it ended here.
    CountedGroup group_so_far() const;

    const Code& code() const { return code_; }
    const std::vector<CountedGroup>& groups() const { return groups_; }
    const Requests& requests() const { return requests_; }
    const Depth& longest() const { return longest_; }
    /// Whether a work-item's place in the launch decided what it executes.
    bool by_place() const { return by_place_; }
    /// Whether loaded data decided what a work-item executes or accesses.
    bool by_data() const { return by_data_; }
    /// The segments of loops that may run any number of times in an uncounted group.
    const std::set<std::uint32_t>& of_uneven_loops() const { return of_uneven_loops_; }
    /// The segments that no counted group executed.
    std::set<std::uint32_t> never_run() const;
    /// How often waves executed a segment, in all groups.
    std::uint64_t executions(std::uint32_t segment) const;
    unsigned wave() const { return wave_; }

private:
    struct Item {
        Lane lane;
        std::vector<Depth> values;
        StoredDepths stored;  ///< in private memory
        std::vector<std::uint32_t> calls;
        bool decided = false;  ///< its place or an unpredictable value decided what it executes
    };

    void enter(std::uint32_t item);
    void follow(const Instruction& of, std::uint32_t number, const llvm::BasicBlock* previous);
    void decide(const Depth& by, std::uint32_t branch);
    Depth operands_of(const Instruction& of) const;
    void touch_memory(Depth& depth, const Instruction& of, std::uint32_t number);
    void call(const Instruction& of, std::uint32_t number);
    void flush_copies();

    unsigned wave_;
    Code code_;
    Requests requests_;
    SegmentCounts counts_;                 ///< of the current group
    std::vector<std::uint64_t> by_waves_;  ///< sums over the previous groups
    std::vector<CountedGroup> groups_;
    std::vector<Item> items_;
    Item* item_ = nullptr;
    std::uint32_t number_ = no_number, expected_ = no_number;
    std::uint64_t finished_ = 0;
    std::uint32_t barriers_ = 0;
    std::vector<Seen> pending_, copied_;
    std::vector<std::pair<std::uint32_t, Depth>> phis_;
    StoredDepths local_, global_;
    Depth longest_;
    bool by_place_ = false, by_data_ = false;
    std::set<std::uint32_t> uneven_branches_, of_uneven_loops_;
};

}  // namespace cllab::count

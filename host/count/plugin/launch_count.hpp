// One launch as it is simulated: its lanes' traces, the depths of its values, and what its groups add up to.
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

/// What the simulator says of an access, before it is known which instruction it belongs to.
struct Seen {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    Space space = Space::global;
    What what = What::load;
};

/// Sums of one group that was counted.
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
    /// `item`: of the group, from 0.
    void executed(std::uint32_t item, const llvm::Instruction* instruction, const llvm::BasicBlock* previous);
    void begin_item(std::uint32_t item);
    void end_item() { ++finished_; }
    void access(const Seen& seen) { pending_.push_back(seen); }
    /// By no work-item: what a group copies asynchronously.
    void copied(const Seen& seen) { copied_.push_back(seen); }
    void barrier();
    void end_group();
    /// Replays what the lanes of the wave that runs have done.
    void flush();
    /// Whether what has run of the group is waves from their first instruction to their last.
    bool has_whole_waves() const { return barriers_ == 0 && finished_ > 0 && finished_ % wave_ == 0; }
    /// The group as far as it has run, as if it ended here.
    CountedGroup group_so_far() const;

    const Code& code() const { return code_; }
    const std::vector<CountedGroup>& groups() const { return groups_; }
    const Requests& requests() const { return requests_; }
    const Depth& longest() const { return longest_; }
    /// Whether the place of a work-item in the launch decided what it executes.
    bool by_place() const { return by_place_; }
    /// Whether something loaded decided what a work-item executes or accesses.
    bool by_data() const { return by_data_; }
    /// The segments of loops whose trips may be any number in a group that was not counted.
    const std::set<std::uint32_t>& of_uneven_loops() const { return of_uneven_loops_; }
    /// The segments that no counted group executed.
    std::set<std::uint32_t> never_run() const;
    /// Of a segment by waves, in all groups.
    std::uint64_t executions(std::uint32_t segment) const;
    unsigned wave() const { return wave_; }

private:
    struct Item {
        Lane lane;
        std::vector<Depth> values;
        StoredDepths stored;  ///< private memory
        std::vector<std::uint32_t> calls;
        bool decided = false;  ///< its place decided what it executes
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
    SegmentCounts counts_;                 ///< of the group
    std::vector<std::uint64_t> by_waves_;  ///< of the groups before
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

// What the plugin hands to the program: one JSON file per launch, read by count/simulated.cpp.

struct LaunchFacts {
    std::string kernel;
    std::uint64_t items = 0, groups = 0, group_items = 0;
    double seconds = 0;  ///< of the processor, since the launch began
    bool ended = false;  ///< false: a group may have been begun that is not among the counted ones
};

/// Replaces the file. Where it cannot be written nothing happens.
void write(const std::filesystem::path& path, const LaunchFacts& facts, const LaunchCount& count,
           const std::vector<CountedGroup>& groups);

/// The file of a launch that executes what an earlier one did.
void write_same(const std::filesystem::path& path, unsigned as);

}  // namespace cllab::count

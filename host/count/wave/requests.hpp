// Memory requests of a wave: the accesses that its lanes make together, as sectors, banks and turns. Independent of
// OpenCL and of the simulator, so that unit tests need neither.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "count/wave/chain.hpp"

namespace cllab::count {

enum class Space : std::uint8_t { private_memory, global, constant, local };  // numbered as in Oclgrind
enum class What : std::uint8_t { load, store, atomic };

struct Access {
    static constexpr unsigned instruction_bits = 26;
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    std::uint32_t instruction : instruction_bits = 0;
    Space space : 2 = Space::global;
    What what : 2 = What::load;
    bool first : 1 = false;  ///< first access of one execution of the instruction
};

/// Sums over requests.
struct RequestSums {
    std::uint64_t requests = 0, units = 0, least = 0;  ///< units: sectors, ways or turns
    std::uint64_t worst = 0;                           ///< maximum units of one request
    void add(std::uint64_t found, std::uint64_t possible);
};

struct Amounts {
    std::uint64_t loads = 0, stores = 0, load_bytes = 0, store_bytes = 0;
};

/// Sums of one instruction, for the source lines.
struct OfInstruction {
    std::uint64_t bytes = 0, sectors = 0, least_sectors = 0, ways = 0, least_ways = 0, turns = 0;
};

/// Sums of one work-group.
struct GroupTally {
    RequestSums reads, writes, local_reads, local_writes, global_atomics, local_atomics;
    Amounts spaces[4];
    std::uint64_t atomics[4] = {};  ///< accesses by space
};

/// Sums of all counted groups.
struct LaunchTally {
    std::uint64_t read_sectors = 0, written_sectors = 0, sectors = 0, lines = 0, bytes = 0;
    std::uint64_t most_in_wave[4] = {}, most_in_group[4] = {}, most_on_address[4] = {}, addresses[4] = {};
};

class Requests {
public:
    /// Counts one instruction that lanes of a wave execute together, with at most one access per lane.
    void request(std::span<const Access> accesses);
    /// Ends a group. Addresses of local memory are not compared across groups.
    void end_group();

    GroupTally group;
    LaunchTally launch;
    std::vector<OfInstruction> instructions;  ///< by Access::instruction

private:
    void global(std::span<const Access> accesses);
    void banks(std::span<const Access> accesses);
    void atomic(std::span<const Access> accesses);
    void touch(std::uint64_t sector, bool written);
    void touch_bytes(std::span<const Access> accesses);

    std::vector<std::uint64_t> places_;  ///< member only to reuse its memory
    FlatMap<std::uint8_t> sectors_, lines_;
    FlatMap<std::uint64_t> bytes_;  ///< one bit per byte, 64 bytes per entry
    FlatMap<std::uint32_t> in_group_[4], in_launch_[4];
};

// Combines what lanes executed one by one into what a wave executes.
//
// A simulator runs one work-item after another; a wave runs them together. Diverged lanes meet again by two rules.
// Lanes in a called function continue before lanes after the call. At the same call depth, the lanes furthest back in
// the order of the code continue first. Hardware treats structured code in this way. The rules also hold for nested
// loops whose trip counts differ between lanes. There the k-th executions of an instruction by two lanes need not
// belong together.
/// Instructions that execute in sequence: a block, or the part of a block between calls and barriers. Lower numbers
/// come first in the order of the code.
struct Segment {
    std::uint32_t weight = 0;             ///< instructions of one lane that a device would issue
    bool calls = false, returns = false;  ///< by its last instruction
    bool ends_at_barrier = false;
    std::vector<std::uint32_t> memory{};        ///< instructions that may access memory, in order
    std::vector<std::uint32_t> instructions{};  ///< all of them
};

struct Lane {
    std::vector<std::uint32_t> trace;  ///< segments in the order of their execution
    std::vector<Access> accesses;      ///< in the order of their execution
    unsigned depth = 0;                ///< call depth after the last replay
    std::size_t at = 0, access = 0;    ///< next entries of `trace` and `accesses` to replay
};

/// How often a group's lanes and waves executed each segment.
struct SegmentCounts {
    std::vector<std::uint64_t> by_lanes, by_waves;
};

/// Replays the traces and accesses of one wave's lanes, and clears them.
void replay(std::span<Lane> lanes, std::span<const Segment> segments, SegmentCounts& counts, Requests& requests);

// Which groups of a launch are counted, and how many.
//
// The first, last and middle group are always counted, each on its own, because borders differ from the rest. The other
// groups are drawn in pairs: a group and its mirror image from the other end of the launch. If work grows linearly from
// group to group, each pair has the mean. Pairs are drawn at random, without replacement, until the 95 % confidence
// interval of every watched mean is narrow.
/// Number of groups that are always counted.
inline std::uint64_t certain_groups(std::uint64_t groups) { return groups < 3 ? groups : 2 + groups % 2; }

/// Half of the 95 % confidence interval of the mean of `population` values, from `drawn`, a sample without replacement:
/// Student's t with finite-population correction. Infinite if fewer than two of several values were drawn.
double confidence(std::span<const double> drawn, double population);

class GroupSample {
public:
    static constexpr std::size_t watched = 5;

    /// `most`: maximum number of groups to count.
    void begin(std::uint64_t groups, std::size_t most);
    /// The groups to count next, by number; empty if all are counted or `most` is reached.
    std::vector<std::uint64_t> next();
    /// Reports the amounts of the next of these groups.
    void counted(const std::array<double, watched>& amounts);
    std::size_t certain() const { return certain_groups(groups_); }
    /// Whether the intervals are narrow. `all_code_ran`: the counted groups executed all code that has work.
    bool is_enough(bool all_code_ran) const;

private:
    std::uint64_t pairs() const { return (groups_ - certain()) / 2; }

    std::uint64_t groups_ = 0;
    std::size_t most_ = 0, counted_ = 0;
    std::mt19937_64 random_;
    std::set<std::uint64_t> drawn_;
    std::array<double, watched> all_{};                 ///< sums over the counted groups
    std::array<std::vector<double>, watched> of_pair_;  ///< by pair
};

}  // namespace cllab::count

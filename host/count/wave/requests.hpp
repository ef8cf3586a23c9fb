// What a wave asks of memory: the accesses that its lanes make together, as sectors, banks and turns. No OpenCL and no
// simulator here, so that the arithmetic is tested alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "count/wave/flat_map.hpp"

namespace cllab::count {

enum class Space : std::uint8_t { private_memory, global, constant, local };  // numbered as Oclgrind's
enum class What : std::uint8_t { load, store, atomic };

struct Access {
    static constexpr unsigned instruction_bits = 26;
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    std::uint32_t instruction : instruction_bits = 0;
    Space space : 2 = Space::global;
    What what : 2 = What::load;
    bool first : 1 = false;  ///< of one execution of the instruction
};

/// Sums over requests.
struct Asked {
    std::uint64_t requests = 0, units = 0, least = 0;  ///< units: sectors, ways or turns
    std::uint64_t worst = 0;                           ///< units of one request
    void add(std::uint64_t found, std::uint64_t possible);
};

struct Amounts {
    std::uint64_t loads = 0, stores = 0, load_bytes = 0, store_bytes = 0;
};

/// Of one instruction, for the lines of the source.
struct OfInstruction {
    std::uint64_t bytes = 0, sectors = 0, least_sectors = 0, ways = 0, least_ways = 0, turns = 0;
};

/// Of one work-group.
struct GroupTally {
    Asked reads, writes, local_reads, local_writes, global_atomics, local_atomics;
    Amounts spaces[4];
    std::uint64_t atomics[4] = {};  ///< accesses by space
};

/// Of all groups that were counted.
struct LaunchTally {
    std::uint64_t read_sectors = 0, written_sectors = 0, sectors = 0, lines = 0, bytes = 0;
    std::uint64_t most_in_wave[4] = {}, most_in_group[4] = {}, most_on_address[4] = {}, addresses[4] = {};
};

class Requests {
public:
    /// Of one instruction that lanes of a wave execute together, at most one access of each lane.
    void request(std::span<const Access> accesses);
    /// The addresses of local memory mean nothing from one group to the next.
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

    std::vector<std::uint64_t> places_;  ///< kept for its memory
    FlatMap<std::uint8_t> sectors_, lines_;
    FlatMap<std::uint64_t> bytes_;  ///< a bit of each, by 64
    FlatMap<std::uint32_t> in_group_[4], in_launch_[4];
};

}  // namespace cllab::count

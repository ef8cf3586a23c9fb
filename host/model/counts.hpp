// What a launch executes, counted in the simulator Oclgrind: operations, accesses, requests of waves, atomics, barriers
// and chains. Every Amount is per work-item; per_launch() scales it to the launch.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cllab::model {

/// An amount per work-item. The mean is exact if all groups of the launch were counted, else an estimate.
struct Amount {
    double mean = 0;
    double low = 0, high = 0;  ///< means of the counted groups with the least and the most
    double margin = 0;         ///< of an estimate: half of the 95 % confidence interval of the mean
    bool known = true;         ///< false: the mean is of the counted groups, and bounds nothing of the launch
};

enum class Operation {
    float_add,       ///< and subtraction; a negation is none
    float_multiply,  ///< without an addition
    float_fma,       ///< multiply-add, one operation here and two FLOP; fused or left to the compiler (mad, fmuladd)
    float_divide,
    float_compare,     ///< comparison, minimum, maximum, absolute value, sign, rounding
    float_function,    ///< OperationCount::function says which
    integer_add,       ///< add, subtract, logic, shift, comparison, selection, minimum, maximum
    integer_multiply,  ///< and multiply-add
    integer_divide,    ///< and remainder; by a constant it is a multiplication, or a shift
    conversion,        ///< between integer and float, or between widths of float
};
const char* name(Operation kind);
std::optional<Operation> operation_from(std::string_view text);

/// Operations in elements: an addition of two float4 is four. Address arithmetic counts only if the text computes it.
struct OperationCount {
    Operation kind = Operation::float_add;
    unsigned bits = 32;      ///< of an element; of a conversion, of its result
    std::string function{};  ///< "sqrt", "native_sin"; of other kinds empty
    Amount per_item{};
};

/// Accesses of one address space, without atomics. A load of a float4 is one access of 16 bytes.
struct Accesses {
    Amount loads, stores, load_bytes, store_bytes;
};

/// Requests of waves to global memory. The accesses of one instruction that the lanes of a wave execute together are
/// one request. It moves each 32-byte sector that it touches once.
struct SectorRequests {
    Amount requests, sectors;
    Amount least_sectors;      ///< for as many bytes side by side
    double worst_sectors = 0;  ///< of one request
};

/// Requests of waves to local memory. A request takes one turn per distinct 4-byte word in the busiest of 32 banks, and
/// a turn moves at most 128 bytes.
struct BankRequests {
    Amount requests, ways;
    Amount least_ways;  ///< without conflicts
    double worst_ways = 0;
};

/// On one address space. A request takes as many turns as lanes that meet on one address.
struct Atomics {
    Amount number, requests, turns;
    double addresses = 0;        ///< different ones, in all counted groups; of local memory, in one of them
    double most_in_wave = 0;     ///< of one request on one address
    double most_in_group = 0;    ///< of one group on one address
    double most_on_address = 0;  ///< of all counted groups
};

/// Distinct bytes, 32-byte sectors and 128-byte lines of global memory that the first `groups` counted groups touched.
/// Atomics touch bytes, but not sectors.
struct Footprint {
    double groups = 0;
    double sectors = 0, read_sectors = 0, written_sectors = 0, lines = 0, bytes = 0;
};

/// A chain of operations of one work-item, each of which needs the result of the one before, also through memory.
struct Chain {
    double loads = 0;        ///< of global and constant memory
    double local_loads = 0;  ///< of local memory
    double arithmetic = 0;   ///< operations on floats and integers, conversions
    double atomics = 0;
};

/// Amounts of one source line, per work-item of the counted groups.
struct CountedLine {
    unsigned line = 0;  ///< from 1, of the text of the kernel's file
    std::string file{}, text{};
    double instructions = 0;  ///< issued by waves
    double bytes = 0;         ///< of global memory, asked
    double sectors = 0, least_sectors = 0;
    double ways = 0, least_ways = 0;  ///< of local memory
    double atomic_turns = 0;
};

/// Something that is not among the counts. Figures that rest on it are not known.
struct NotCounted {
    std::string what, why;  ///< "the rest of the first group", "the budget ended after 64 of its work-items"
};

using PointValues = std::vector<std::pair<std::string, std::string>>;

/// Counts of the same kernel at a smaller point, for how they grow; per work-item.
struct CountGrowth {
    PointValues point;
    double instructions = 0, flops = 0, bytes = 0;
};

struct Counts {
    std::string source = "simulated";
    std::string id{};              ///< of the cell: "saxpy_w128"
    std::string kernel{};          ///< the entry point
    PointValues point{};           ///< that was counted
    PointValues asked_point{};     ///< where a smaller one was counted instead; else empty
    std::string launch{};          ///< which one of an operation with several, "2 of 3"; else empty
    double launches = 1;           ///< of the operation that execute the same
    double items = 0, groups = 0;  ///< of the launch
    double group_items = 0;        ///< work-items per group
    double counted_groups = 0, counted_items = 0;
    double seconds = 0;        ///< that the count took
    bool bounded = true;       ///< whether the counted groups say something of the others
    bool by_place = false;     ///< whether the work-item's place in the launch decides what it executes or accesses
    bool by_data = false;      ///< whether something loaded does
    double unlike_groups = 0;  ///< share of the groups that may execute something else, at most, at 95 % confidence

    std::vector<OperationCount> operations{};
    Accesses global{}, constant{}, local{}, private_memory{};
    Amount image_accesses{};  ///< whose bytes are not counted
    Amount instructions{};    ///< executed by work-items; those of vectors count as often as they have elements
    unsigned wave = 32;       ///< work-items that execute together
    Amount issued{};          ///< by waves, shared out to the work-items of the group
    double lanes_active = 1;  ///< mean share of a wave's lanes in what it issues
    SectorRequests reads{}, writes{};
    std::vector<Footprint> footprint{};  ///< after one group, two, four, ... all that were counted
    BankRequests local_reads{}, local_writes{};
    Atomics global_atomics{}, local_atomics{};
    Amount barriers{};
    Chain longest{};  ///< the largest of each in any counted work-item; not necessarily of one path
    Chain path{};     ///< of the one path that takes longest where a load costs 100, a local one 8, arithmetic 1
    std::vector<CountedLine> lines{};    ///< the costliest first
    std::vector<std::string> assumed{};  ///< what nobody stated: "groups of 256, which the text leaves to the driver"
    std::vector<NotCounted> not_counted{};
    std::vector<CountGrowth> growth{};
};

/// In the launch.
double per_launch(const Counts& counts, const Amount& amount);
/// Work-items per wave, at most those of a group.
double items_per_wave(const Counts& counts);
/// a plus `times` b; known if both are. Its margin is an upper bound.
Amount sum(const Amount& a, const Amount& b, double times = 1);
/// Operations of a kind per work-item. `bits` 0: all widths.
double operations(const Counts& counts, Operation kind, unsigned bits = 0);
/// Operations of all kinds per work-item.
double all_operations(const Counts& counts);
/// Floating-point operations per work-item: an fma counts as two, a comparison as none, others as one.
Amount flop_amount(const Counts& counts, unsigned bits = 0);
double flops(const Counts& counts, unsigned bits = 0);
/// Bytes requested from global and constant memory per work-item. Unknown if images are accessed.
Amount asked_amount(const Counts& counts);
double asked_bytes(const Counts& counts);
/// Bytes moved between global memory and waves in whole sectors, per work-item. Unknown if images are accessed.
Amount moved_amount(const Counts& counts);
/// Distinct bytes of global memory that the launch touches; nullopt if a group or an image was not counted.
std::optional<double> distinct_bytes(const Counts& counts);
/// Makes every amount one that is not known.
void forget_means(Counts& counts);

}  // namespace cllab::model

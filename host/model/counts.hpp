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
    double low = 0, high = 0;  ///< smallest and largest mean of a counted group
    double margin = 0;         ///< of an estimate: half the width of the mean's 95 % confidence interval
    bool open = false;    ///< of an estimate: no upper end, because a group that was not counted may repeat a loop any
                          ///< number of times
    bool known = true;    ///< false: the mean holds for the counted groups and does not bound the launch
    double at_least = 0;  ///< if the mean is not known: its lower bound at 95 % confidence
};

enum class Operation {
    float_add,       ///< addition and subtraction; a negation does not count
    float_multiply,  ///< without an addition
    float_fma,       ///< multiply-add, one operation here and two FLOP; fused or left to the compiler (mad, fmuladd)
    float_divide,
    float_compare,     ///< comparison, minimum, maximum, absolute value, sign, rounding
    float_function,    ///< named by OperationCount::function
    integer_add,       ///< add, subtract, logic, shift, comparison, selection, minimum, maximum
    integer_multiply,  ///< multiplication, multiply-add
    integer_divide,    ///< division, remainder; a division by a constant is a multiplication or a shift
    conversion,        ///< between integer and float, or between widths of float
};
const char* name(Operation kind);
std::optional<Operation> operation_from(std::string_view text);

/// Operations in elements: an addition of two float4 is four. Address arithmetic counts only if the text computes it.
struct OperationCount {
    Operation kind = Operation::float_add;
    unsigned bits = 32;      ///< bits of an element; for a conversion, of its result
    std::string function{};  ///< for float_function: "sqrt", "native_sin"; else empty
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
    Amount least_sectors;      ///< minimum for as many adjacent bytes
    double worst_sectors = 0;  ///< of one request
};

/// Requests of waves to local memory. A request takes one turn per distinct 4-byte word in the busiest of 32 banks, and
/// a turn moves at most 128 bytes.
struct BankRequests {
    Amount requests, ways;
    Amount least_ways;  ///< without conflicts
    double worst_ways = 0;
};

/// Atomics on one address space. A request takes one turn per lane on the same address.
struct Atomics {
    Amount number, requests, turns;
    double addresses = 0;        ///< distinct addresses in all counted groups; for local memory, in one group
    double most_in_wave = 0;     ///< maximum of one request on one address
    double most_in_group = 0;    ///< maximum of one group on one address
    double most_on_address = 0;  ///< maximum of all counted groups on one address
};

/// Distinct bytes, 32-byte sectors and 128-byte lines of global memory that the first `groups` counted groups touched.
/// Atomics touch bytes, but not sectors.
struct Footprint {
    double groups = 0;
    double sectors = 0, read_sectors = 0, written_sectors = 0, lines = 0, bytes = 0;
};

/// A chain of operations of one work-item. Each needs the result of the previous one, also through memory.
struct Chain {
    double loads = 0;        ///< of global and constant memory
    double local_loads = 0;  ///< of local memory
    double arithmetic = 0;   ///< operations on floats and integers, and conversions
    double atomics = 0;
};

/// Amounts of one source line, per work-item of the counted groups.
struct CountedLine {
    unsigned line = 0;  ///< line number in the kernel's file, from 1
    std::string file{}, text{};
    double instructions = 0;  ///< issued by waves
    double bytes = 0;         ///< requested from global memory
    double sectors = 0, least_sectors = 0;
    double ways = 0, least_ways = 0;  ///< of local memory
    double atomic_turns = 0;
};

/// Something that was not counted. Figures that depend on it are unknown.
struct NotCounted {
    std::string what, why;  ///< "the rest of the first group", "the budget ended after 64 of its work-items"
};

using PointValues = std::vector<std::pair<std::string, std::string>>;

/// Counts of the same kernel at a smaller point, per work-item. They show how the amounts grow.
struct CountGrowth {
    PointValues point;
    double instructions = 0, flops = 0, bytes = 0;
};

struct Counts {
    std::string source = "simulated";
    std::string id{};              ///< id of the cell: "saxpy_w128"
    std::string kernel{};          ///< the entry point
    PointValues point{};           ///< the counted point
    PointValues asked_point{};     ///< the requested point, if a smaller one was counted instead; else empty
    std::string launch{};          ///< number of the launch, if the operation has several: "2 of 3"; else empty
    double launches = 1;           ///< launches of the operation that execute the same
    double items = 0, groups = 0;  ///< of the launch
    double group_items = 0;        ///< work-items per group
    double counted_groups = 0, counted_items = 0;
    double seconds = 0;     ///< processor seconds of the count
    bool bounded = true;    ///< the counts bound those of the other groups
    bool by_place = false;  ///< a work-item's place in the launch decides what it executes or accesses
    bool by_data = false;   ///< loaded data decides what work-items execute or access
    /// Maximum share of groups that may execute something else than the counted ones, at 95 % confidence.
    double unlike_groups = 0;

    std::vector<OperationCount> operations{};
    Accesses global{}, constant{}, local{}, private_memory{};
    Amount image_accesses{};  ///< the bytes of these accesses are not counted
    Amount instructions{};    ///< executed by work-items; a vector instruction counts once per element
    unsigned wave = 32;       ///< work-items that execute together
    Amount issued{};          ///< instructions issued by waves, divided by the work-items of the group
    double lanes_active = 1;  ///< mean share of active lanes per instruction that a wave issues
    SectorRequests reads{}, writes{};
    std::vector<Footprint> footprint{};  ///< after one, two, four, ... all counted groups
    BankRequests local_reads{}, local_writes{};
    Atomics global_atomics{}, local_atomics{};
    Amount barriers{};
    Chain longest{};  ///< the maximum of each amount over counted work-items; not necessarily on one path
    Chain path{};     ///< amounts of the longest path, if a load costs 100, a local load 8, arithmetic 1
    std::vector<CountedLine> lines{};  ///< costliest first
    /// Assumptions about undeclared values: "groups of 256, which the text leaves to the driver".
    std::vector<std::string> assumed{};
    std::vector<NotCounted> not_counted{};
    std::vector<CountGrowth> growth{};
};

/// The amount of the whole launch: the mean per work-item times the work-items.
double per_launch(const Counts& counts, const Amount& amount);
/// Mean number of work-items per wave of a group.
double items_per_wave(const Counts& counts);
/// a plus `times` b; known if both are known. The margins are added, which gives an upper bound.
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
/// Marks every amount as unknown.
void forget_means(Counts& counts);

}  // namespace cllab::model

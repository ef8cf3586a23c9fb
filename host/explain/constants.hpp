// The thresholds and factors of `cllab why`: meaning, source of the value, and, in parentheses, the unit-test suite
// that fails when it changes. "Fitted": chosen so that the kernels of tests/trial get the right limiter on an H200 and
// on a 16-core CPU; not a property of a processor.
#pragma once

#include <cstddef>

namespace cllab::explain {

// --- When a bound names the limiter ----------------------------------------------------------------------------------

/// Ratio below which two times or rates of an idle machine count as equal. Covers values outside a 95 % interval, and
/// clock drift since the profile. (why)
constexpr double alike = 1.05;
/// A bound names the limiter if it is at least `most_of_the_time` of the time (why) and the next bound is at most
/// `clear_of_the_next` of it (why). A definition: `cllab why --help` states it.
constexpr double most_of_the_time = 0.8, clear_of_the_next = 0.75;
/// A bound by the instruction rate names nothing from this many times the time, whatever its interval: it is then as
/// far above the time as one that names nothing is below. Other work had slowed such rates. (why_doubt)
constexpr double far_beyond = 1 / most_of_the_time;
/// Share of the time that suffices instead if warps wait for the resource: Nsight Compute's threshold for a limiter.
/// (why_stalls)
constexpr double busy = 0.6;
/// A stall reason counts as the reason from this share of all waiting: more than all others together. (why_stalls)
constexpr double most_of_the_waiting = 0.5;
/// Relative interval of the time above which no limiter is named: the machine may not be in the state of the profile.
/// (why)
constexpr double widest_spread = 0.1;
/// For a launch and another bound that add up: the minimum share of the time of each, and of their sum. The sum needs
/// more than a single bound because a pair has more chances to fit by accident. (why)
constexpr double part_beside_launch = 0.1, least_with_launch = 0.85;
/// A launch may be shorter by this share than in the profile: an empty kernel took 5.0 to 6.1 us in four profiles
/// (`cllab run launch`). (why)
constexpr double launch_shorter_by = 0.1;
/// A single launch below this share of an empty kernel's time is impossible. Half, because empty launches vary more
/// than rates do. (run_limits)
constexpr double least_of_empty_launch = 0.5;

// --- Which peaks are measured again (why_doubt) ----------------------------------------------------------------------

/// A bound of at least this share of the time would explain it if the true peak were half as fast.
constexpr double doubtful_from = most_of_the_time / 2;
/// A faster new peak replaces the old one only if its relative interval is at most this wide.
constexpr double widest_peak = 0.5;
/// Maximum number of peaks that one cell has measured again; each takes up to a second.
constexpr std::size_t most_measured_again = 3;

// --- Memory ----------------------------------------------------------------------------------------------------------

/// Bytes per sector of NVIDIA's L2, the unit of its counters. (why_counted_memory)
constexpr double sector_bytes = 32;
/// Bytes per CPU cache line if the profile has no figure. (why_counted_memory)
constexpr double line_bytes = 64;
/// Maximum difference between two read shares that count as equal; edges and small tables cause it. The shares of the
/// streams, 1/2 and 2/3, differ by five times as much. (why_bounds)
constexpr double same_proportion = 0.03;
/// Sectors touched over sectors needed, from which a wave's access counts as scattered. Edges and misalignment stay
/// below. (why_counted_memory)
constexpr double scattered_from = 1.5;
/// If one group touches this share of all data, every instance of a cache level needs all data. (why_bounds)
constexpr double nearly_all_shared = 0.9;

// --- Arithmetic ------------------------------------------------------------------------------------------------------

/// A share of samples or operations that represents the whole; the rest takes time too. (why_instructions)
constexpr double most_samples = 0.8;
/// A share of samples that counts as all. Blocks below 0.5 % are unnamed, and there may be four. (why_bounds)
constexpr double nearly_all_samples = 0.98;
/// Lanes of the widest wave (AMD). At least one lane is active. (why_counted_operations)
constexpr double widest_wave = 64;
/// Floats in the widest CPU vector (AVX-512): vector functions may be that much faster than the profile's scalar calls.
/// Scalar code may still be faster by `scalar_call`, because preparing a call's arguments takes time in the probe.
/// (why_counted_operations)
constexpr double most_floats_in_vector = 16, scalar_call = clear_of_the_next;

// --- Instruction issue -----------------------------------------------------------------------------------------------

/// Minimum share of executed instructions that take an issue slot. Processors fuse a compare with its branch and
/// eliminate some moves: one of five instructions in the shortest loop that computes. (why_bounds)
constexpr double fused = 0.8;
/// Hardware threads per core. The probe's threads may share cores; the threads of few groups need not.
/// (why_instructions)
constexpr double threads_of_core = 2;
/// How much faster a GPU may issue other instructions than the multiply-adds that its issue rate is derived from. (why)
constexpr double issue_beside_multiply_adds = 2;
/// Minimum share of samples in computing blocks, of the samples in all blocks used to estimate instructions. Fitted.
/// (why_instructions)
constexpr double few_that_compute = 1.0 / 3;
/// Share of accesses to global memory below which a loop hardly waits for it. Fitted. (why_instructions)
constexpr double hardly_any = 0.1;
/// Relative difference between accessed bytes and footprint up to which each byte counts as touched once.
/// (why_instructions)
constexpr double once_within = 0.1;

// --- Local memory and atomics ----------------------------------------------------------------------------------------

/// Bytes per pass through the local memory banks if the profile has no figure: 32 banks of 4 bytes, as on NVIDIA and
/// AMD. (why_counted_memory)
constexpr double bytes_of_pass = 128;
/// Passes over passes without conflicts, from which the cell counts as having bank conflicts. (why_counted_memory)
constexpr double conflicts_from = 1.5;
/// The addresses of atomics may be spread so well over the parts of a cache that their rate is that of this many times
/// the addresses. Consecutive measured rates have four or eight times the addresses. (why_atomics)
constexpr double atomics_spread = 4;
/// Distinct addresses per counted atomic, below which atomics share addresses, also with other groups.
/// (why_counted_memory)
constexpr double meet_below = 0.5;

// --- Latency ---------------------------------------------------------------------------------------------------------

/// Maximum resident work-items per GPU unit if the profile has no figure (compute capabilities 5 to 12: 2048; GCN and
/// CDNA: 40 waves of 64). (why_counted_operations)
constexpr double most_resident = 2560;
/// Instructions that a core looks ahead. No processor has a larger window; most have half of it.
/// (why_counted_operations)
constexpr double looks_ahead = 1000;
/// Overlap of consecutive work-items above which a core works on several at once, so that a chain is no bound. Fitted.
/// (why_counted_operations)
constexpr double most_overlap = 0.5;
/// Shortest time of an operation in a chain, relative to a multiply-add. A CPU adds floats in half and computes logic
/// in a quarter; a GPU's compiler fuses two operations. (why_counted_operations)
constexpr double least_of_floats = 0.5, least_of_any = 0.25;

// --- Launch ----------------------------------------------------------------------------------------------------------

/// Factor by which the launch time varies between processes. Empty launches took 0.31 and 1.4 us on a CPU, and 5.0 to
/// 6.1 us on a GPU (`cllab run launch`, several processes). (why_bounds)
constexpr double launch_changes_cpu = 5, launch_changes_gpu = 1.25;
/// Share of the cores that worked, below which uneven groups are not the only cause. Fitted. (why_instructions)
constexpr double least_working = 0.75;

// --- What counts say in sentences ------------------------------------------------------------------------------------

/// Minimum links of a chain to mention, and its minimum share of all operations or loads. Half of a loop's operations
/// may count its passes. (why_advice)
constexpr double long_chain = 32, chain_of_most = 0.3;
/// Minimum share of the time of a cost to mention. (why_advice)
constexpr double worth_saying = 0.1;
/// Amount over the necessary amount, from which a sentence mentions it. (why_counted_memory)
constexpr double worth_a_sentence = 1.5;
/// Share of a group's atomics on one word, from which a sum within the group helps. (why_counted_memory)
constexpr double meeting_in_group = 1.0 / 8;
/// Group size from which larger groups are not advised, and the size to advise. (why_counted_operations)
constexpr double enough_items = 64, usual_items = 256;
/// Factor allowed between declared and counted amounts. Authors differ in how they count: duplicate data in a buffer,
/// or the sum beside each product. (why_contradiction)
constexpr double most_apart = 2;
/// Ratio below which two launches count as equal: edges, or another way to compute the same address.
/// (why_counted_memory)
constexpr double little = 1.1;

}  // namespace cllab::explain

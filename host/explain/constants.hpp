// Thresholds and factors of `cllab why`. In parentheses: the unit-test suite that fails if the value changes. "Fitted"
// values give the kernels of tests/trial the right limiter on an H200 and a 16-core CPU.
#pragma once

#include <cstddef>

namespace cllab::explain {

// --- When a bound names the limiter ----------------------------------------------------------------------------------

/// Two times or rates count as equal below this ratio. It allows for clock drift since the profile, and for values
/// outside a 95 % interval. (why)
constexpr double alike = 1.05;
/// A bound is the limiter if it is at least `most_of_the_time` of the time, and each bound of other work is at most
/// `clear_of_the_next` of it, and their intervals do not overlap. `cllab why --help` states both values. (why)
constexpr double most_of_the_time = 0.8, clear_of_the_next = 0.75;
/// Two times of a cell whose ratio is larger are two speeds. The placement of buffers and the state of the machine
/// explain less. (why_doubt)
constexpr double two_speeds = 1.25;
/// No limiter is named if a CPU's issue bound exceeds this many times the time: other work slowed the measurement of
/// the rate. (why_doubt)
constexpr double far_beyond = 1 / most_of_the_time;
/// A resource that the warps mainly wait for is the limiter if its bound is at least this share of `time - launch
/// overhead`. Nsight Compute uses this threshold. one_core.cpp uses it, too. (why_stalls)
constexpr double busy = 0.6;
/// A stall reason is the main one if it causes at least this share of all waiting. (why_stalls)
constexpr double most_of_the_waiting = 0.5;
/// Above this relative spread of the time, no limiter is named: the machine may not be in the state of the profile.
/// (why)
constexpr double widest_spread = 0.1;
/// A launch and another bound may add up to the time. Each must be at least `part_beside_launch` of the time, and their
/// sum `least_with_launch`, because a sum is close to the time by accident more often than one bound is. (why)
constexpr double part_beside_launch = 0.1, least_with_launch = 0.85;
/// A launch may be this share shorter than in the profile. An empty kernel took 5.0 to 6.1 us in four profiles (`cllab
/// run launch`). (why)
constexpr double launch_shorter_by = 0.1;
/// The time of a single launch is not believed below this share of an empty kernel's time. Empty launches vary more
/// than rates.
/// (limits)
constexpr double least_of_empty_launch = 0.5;

// --- Which peaks are measured again (why_doubt) ----------------------------------------------------------------------

/// A bound of this share of the time would explain the time if the true peak were half as fast.
constexpr double doubtful_from = most_of_the_time / 2;
/// A new peak is used only if its interval is at most this share of its value. Exception: a bound exceeds the time, and
/// the new peak is faster.
constexpr double widest_peak = 0.5;
/// No doubtful peak is measured again once this many peaks were measured for the cell.
constexpr std::size_t most_measured_again = 3;

// --- Memory ----------------------------------------------------------------------------------------------------------

/// Bytes per sector of NVIDIA's L2, the unit of its counters. (why_counted_memory)
constexpr double sector_bytes = 32;
/// Bytes per CPU cache line if the profile has no figure. (why_counted_memory)
constexpr double line_bytes = 64;
/// Two ratios `bytes read / all bytes` are equal if they differ by less than this, for example because of edges or
/// small tables. The streams' ratios 1/2 and 2/3 differ by more. (why_bounds)
constexpr double same_proportion = 0.03;
/// An access is scattered if it touches more than this many times the sectors that it needs. Edges and misalignment
/// cause less. (why_counted_memory)
constexpr double scattered_from = 1.5;
/// If the work-groups share this part of all data, each core's cache needs all data. (why_bounds)
constexpr double nearly_all_shared = 0.9;

// --- Arithmetic ------------------------------------------------------------------------------------------------------

/// A part with at least this share of all samples or operations represents all of them. (why_instructions)
constexpr double most_samples = 0.8;
/// Listed blocks with at least this share of the samples are treated as all code. Blocks below 0.5 % are not listed.
/// (why_bounds)
constexpr double nearly_all_samples = 0.98;
/// Lanes of the widest wave (AMD). At least one of them is active. (why_counted_operations)
constexpr double widest_wave = 64;
/// Functions in vectors may be `most_floats_in_vector` (AVX-512) times as fast as the profile's scalar calls. Scalar
/// code may need only the share `scalar_call` of the profile's time, because the probe also prepares arguments.
/// (why_counted_operations)
constexpr double most_floats_in_vector = 16, scalar_call = clear_of_the_next;

// --- Instruction issue -----------------------------------------------------------------------------------------------

/// Minimum share of instructions that take an issue slot. Processors fuse or eliminate the others: in the shortest loop
/// that computes, one of five. (why_bounds)
constexpr double fused = 0.8;
/// Hardware threads per core. Threads of the issue-rate probe may share a core. The threads of a launch with few
/// work-groups need not. (why_instructions)
constexpr double threads_of_core = 2;
/// A GPU may issue other instructions this many times as fast as multiply-adds. (why)
constexpr double issue_beside_multiply_adds = 2;
/// A CPU's instructions are estimated from the samples in two kinds of blocks: blocks that compute, and blocks that
/// hardly wait. At least this share of these samples must be in blocks that compute. Fitted. (why_instructions)
constexpr double few_that_compute = 1.0 / 3;
/// A loop hardly waits for global memory if at most this share of accesses is global. Fitted. (why_instructions)
constexpr double hardly_any = 0.1;
/// Two amounts of bytes are equal within this share. (why_instructions)
constexpr double once_within = 0.1;

// --- Local memory and atomics ----------------------------------------------------------------------------------------

/// Bytes per pass through the banks of local memory if the profile has no figure: 32 banks of 4 bytes (NVIDIA, AMD).
/// (why_counted_memory)
constexpr double bytes_of_pass = 128;
/// A cell has bank conflicts above this many times the conflict-free passes. (why_counted_memory)
constexpr double conflicts_from = 1.5;
/// The high end of an atomic rate includes rates with more addresses: up to the smallest measured number that is at
/// least this many times the cell's number. The profile has rates for 1, 4, 32, 256, 4096 and 65536 addresses.
/// (why_atomics)
constexpr double atomics_spread = 4;
/// Work-groups share addresses if there are fewer distinct addresses than this per counted atomic. (why_counted_memory)
constexpr double meet_below = 0.5;

// --- Latency ---------------------------------------------------------------------------------------------------------

/// Maximum resident work-items per GPU compute unit if the profile has no figure. Compute capabilities 5 to 12: at most
/// 2048. GCN, CDNA 1: 40 waves of 64; CDNA 2, 3: 32. (why_counted_operations)
constexpr double most_resident = 2560;
/// Out-of-order window in instructions. No processor has a larger one. (why_counted_operations)
constexpr double looks_ahead = 1000;
/// If consecutive work-items overlap by more than this share, a core works on several at once, and their chains give no
/// bound. Fitted. (why_counted_operations)
constexpr double most_overlap = 0.5;
/// Links of a chain of loads that names a limiter. A gather has two: an index and an element. (why_one_core)
constexpr double least_chase = 4;
/// Shortest `time of a chain's operation / time of a multiply-add`. A CPU adds floats in half that time and computes
/// logic in a quarter. A GPU's compiler fuses operations. (why_counted_operations)
constexpr double least_of_floats = 0.5, least_of_any = 0.25;

// --- Launch ----------------------------------------------------------------------------------------------------------

/// Factor by which launch times vary between processes: 0.31 and 1.4 us on a CPU, 5.0 to 6.1 us on a GPU (empty kernels
/// of `cllab run launch`). (why_bounds)
constexpr double launch_changes_cpu = 5, launch_changes_gpu = 1.25;
/// Below this average share of working cores, idle cores are named as a part of the time. Fitted. (why_one_core)
constexpr double least_working = 0.75;

// --- Execution on one core -------------------------------------------------------------------------------------------

/// Limits for the ratio `(time on one core / cores) / time on all cores`. Above `like_one_core`, the split is rejected.
/// `shared_threads` = 1/2 * 4/5 is the lowest ratio that two causes explain: the cores are threads of one core (1/2),
/// and the clock falls (4/5). Below it, the cores slow each other in another way. (why_one_core)
constexpr double like_one_core = 1.3, shared_threads = 0.4;
/// A time is split if it is at least `launches_to_split` times the launch overhead, and at least `least_to_split`
/// seconds. In a shorter time, the overhead would appear as a cost of what the cores share.
constexpr double launches_to_split = 10, least_to_split = 50e-6;

// --- Sentences for the user (advice.cpp) -----------------------------------------------------------------------------

/// A chain is mentioned if it has at least `long_chain` links, and at least the share `chain_of_most` of all operations
/// or loads. The share is small because half of a loop's operations may only advance its counter. (why_advice)
constexpr double long_chain = 32, chain_of_most = 0.3;
/// A cost is mentioned if it is at least this share of the time. (why_advice)
constexpr double worth_saying = 0.1;
/// An amount is mentioned if it is at least this many times the necessary amount. (why_counted_memory)
constexpr double worth_a_sentence = 1.5;
/// If this share of a work-group's atomics go to one word, a sum within the work-group helps. (why_counted_memory)
constexpr double meeting_in_group = 1.0 / 8;
/// Work-groups of `enough_items` need not be larger. `usual_items`: the advised size. (why_counted_operations)
constexpr double enough_items = 64, usual_items = 256;
/// Declared and counted amounts may differ by this factor: authors count, for example, duplicate data differently.
/// (why_contradiction)
constexpr double most_apart = 2;
/// Two amounts of work are equal below this ratio. Edges and address arithmetic cause a few per cent.
/// (why_counted_memory)
constexpr double little = 1.1;

}  // namespace cllab::explain

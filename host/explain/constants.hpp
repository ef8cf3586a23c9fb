// The thresholds and factors of `cllab why`. Each comment gives the meaning, and the source of a value that was
// measured. The name in parentheses is the unit-test suite that fails if the value changes. "Fitted" values are chosen
// so that the kernels of tests/trial get the right limiter on an H200 and on a 16-core CPU. They are not properties of
// a processor.
#pragma once

#include <cstddef>

namespace cllab::explain {

// --- When a bound names the limiter ----------------------------------------------------------------------------------

/// Two times or rates of an idle machine are equal if their ratio is below this value. This tolerance allows for values
/// outside a 95 % interval, and for clock drift since the profile. (why)
constexpr double alike = 1.05;
/// A bound is the limiter if it is at least `most_of_the_time` of the time. (why) The next bound must be at most
/// `clear_of_the_next` of the limiter. (why) Both values are definitions. `cllab why --help` states them.
constexpr double most_of_the_time = 0.8, clear_of_the_next = 0.75;
/// If the CPU's instruction-issue bound is at least this many times as long as the time, no limiter is named. The
/// reason: other work has slowed the measurement of the rate. For this bound its value counts, not the low end of its
/// interval. The constant is the inverse of `most_of_the_time`. (why_doubt)
constexpr double far_beyond = 1 / most_of_the_time;
/// A resource that the warps mainly wait for is the limiter if its bound is at least this share of the time minus the
/// launch overhead. Nsight Compute uses the same threshold for a limiter. (why_stalls)
constexpr double busy = 0.6;
/// A stall reason is the main one if it causes at least this share of all waiting: as much as all other reasons
/// together. (why_stalls)
constexpr double most_of_the_waiting = 0.5;
/// If the relative spread of the time is above this value, no limiter is named. The machine may not be in the state of
/// the profile. (why)
constexpr double widest_spread = 0.1;
/// A launch and another bound may add up to the time. Each must be at least `part_beside_launch` of the time, and their
/// sum at least `least_with_launch`. The latter is larger than `most_of_the_time`, because a sum of two bounds is more
/// often close to the time by accident. (why)
constexpr double part_beside_launch = 0.1, least_with_launch = 0.85;
/// A launch may be shorter than in the profile by this share. An empty kernel took 5.0 to 6.1 us in four profiles
/// (`cllab run launch`): 10 % below and above their middle. (why)
constexpr double launch_shorter_by = 0.1;
/// A single launch is impossible if it takes less than this share of an empty kernel's time. The share is only one
/// half, because empty launches vary more than rates do. (limits)
constexpr double least_of_empty_launch = 0.5;

// --- Which peaks are measured again (why_doubt) ----------------------------------------------------------------------

/// A bound of at least this share of the time would explain the time if the true peak were half as fast.
constexpr double doubtful_from = most_of_the_time / 2;
/// A new peak is used only if its relative interval is at most this wide. Exception: a bound exceeds the time, and the
/// new peak is faster than the old one.
constexpr double widest_peak = 0.5;
/// Maximum number of peaks that are measured again for one cell. Each measurement takes up to a second.
constexpr std::size_t most_measured_again = 3;

// --- Memory ----------------------------------------------------------------------------------------------------------

/// Bytes per sector of NVIDIA's L2, the unit of its counters. (why_counted_memory)
constexpr double sector_bytes = 32;
/// Bytes per CPU cache line if the profile has no figure. (why_counted_memory)
constexpr double line_bytes = 64;
/// Two read shares (bytes read divided by all bytes) are equal if they differ by less than this value. Edges and small
/// tables cause such differences. The streams' shares of 1/2 and 2/3 differ by five times as much. (why_bounds)
constexpr double same_proportion = 0.03;
/// A wave's access is scattered if it touches more than this many times the sectors that it needs. Edges and
/// misalignment stay below. (why_counted_memory)
constexpr double scattered_from = 1.5;
/// If the work-groups have this share of all data in common, each core's cache needs all data. (why_bounds)
constexpr double nearly_all_shared = 0.9;

// --- Arithmetic ------------------------------------------------------------------------------------------------------

/// If the samples or operations that a bound uses are at least this share of all, they stand for all. The rest can only
/// make the bound larger. (why_instructions)
constexpr double most_samples = 0.8;
/// If the listed blocks have at least this share of the samples, they are treated as all executed code. A block with
/// less than 0.5 % is not listed. So the other 2 % may be four or more such blocks. (why_bounds)
constexpr double nearly_all_samples = 0.98;
/// Lanes of the widest wave (AMD). At least one of them is active, so the share of active lanes is at least 1/64.
/// (why_counted_operations)
constexpr double widest_wave = 64;
/// `most_floats_in_vector`: floats in the widest CPU vector (AVX-512). Vector functions may be that many times as fast
/// as the profile's scalar calls. `scalar_call`: scalar code may need only this share of the profile's time, because
/// the probe also prepares the arguments of each call. (why_counted_operations)
constexpr double most_floats_in_vector = 16, scalar_call = clear_of_the_next;

// --- Instruction issue -----------------------------------------------------------------------------------------------

/// Minimum share of executed instructions that take an issue slot. Processors fuse a compare with its branch and
/// eliminate some moves. In the shortest loop that computes, one of five instructions takes no slot. (why_bounds)
constexpr double fused = 0.8;
/// Hardware threads per core. Two threads of the issue-rate probe may share a core. With few work-groups, each thread
/// may have a core to itself. (why_instructions)
constexpr double threads_of_core = 2;
/// The issue rate of a GPU is derived from multiply-adds. The GPU may issue other instructions this many times as fast.
/// (why)
constexpr double issue_beside_multiply_adds = 2;
/// Instructions are estimated from two kinds of blocks: those that compute, and those that never wait. The blocks that
/// compute must have at least this share of the samples of both kinds together. Fitted. (why_instructions)
constexpr double few_that_compute = 1.0 / 3;
/// A loop hardly waits for global memory if at most this share of the kernel's accesses go there. Fitted.
/// (why_instructions)
constexpr double hardly_any = 0.1;
/// If two amounts of bytes differ by at most this share, they are equal. Used to check that each byte is touched once.
/// (why_instructions)
constexpr double once_within = 0.1;

// --- Local memory and atomics ----------------------------------------------------------------------------------------

/// Bytes per pass through the local memory banks if the profile has no figure: 32 banks of 4 bytes, as on NVIDIA and
/// AMD. (why_counted_memory)
constexpr double bytes_of_pass = 128;
/// A cell has bank conflicts if it needs more than this many times the passes without conflicts. (why_counted_memory)
constexpr double conflicts_from = 1.5;
/// The high end of an atomic rate includes rates measured with more addresses: up to the first measured number that is
/// at least this many times the cell's number. The reason: the addresses may be spread well over the parts of a cache.
/// The profile has rates for 1, 4, 32, 256, 4096 and 65536 addresses. (why_atomics)
constexpr double atomics_spread = 4;
/// Distinct addresses per counted atomic. Below this value, atomics share addresses, even across work-groups.
/// (why_counted_memory)
constexpr double meet_below = 0.5;

// --- Latency ---------------------------------------------------------------------------------------------------------

/// Maximum resident work-items per GPU compute unit if the profile has no figure. Compute capabilities 5 to 12 have at
/// most 2048. GCN and CDNA 1 have 40 waves of 64, CDNA 2 and 3 have 32. (why_counted_operations)
constexpr double most_resident = 2560;
/// Size of a core's out-of-order window in instructions. No processor has a larger one, and most have half as much.
/// (why_counted_operations)
constexpr double looks_ahead = 1000;
/// If consecutive work-items overlap by more than this share, a core works on several at once. Their chains then give
/// no bound. Fitted. (why_counted_operations)
constexpr double most_overlap = 0.5;
/// Shortest time of an operation in a chain, divided by the time of a multiply-add. A CPU adds floats in half that time
/// and computes logic in a quarter. A GPU's compiler fuses two operations into one. (why_counted_operations)
constexpr double least_of_floats = 0.5, least_of_any = 0.25;

// --- Launch ----------------------------------------------------------------------------------------------------------

/// Factor by which the launch time varies between processes. Empty launches took 0.31 and 1.4 us on a CPU, and 5.0 to
/// 6.1 us on a GPU (`cllab run launch`, several processes). (why_bounds)
constexpr double launch_changes_cpu = 5, launch_changes_gpu = 1.25;
/// Minimum average share of the cores that worked. Below it, uneven work-groups are not the only cause of idle cores.
/// Fitted. (why_instructions)
constexpr double least_working = 0.75;

// --- Execution on one core -------------------------------------------------------------------------------------------

/// `like_one_core`: the work of one core may take this many times its part of the time on all cores. `shared_threads`:
/// it may take down to this part of it, because cores share hardware threads (one half) and a clock (four fifths).
/// (why_one_core)
constexpr double like_one_core = 1.3, shared_threads = 0.4;

// --- Sentences for the user (advice.cpp) -----------------------------------------------------------------------------

/// A dependency chain is mentioned if it has at least `long_chain` links, and at least `chain_of_most` of all
/// operations or loads. In a loop, half of the operations may do nothing but advance the counter. (why_advice)
constexpr double long_chain = 32, chain_of_most = 0.3;
/// A cost is mentioned if it is at least this share of the time. (why_advice)
constexpr double worth_saying = 0.1;
/// An amount is mentioned if it is at least this many times the necessary amount. (why_counted_memory)
constexpr double worth_a_sentence = 1.5;
/// If at least this share of a work-group's atomics go to one word, a sum within the work-group helps.
/// (why_counted_memory)
constexpr double meeting_in_group = 1.0 / 8;
/// Work-groups of at least `enough_items` work-items need not be larger. `usual_items` is the size to advise.
/// (why_counted_operations)
constexpr double enough_items = 64, usual_items = 256;
/// Declared and counted amounts may differ by this factor. Authors differ, for example, in whether they count duplicate
/// data in a buffer, or the addition after each product. (why_contradiction)
constexpr double most_apart = 2;
/// Two launches are equal in an amount if the ratio of the two values is below this. Edges, or another way to compute
/// the same address, change an amount by a few per cent. (why_counted_memory)
constexpr double little = 1.1;

}  // namespace cllab::explain

// The thresholds and factors of `cllab why`, in one table: what each is, where its value comes from, and the suite of
// unit tests that fails when it changes. "Fitted" is what kernels of tests/trial were named right with on two machines,
// an H200 and a CPU of 16 cores; it is no property of a processor.
#pragma once

#include <cstddef>

namespace cllab::explain {

// --- When a bound names the limiter ----------------------------------------------------------------------------------

/// Times or rates of a machine at rest that differ by less are the same: what an interval of 95 % leaves out, and the
/// drift of a clock between the profile and today. (why)
constexpr double alike = 1.05;
/// A bound names the limiter from this part of the time on (why), and only when the next bound is at most that part of
/// it (why): a definition, which `cllab why --help` states.
constexpr double most_of_the_time = 0.8, clear_of_the_next = 0.75;
/// Nor need it be more than this part where warps wait for it: Nsight Compute calls a resource that reaches so much of
/// its peak the one that limits. (why_stalls)
constexpr double busy = 0.6;
/// A reason to wait is the reason from this part of all waiting on: more than all others. (why_stalls)
constexpr double most_of_the_waiting = 0.5;
/// Nothing is named of a time that spreads further: the median may be that of another state of the machine than the
/// one the peaks are of. (why)
constexpr double widest_spread = 0.1;
/// Of a launch and another bound that add up: the least part of the time that each is, and the part that both are.
/// More of it than one alone must be, as two have more chances to come near to it than one has. (why)
constexpr double part_beside_launch = 0.1, least_with_launch = 0.85;
/// A launch may be so much shorter than that of the profile: an empty kernel took 5.0 to 6.1 us in four profiles
/// (`cllab run launch`). (why)
constexpr double launch_shorter_by = 0.1;
/// A single launch below this part of an empty kernel's time cannot be: empty launches spread more than rates do.
/// (run_limits)
constexpr double least_of_empty_launch = 0.5;

// --- Which peaks are measured again (why_doubt) ----------------------------------------------------------------------

/// A bound of this part of the time explains it if its peak was half as fast as it is.
constexpr double doubtful_from = most_of_the_time / 2;
/// A faster peak stands only where its interval is no wider: what is known no better may be the slower one after all.
constexpr double widest_peak = 0.5;
/// Peaks that one cell has measured again; each takes up to a second.
constexpr std::size_t most_measured_again = 3;

// --- Memory ----------------------------------------------------------------------------------------------------------

/// Bytes of a sector of NVIDIA's second level, in which its counters count. (why_counted_memory)
constexpr double sector_bytes = 32;
/// Bytes of a cache line of a CPU where the profile does not say. (why_counted_memory)
constexpr double line_bytes = 64;
/// Parts of the bytes that differ by less are the same: an edge, or a table beside the arrays, makes the difference.
/// Those of the streams, 1/2 and 2/3, are five times as far apart. (why_bounds)
constexpr double same_proportion = 0.03;
/// A wave that touches so many times the sectors that its bytes fill asks for one in each line: with less, an edge or a
/// shift. (why_counted_memory)
constexpr double scattered_from = 1.5;
/// One group that goes through so much of what all touch leaves no part to an instance of a level. (why_bounds)
constexpr double nearly_all_shared = 0.9;

// --- Arithmetic ------------------------------------------------------------------------------------------------------

/// Of samples, or of operations, a part that stands for the whole: what else runs takes its time, too.
/// (why_instructions)
constexpr double most_samples = 0.8;
/// All samples: blocks of less than half a per cent have no name, and there may be four. (why_bounds)
constexpr double nearly_all_samples = 0.98;
/// Lanes of the widest wave, AMD's: no fewer are active than one. (why_counted_operations)
constexpr double widest_wave = 64;
/// No vector of a CPU holds more floats (AVX-512), by which its functions may be faster than the probe's calls; what
/// feeds those takes its time, too, so that scalar code may be faster by as much as two limiters that are not told
/// apart. (why_counted_operations)
constexpr double most_floats_in_vector = 16, scalar_call = clear_of_the_next;

// --- Instruction issue -----------------------------------------------------------------------------------------------

/// A compare and the branch behind it are one to a processor, and some moves none: of a loop of five instructions, the
/// shortest that computes, at least one. (why_bounds)
constexpr double fused = 0.8;
/// The probe's threads may share cores, two each, which threads of few groups have for themselves. (why_instructions)
constexpr double threads_of_core = 2;
/// Where multiply-adds cannot use every slot, a GPU issues other instructions up to twice as fast. (why)
constexpr double issue_beside_multiply_adds = 2;
/// The part of the samples in blocks that compute, of those in blocks that tell of instructions: a few do not stand for
/// all. Fitted. (why_instructions)
constexpr double few_that_compute = 1.0 / 3;
/// Accesses to global memory from this part down hardly make a loop wait. Fitted. (why_instructions)
constexpr double hardly_any = 0.1;
/// Bytes by the accesses that were counted and by the footprint, within a tenth: once each. (why_instructions)
constexpr double once_within = 0.1;

// --- Local memory and atomics ----------------------------------------------------------------------------------------

/// Bytes that a pass through the banks moves where the profile does not say: 32 banks of 4 bytes, as NVIDIA's and AMD's
/// have. (why_counted_memory)
constexpr double bytes_of_pass = 128;
/// Passes for each that would do without conflicts, from which on they are conflicts. (why_counted_memory)
constexpr double conflicts_from = 1.5;
/// So many times as many addresses may be spread over the parts of a cache as these are: each rate that was tried is of
/// four or eight times the addresses of the one before. (why_atomics)
constexpr double atomics_spread = 4;
/// Below this part of the counted atomics on addresses of their own they meet, and those of other groups meet them.
/// (why_counted_memory)
constexpr double meet_below = 0.5;

// --- Latency ---------------------------------------------------------------------------------------------------------

/// Work-items that a unit of a GPU holds at most where the profile does not say (compute capabilities 5 to 12: 2048;
/// GCN and CDNA: 40 waves of 64). (why_counted_operations)
constexpr double most_resident = 2560;
/// Instructions that a core looks ahead at most: no processor's window is larger, and most are half of that.
/// (why_counted_operations)
constexpr double looks_ahead = 1000;
/// From here on a core works on several work-items at once, and no chain is a bound. Fitted. (why_counted_operations)
constexpr double most_overlap = 0.5;
/// The least of a chain's arithmetic, of a multiply-add each: a CPU does an addition of floats in half of it and a
/// logical operation in a quarter, a GPU's compiler joins two. (why_counted_operations)
constexpr double least_of_floats = 0.5, least_of_any = 0.25;

// --- Launch ----------------------------------------------------------------------------------------------------------

/// What a launch takes changes by so much with what else the host does: an empty one of one process took 0.31 us and of
/// another 1.4 on a CPU, of a GPU 5.0 to 6.1 us (`cllab run launch`, in several processes). (why_bounds)
constexpr double launch_changes_cpu = 5, launch_changes_gpu = 1.25;
/// Where fewer of the cores worked, more than uneven sharing held them up. Fitted. (why_instructions)
constexpr double least_working = 0.75;

// --- What counts say in sentences ------------------------------------------------------------------------------------

/// A chain is said from so many links on, where it is this part of all operations or loads: of a loop half of them may
/// count its passes. (why_advice)
constexpr double long_chain = 32, chain_of_most = 0.3;
/// A cost is said from this part of the time on. (why_advice)
constexpr double worth_saying = 0.1;
/// Times as much as there must be, from which on a sentence says so. (why_counted_memory)
constexpr double worth_a_sentence = 1.5;
/// Atomics of a group on one word, as a part of all, from which on a sum of the group's own helps. (why_counted_memory)
constexpr double meeting_in_group = 1.0 / 8;
/// Work-items of a group from which on larger groups are no advice, and the size that is advised.
/// (why_counted_operations)
constexpr double enough_items = 64, usual_items = 256;
/// What is declared and what is counted may differ so much: what is in a buffer twice, or a sum beside each product, is
/// a matter of how one counts. (why_contradiction)
constexpr double most_apart = 2;
/// Two launches that differ by less execute alike: an edge, or another way to the same address. (why_counted_memory)
constexpr double little = 1.1;

}  // namespace cllab::explain

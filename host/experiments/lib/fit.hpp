// Fitters of the probes: from a noisy curve to the number behind it, with an interval and a residual.
//
// The usual way is least squares, or a threshold set by eye on one card. Both fail on these curves: one preempted
// sample moves a mean, and a threshold carries one card's latencies to the next. So every fit here minimises absolute
// relative errors (the maximum-likelihood fit under Laplace noise), which a few wild points do not move, and parameters
// that can only be whole (compute units, banks, wave width) are tried one by one. A fit that does not explain its curve
// is not returned. Points that are not finite, or not positive where a logarithm is taken, are ignored; order does not
// matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace cllab::model {

struct Estimate {
    double value = 0, low = 0, high = 0;  ///< low..high: 95 % interval, or what the sampled points cannot tell apart
};

/// y = intercept + slope * x.
struct Line {
    Estimate slope, intercept;
    double residual = 0;  ///< median |y - line|, in the unit of y
};

/// Theil-Sen line: the median of the slopes of all pairs, with Sen's distribution-free interval (Sen 1968). Breaks down
/// only when 29 % of the points are wild. Nothing with fewer than two different x. O(n^2): meant for some hundred
/// points.
std::optional<Line> fit_line(std::span<const double> x, std::span<const double> y);

/// One flat stretch of a rising curve, e.g. one cache level in a latency curve over the footprint.
struct Plateau {
    Estimate value;         ///< median of its points, unit of y
    double first_x = 0;     ///< first point on it
    Estimate capacity;      ///< last x with y <= tolerance * value; high is the next x sampled
    bool open = false;      ///< reaches the end of the curve: its capacity is a lower bound
    double transition = 0;  ///< x where the next plateau begins over the capacity (1.04: sharp); 0 when none follows
    std::size_t points = 0;
};
struct Plateaus {
    std::vector<Plateau> levels;  ///< ascending
    double residual = 0;          ///< median |y / level - 1| of the points on plateaus
    double covered = 0;           ///< share of the points that lie on a plateau, 0..1
};
struct PlateauOptions {
    double tolerance = 1.05;
    double least_span = 1.6;  ///< last x over first x: a shorter stretch is part of a slope
    std::size_t least_points = 3;
};
/// Plateaus of a curve that rises with x (both positive). Noise and upward spikes are taken out by isotonic regression
/// with medians; a stretch that climbs evenly through the whole tolerance is a slope, and one whose points scatter by
/// more than the tolerance (median deviation) is noise: neither is a plateau.
Plateaus find_plateaus(std::span<const double> x, std::span<const double> y, const PlateauOptions& options = {});

/// y = before up to the position, after beyond it: the width probe of divergence, the knee of the register sweep.
struct StepFit {
    double before = 0, after = 0;
    Estimate position;    ///< last x of the first part; high is the next x sampled
    double residual = 0;  ///< mean |y / model - 1|
};
/// Nothing when the two parts differ by less than four residuals, or with fewer than two points. y positive.
std::optional<StepFit> fit_step(std::span<const double> x, std::span<const double> y);

/// t(G) = overhead + step * ceil(G / period): time over the number of saturating work-groups.
struct Staircase {
    Estimate period;                ///< compute units: whole; the interval is by likelihood ratio (95 %)
    double overhead = 0, step = 0;  ///< unit of the times
    double residual = 0;            ///< mean |t / model - 1|
};
/// Smallest period of greatest likelihood, with an overhead of at most half a step. Nothing when no step shows: a flat
/// curve, a line that does not start near the origin, or steps smaller than four residuals.
std::optional<Staircase> fit_staircase(std::span<const double> groups, std::span<const double> seconds);

/// rate(B) = min(group_rate * B, wave_rate * B / ceil(B / width)) work-items per unit of time, B work-items per group.
struct Dispatch {
    Estimate group_rate;                ///< groups per unit of time
    std::optional<Estimate> wave_rate;  ///< waves per unit of time; nothing when no B is limited by waves
    unsigned width = 0;                 ///< work-items in a wave: 8, 16, 32, 64 or 128; 0 when the waves never limit
    std::vector<unsigned> widths;       ///< all that fit as well: more than one when every B is a power of two
    double residual = 0;                ///< mean |rate / model - 1|
};
/// The two-parameter model that reproduces the published rows of Vega10 (0.25, 1.0, 64) and RX 6600 (0.996, 1.32, 32).
/// Nothing with fewer than three points.
std::optional<Dispatch> fit_dispatch(std::span<const double> group_sizes, std::span<const double> rates);

/// One access pattern of the local-memory probe: what each lane of a wave reads, and the measured time.
struct BankCase {
    std::vector<std::uint32_t> byte_addresses;  ///< one a lane
    double time = 0;
};
/// Passes that one access takes: lanes are served `lanes_per_pass` at a time, and each pass takes as many turns as the
/// largest number of distinct words that fall in one bank. Equal words are broadcast.
unsigned bank_slots(std::span<const std::uint32_t> byte_addresses, unsigned banks, unsigned bank_bytes,
                    unsigned lanes_per_pass = 32);

/// time = base + per_slot * (slots - slots without conflict).
struct Banks {
    unsigned banks = 0, bank_bytes = 0;
    double base = 0, per_slot = 0;                            ///< unit of the times
    double residual = 0;                                      ///< mean |time / model - 1|
    std::vector<std::pair<unsigned, unsigned>> alternatives;  ///< other (banks, bytes) that fit as well
};
/// Tries {16, 32, 64} banks of {4, 8} bytes. Nothing when conflicts cost nothing (a CPU) or with fewer than three
/// cases. Power-of-two strides of 4-byte words cannot tell 32 banks of 4 bytes from 16 of 8: include odd strides.
std::optional<Banks> fit_banks(std::span<const BankCase> cases, unsigned lanes_per_pass = 32);

}  // namespace cllab::model

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
};

/// Theil-Sen line: the median of the slopes of all pairs, with Sen's distribution-free interval (Sen 1968). Breaks down
/// only when 29 % of the points are wild. Nothing with fewer than two different x. O(n^2): meant for some hundred
/// points.
std::optional<Line> fit_line(std::span<const double> x, std::span<const double> y);

/// One flat stretch of a rising curve, e.g. one cache level in a latency curve over the footprint.
struct Plateau {
    Estimate value;      ///< median of its points, unit of y
    double first_x = 0;  ///< first point on it
    Estimate capacity;   ///< last x with y <= tolerance * value; high is the next x sampled
    bool open = false;   ///< reaches the end of the curve: its capacity is a lower bound
    std::size_t points = 0;
};
struct Plateaus {
    std::vector<Plateau> levels;  ///< ascending
    double residual = 0;          ///< median |y / level - 1| of the points on plateaus
};
/// Plateaus of a curve that rises with x (both positive). Noise and upward spikes are taken out by isotonic regression
/// with medians; a stretch that climbs evenly through the whole tolerance is a slope, and one whose points scatter by
/// more than the tolerance (median deviation) is noise: neither is a plateau.
Plateaus find_plateaus(std::span<const double> x, std::span<const double> y, double tolerance = 1.05);

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
    Estimate period;      ///< compute units: whole; the interval is by likelihood ratio (95 %)
    double residual = 0;  ///< mean |t / model - 1|
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

struct Interleave {
    std::uint64_t bytes = 0;  ///< largest power-of-two spacing that still reaches every channel
    double ratio = 1;         ///< bandwidth at the best over that at the worst power-of-two spacing
};

/// `spacing` ascending in bytes, `bandwidth` in any unit; spacings that are no power of two are passed over. Nothing
/// when no power of two costs a quarter of the bandwidth of the smaller ones, or a larger one is quicker again: hashed
/// addresses. A spacing that misses channels misses at least as many when it is doubled.
std::optional<Interleave> find_interleave(std::span<const double> spacing, std::span<const double> bandwidth);

/// Data beyond `bytes` from an aligned start costs `after` seconds, data within `before`.
struct Granule {
    std::uint64_t bytes = 0;
    double before = 0, after = 0;
};

/// `distance` ascending, bytes from an aligned start; `second` seconds of the second visit; `noise` what
/// two of them may differ by chance. A jump counts when it is 30 % and above the noise. The granule is the largest
/// power of two not above the first distance past the jump, because an aligned block of any smaller size would have
/// ended before.
std::vector<Granule> granules(std::span<const double> distance, std::span<const double> second, double noise);

// --- Shared by the fitters only.

namespace fit {

/// An effect below 1 % is not told from nothing, however small the residual happens to be.
inline constexpr double least_effect = 0.01;
/// Residuals below 0.1 % come from the timer, not from the model, so they cannot distinguish two models.
inline constexpr double residual_floor = 0.001;

/// The finite pairs (also positive, if asked), sorted by x.
std::pair<std::vector<double>, std::vector<double>> clean(std::span<const double> x, std::span<const double> y,
                                                          bool positive);

/// y = base + slope * k with base >= 0 and slope >= 0.
struct Affine {
    double base = 0, slope = 0;
    double residual = 0;  ///< mean |1 - model / y|
};
/// Least absolute relative error, by iteratively re-weighted least squares (weights 1 / |error|). y positive, not
/// empty.
Affine fit_affine(std::span<const double> k, std::span<const double> y);

/// True when a model of this residual is as likely as the best: Laplace noise of unknown width gives
/// log L = -n * log(residual), which may fall by `margin`. The default is half of chi-squared's 3.84, a 95 % interval
/// of one parameter.
bool as_likely(double residual, double best, std::size_t points, double margin = 1.92);

}  // namespace fit

}  // namespace cllab::model

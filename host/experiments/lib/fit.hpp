// Fitters of the probes: from a noisy curve to the number behind it, with an interval and a residual.
//
// Least squares and thresholds chosen by eye on one card both fail on these curves. One preempted sample moves a mean,
// and a threshold applies one card's latencies to the next card. So every fit here minimizes absolute relative errors,
// the maximum-likelihood fit under Laplace noise, which a few outliers do not move. Integer parameters (compute units,
// banks, wave width) are tried one by one. A fit that does not explain its curve is not returned. Points that are not
// finite are ignored, and where a logarithm is taken also points that are not positive. The order of points does not
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
    double value = 0, low = 0, high = 0;  ///< low..high: 95 % interval, or range that the points cannot resolve
};

/// y = intercept + slope * x.
struct Line {
    Estimate slope, intercept;
};

/// Theil-Sen line: the median slope of all pairs, with Sen's distribution-free interval (Sen 1968). It tolerates up to
/// 29 % outliers. nullopt with fewer than two different x. O(n^2): intended for some hundred points.
std::optional<Line> fit_line(std::span<const double> x, std::span<const double> y);

/// One flat stretch of a rising curve, e.g. one cache level in a latency curve over the footprint.
struct Plateau {
    Estimate value;      ///< median of its points, unit of y
    double first_x = 0;  ///< first point on it
    Estimate capacity;   ///< last x with y <= tolerance * value; high: the next x sampled
    bool open = false;   ///< reaches the end of the curve: its capacity is a lower bound
    std::size_t points = 0;
};
struct Plateaus {
    std::vector<Plateau> levels;  ///< ascending
    double residual = 0;          ///< median |y / level - 1| of the points on plateaus
};
/// Plateaus of a curve that rises with x (both positive). Isotonic regression with medians removes noise and upward
/// spikes. A stretch that climbs evenly through the whole tolerance is a slope, not a plateau. A stretch whose points
/// scatter by more than the tolerance (median deviation) is noise.
Plateaus find_plateaus(std::span<const double> x, std::span<const double> y, double tolerance = 1.05);

/// y = before up to the position, after beyond it. For the width probe of divergence, and the knee of the register
/// sweep.
struct StepFit {
    double before = 0, after = 0;
    Estimate position;    ///< last x of the first part; high: the next x sampled
    double residual = 0;  ///< mean |y / model - 1|
};
/// nullopt if the two parts differ by less than four residuals or 1 %, or with fewer than two points. y positive.
std::optional<StepFit> fit_step(std::span<const double> x, std::span<const double> y);

/// t(G) = overhead + step * ceil(G / period): time over the number of saturating work-groups.
struct Staircase {
    Estimate period;      ///< compute units, an integer; the interval is by likelihood ratio (95 %)
    double residual = 0;  ///< mean |t / model - 1|
};
/// The smallest period of greatest likelihood, with an overhead of at most half a step. nullopt if there are no steps:
/// a flat curve, a line that does not start near the origin, or steps smaller than four residuals.
std::optional<Staircase> fit_staircase(std::span<const double> groups, std::span<const double> seconds);

/// rate(B) = min(group_rate * B, wave_rate * B / ceil(B / width)) work-items per unit of time, B work-items per group.
struct Dispatch {
    Estimate group_rate;                ///< groups per unit of time
    std::optional<Estimate> wave_rate;  ///< waves per unit of time; nullopt if waves limit no B
    unsigned width = 0;                 ///< work-items in a wave: 8, 16, 32, 64 or 128; 0 if waves never limit
    std::vector<unsigned> widths;       ///< all widths that fit as well: several if every B is a power of two
    double residual = 0;                ///< mean |rate / model - 1|
};
/// The two-parameter model that reproduces the published rows of Vega10 (0.25, 1.0, 64) and RX 6600 (0.996, 1.32, 32).
/// nullopt with fewer than three points.
std::optional<Dispatch> fit_dispatch(std::span<const double> group_sizes, std::span<const double> rates);

/// One access pattern of the local-memory probe: the address of each lane of a wave, and the measured time.
struct BankCase {
    std::vector<std::uint32_t> byte_addresses;  ///< one per lane
    double time = 0;
};
/// Turns that one access takes. Lanes are served `lanes_per_pass` at a time. Each pass takes as many turns as the
/// largest number of distinct words in one bank. Equal words are broadcast.
unsigned bank_slots(std::span<const std::uint32_t> byte_addresses, unsigned banks, unsigned bank_bytes,
                    unsigned lanes_per_pass = 32);

/// time = base + per_slot * (slots - slots without conflict).
struct Banks {
    unsigned banks = 0, bank_bytes = 0;
    double base = 0, per_slot = 0;                            ///< unit of the times
    double residual = 0;                                      ///< mean |time / model - 1|
    std::vector<std::pair<unsigned, unsigned>> alternatives;  ///< other (banks, bytes) that fit as well
};
/// Tries {16, 32, 64} banks of {4, 8} bytes. nullopt if conflicts cost nothing (a CPU), or with fewer than three cases.
/// Power-of-two strides of 4-byte words cannot distinguish 32 banks of 4 bytes from 16 of 8: include odd strides.
std::optional<Banks> fit_banks(std::span<const BankCase> cases, unsigned lanes_per_pass = 32);

struct Interleave {
    std::uint64_t bytes = 0;  ///< largest power-of-two spacing that reaches every channel
    double ratio = 1;         ///< bandwidth at the best over bandwidth at the worst power-of-two spacing
};

/// `spacing` ascending in bytes, `bandwidth` in any unit. Ignores spacings that are not powers of two. nullopt if no
/// power of two costs a quarter of the bandwidth of the smaller ones. nullopt also if a larger one is faster again,
/// which means hashed addresses: doubling a spacing that misses channels misses at least as many.
std::optional<Interleave> find_interleave(std::span<const double> spacing, std::span<const double> bandwidth);

/// Data beyond `bytes` from an aligned start costs `after` seconds; data within costs `before` seconds.
struct Granule {
    std::uint64_t bytes = 0;
    double before = 0, after = 0;
};

/// `distance` ascending, bytes from an aligned start; `second`: seconds of the second visit; `noise`: chance difference
/// of two such times. A jump must be above 30 % and above the noise. The granule is the largest power of two up to the
/// first distance past the jump, because a smaller aligned block would have ended before.
std::vector<Granule> granules(std::span<const double> distance, std::span<const double> second, double noise);

// --- Only for the fitters.

namespace fit {

/// An effect below 1 % is indistinguishable from none, however small the residual happens to be.
inline constexpr double least_effect = 0.01;
/// Residuals below 0.1 % come from the timer, not from the model, so they cannot distinguish two models.
inline constexpr double residual_floor = 0.001;

/// The finite pairs sorted by x. `positive`: only pairs of positive numbers.
std::pair<std::vector<double>, std::vector<double>> clean(std::span<const double> x, std::span<const double> y,
                                                          bool positive);

/// y = base + slope * k with base >= 0 and slope >= 0.
struct Affine {
    double base = 0, slope = 0;
    double residual = 0;  ///< mean |1 - model / y|
};
/// Minimizes the absolute relative error by iteratively re-weighted least squares (weights 1 / |error|). y positive,
/// not empty.
Affine fit_affine(std::span<const double> k, std::span<const double> y);

/// True if a model with this residual is as likely as the best. Laplace noise of unknown width gives log L = -n *
/// log(residual), which may be lower by `margin`. The default is half of chi-squared's 3.84, a 95 % interval for one
/// parameter.
bool as_likely(double residual, double best, std::size_t points, double margin = 1.92);

}  // namespace fit

}  // namespace cllab::model

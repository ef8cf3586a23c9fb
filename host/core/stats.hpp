// Order statistics of small samples. There is no mean, because one preempted sample must not change the result.
#pragma once

#include <span>
#include <vector>

namespace cllab {

/// The smallest number of samples whose range contains the median with 95 % probability. For six it is 1 - 2 * 0.5^6 =
/// 96.9 %, for five 93.8 %. With fewer samples there is no interval, and nothing is ranked.
inline constexpr unsigned least_for_interval = 6;

/// Quantile by linear interpolation of the sorted sample (Hyndman and Fan, type 7). `sorted` ascending, not empty.
double quantile(std::span<const double> sorted, double q);
double median_of(std::vector<double> values);

struct Summary {
    double median = 0, low = 0, high = 0;  ///< low..high: 95 % order-statistic (binomial) interval of the median
    double min = 0, max = 0, q1 = 0, q3 = 0, mad = 0;
    unsigned n = 0;
};

/// Summary of a sample in any order and unit, n >= 1. Below least_for_interval samples, low and high are the range
/// instead of an interval.
Summary summarise(std::span<const double> sample);

/// Half the width of the interval relative to the median.
double relative_half_width(const Summary& s);

struct Mode {
    double value = 0;
    double share = 0;  ///< share of the samples within 3 % of it
};

/// Half-sample mode: repeatedly takes the narrowest half of the sorted samples (Bickel and Fruehwirth 2006). The median
/// is the device's time only if more than half of the samples are undisturbed. The mode only requires that undisturbed
/// samples agree. Zeros without samples.
Mode half_sample_mode(std::span<const double> samples);

}  // namespace cllab

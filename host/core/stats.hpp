// Order statistics of small samples. No means: one preempted sample must not move the answer.
#pragma once

#include <span>
#include <vector>

namespace cllab {

/// The least number of samples whose range holds the median with a probability of 95 %: 1 - 2 * 0.5^6 is 96.9 %, of
/// five 93.8 %. Below it there is no interval, and nothing is ranked.
inline constexpr unsigned least_for_interval = 6;

/// Quantile by linear interpolation of the sorted sample (Hyndman and Fan, type 7). `sorted` ascending, not empty.
double quantile(std::span<const double> sorted, double q);
double median_of(std::vector<double> values);

struct Summary {
    double median = 0, low = 0, high = 0;  ///< low..high: 95 % order-statistic (binomial) interval of the median
    double min = 0, max = 0, q1 = 0, q3 = 0, mad = 0;
    unsigned n = 0;
};

/// Summary of a sample in any order and unit. n >= 1; below least_for_interval low and high are the range, which is no
/// interval.
Summary summarise(std::span<const double> sample);

/// Half the width of the interval relative to the median.
double relative_half_width(const Summary& s);

struct Mode {
    double value = 0;
    double share = 0;  ///< of the samples, those within 3 % of it
};

/// Half-sample mode: of ever smaller halves of the sorted samples the narrowest (Bickel and Fruehwirth 2006). A median
/// is the device's time only where more than half of the samples were undisturbed; this is where they merely agree.
/// Zeros without samples.
Mode half_sample_mode(std::span<const double> samples);

}  // namespace cllab

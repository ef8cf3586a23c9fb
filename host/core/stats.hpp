// Order statistics of small samples. No means: one preempted sample must not move the answer.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace cllab {

/// Quantile by linear interpolation of the sorted sample (Hyndman and Fan, type 7). `sorted` ascending, not empty.
double quantile(std::span<const double> sorted, double q);

struct Summary {
    double median = 0, low = 0, high = 0;  ///< low..high: 95 % order-statistic (binomial) interval of the median
    double min = 0, max = 0, q1 = 0, q3 = 0, mad = 0;
    unsigned n = 0;
};

/// Summary of a sample in any order and unit. n >= 1; below 6 samples the interval is min..max.
Summary summarise(std::span<const double> sample);

/// Half the width of the interval relative to the median.
double relative_half_width(const Summary& s);

}  // namespace cllab

// Records in the formats of other programs: each a function, an entry here, and an option of `cllab report`.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "model/result.hpp"

namespace cllab::report {

/// Takes the next lines of the file, without the last newline.
using Lines = std::function<void(const std::string&)>;

struct Export {
    const char *option, *about;
    void (*write)(const std::vector<model::Record>&, const Lines&);
};

/// CSV with a row for each sample and a column for each axis, point_<axis>. Cells without samples have no row.
void export_long(const std::vector<model::Record>& records, const Lines& out);
/// The T4 auto-tuning results format, version 1.0.0, with the keys and the unit (ms) of Kernel Tuner, which reads and
/// writes it.
void export_t4(const std::vector<model::Record>& records, const Lines& out);
/// The JSON of google/benchmark: each sample a repetition, then mean, median, stddev and cv of them.
void export_google_benchmark(const std::vector<model::Record>& records, const Lines& out);
/// A list as github-action-benchmark's `customSmallerIsBetter` reads it: medians in ns, with the wider side of their
/// intervals as the range.
void export_github_action_benchmark(const std::vector<model::Record>& records, const Lines& out);
/// The Bencher Metric Format: `latency` in ns, the median with its interval.
void export_bencher(const std::vector<model::Record>& records, const Lines& out);

inline constexpr std::array exports{
    Export{"long", "Also writes CSV to OUT with one row per sample, for pandas, polars, DuckDB or R.", export_long},
    Export{"t4", "Also writes OUT in the T4 format of auto-tuning results, like Kernel Tuner.", export_t4},
    Export{"google-benchmark", "Also writes OUT in google/benchmark's JSON format, one repetition per sample.",
           export_google_benchmark},
    Export{"github-action-benchmark",
           "Also writes the medians to OUT for github-action-benchmark, as customSmallerIsBetter.",
           export_github_action_benchmark},
    Export{"bencher", "Also writes the medians to OUT for bencher.dev, in the Bencher Metric Format.", export_bencher}};

}  // namespace cllab::report

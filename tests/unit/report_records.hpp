// Records for the tests of report/: plain data, no device.
#pragma once

#include <string>

#include "model/result.hpp"

namespace cllab::test {

inline model::DeviceInfo h200() {
    return {.platform = "NVIDIA CUDA",
            .name = "NVIDIA H200",
            .vendor = "NVIDIA Corporation",
            .driver = "570.86.15",
            .type = "gpu",
            .selector = "0:0",
            .identity = "GPU-1"};
}

inline model::DeviceInfo pocl() {
    return {.platform = "Portable Computing Language",
            .name = "cpu-EPYC",
            .vendor = "AuthenticAMD",
            .driver = "3.1",
            .type = "cpu",
            .selector = "1:0",
            .identity = ""};
}

/// An ok cell whose interval is +-0.5 % of the median.
inline model::Record cell(const std::string& family, const std::string& variant, double seconds,
                          model::DeviceInfo device = h200()) {
    model::Record r;
    r.family = family;
    r.variant = variant;
    r.id = family + "_" + variant;
    r.device = std::move(device);
    r.time = model::Timing{.median = seconds,
                           .low = seconds * 0.995,
                           .high = seconds * 1.005,
                           .min = seconds * 0.99,
                           .q1 = seconds * 0.997,
                           .q3 = seconds * 1.003,
                           .mad = seconds * 0.002,
                           .n = 20,
                           .per_sample = 4,
                           .stop_reason = "precise",
                           .clock = "event",
                           .cache = "hot",
                           .settled = true};
    r.samples.assign(r.time->n, seconds);
    r.run.seed = 1;
    return r;
}

/// The same with the metrics that follow from `bytes` moved, on a device that copies at `copy` bytes per second.
inline model::Record moving(model::Record r, double bytes, double copy) {
    const double rate = bytes / r.time->median;
    r.metrics.push_back({"bandwidth", {rate, "B/s", model::Better::higher}});
    r.metrics.push_back({"of_copy", {100 * rate / copy, "%", model::Better::higher}});
    return r;
}

inline model::Record failed(model::Record r, model::Status status, const std::string& reason) {
    r.status = status;
    r.reason = reason;
    r.time.reset();
    r.metrics.clear();
    r.samples.clear();
    return r;
}

}  // namespace cllab::test

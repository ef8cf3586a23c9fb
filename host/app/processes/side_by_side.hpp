// Several devices of one run at once, each in processes of its own, where neither slows the other.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/processes/pool.hpp"

namespace cllab::app {

/// Those that may work at once, by --parallel: gpus, those with memory of their own; all; never. Empty unless there are
/// two, and enough comparisons for it to pay.
std::vector<model::Device> may_work_at_once(const std::vector<model::Device>& devices, const run::RunRequest& request,
                                            const std::string& parallel);

/// A cell that took longer beside others by more than this share and these seconds together, beyond both intervals, was
/// slowed by them. The seconds: what launches of one kernel differ by from process to process (saxpy of 16 KiB on an
/// H200: 6.1 to 6.8 us).
constexpr double slowed_by = 0.02, slowed_by_seconds = 1e-6;

/// Why the cells beside others do not stand for those alone; nothing where they do. `ratios` gets the least and the
/// most that a median changed by.
std::optional<std::string> slowed(const std::vector<model::Record>& alone, const std::vector<model::Record>& beside,
                                  std::pair<double, double>& ratios);

/// When each device may measure: one after the other the witness alone, in the order of their numbers, then all of them
/// at the same time.
class Turns : public Coordinator {
public:
    static constexpr std::size_t alone = 0, beside = 1;  ///< the numbers of these comparisons

    explicit Turns(std::size_t devices) : done_alone_(devices, false) {}
    /// Whether the device may measure this comparison now.
    bool may_measure(std::size_t device, std::size_t comparison);
    /// The device measures alone no more: it has done so, or it is lost.
    void leave(std::size_t device) { done_alone_.at(device) = true; }

    std::optional<Message> answer(std::size_t device, const Message& question) override;

private:
    std::vector<bool> done_alone_;
};

/// Two cells, the first of the first comparison and of the last, are measured on each device alone and then on all of
/// them at the same time; the request comes behind that in the same processes. `events` hears nothing until it is known
/// that the two take as long as alone on each of the devices, and then of every cell, with the warning "side-by-side"
/// in its record, and `lose` of devices whose driver failed. Where one is slowed they hear nothing, and what is
/// returned says why the devices have to work one after the other. Throws run::Interrupted when what was done is told.
std::optional<std::string> run_side_by_side(
    const run::RunRequest& request, const std::vector<model::Device>& devices, double timeout_seconds,
    const Events& events, const std::function<void(const model::Device&, const std::string& why)>& lose);

}  // namespace cllab::app

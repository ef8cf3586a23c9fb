// Programs built on a device: one build for one text and options, however many cells have them.
#pragma once

#include <deque>
#include <future>
#include <mutex>
#include <string>
#include <utility>

#include "device/program.hpp"

namespace cllab::run {

class Programs {
public:
    /// `ahead`: texts may be built in a thread of their own where the device lets the host work beside it; one after
    /// the other, since what a driver's compiler does with several at once is its own affair. Else each is built by the
    /// first get().
    Programs(device::Session& session, bool ahead) : session_(session), ahead_(ahead) {}
    std::shared_future<device::Built> build(const std::string& source, const std::string& options);
    bool builds_ahead() const { return ahead_; }
    unsigned shared() const { return shared_; }  ///< calls that found what an earlier one had begun

private:
    device::Session& session_;
    bool ahead_;
    std::mutex one_at_a_time_;
    std::deque<std::pair<std::string, std::shared_future<device::Built>>> recent_;
    unsigned shared_ = 0;
};

}  // namespace cllab::run

// Programs built on a device: one build for one text and options, however many cells have them.
#pragma once

#include <deque>
#include <future>
#include <string>
#include <utility>

#include "device/program.hpp"

namespace cllab::run {

class Programs {
public:
    explicit Programs(device::Session& session) : session_(session) {}
    /// Built, or being built in a thread of its own where the device lets the host work beside it; else built by the first get().
    std::shared_future<device::Built> build(const std::string& source, const std::string& options);
    unsigned shared() const { return shared_; }  ///< calls that found what an earlier one had begun

private:
    device::Session& session_;
    std::deque<std::pair<std::string, std::shared_future<device::Built>>> recent_;
    unsigned shared_ = 0;
};

}  // namespace cllab::run

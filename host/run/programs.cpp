#include "run/programs.hpp"

#include <algorithm>

namespace cllab::run {
namespace {

constexpr std::size_t most_programs = 128;

}  // namespace

std::shared_future<device::Built> Programs::build(const std::string& source, const std::string& options) {
    auto key = options + std::string(1, '\0') + source;
    const auto found = std::ranges::find_if(recent_, [&](const auto& entry) { return entry.first == key; });
    if (found != recent_.end()) {
        ++shared_;
        return found->second;
    }
    if (recent_.size() == most_programs) recent_.pop_front();
    const auto when = ahead_ && session_.works_beside_host() ? std::launch::async : std::launch::deferred;
    recent_.emplace_back(std::move(key), std::async(when, [this, source, options] {
                                             const std::lock_guard alone(one_at_a_time_);
                                             return device::build(session_, source, options);
                                         }).share());
    return recent_.back().second;
}

}  // namespace cllab::run

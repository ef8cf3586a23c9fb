#include "app/processes/arrangement_pool.hpp"

#include <algorithm>

#include "core/random.hpp"

namespace cllab::app {

bool ArrangementPool::pays(const model::Device& device, unsigned cores) {
    return device.is_gpu() && !device.unified_memory && cores > processes;
}

ArrangementPool::ArrangementPool(run::RunRequest like, const std::string& selector, const device::DeviceState& known)
    : like_(std::move(like)), selector_(selector), known_(known) {
    refill();
}

void ArrangementPool::refill() {
    while (works_ && waiting_.size() < processes) {
        const Rebuild rebuild = [this](const Message& recipe, const model::Device&) {
            auto out = like_;
            out.settings.seed = recipe.at("seed").get<std::uint64_t>();
            out.settings.sampling_seconds = recipe.at("sampling_seconds").get<double>();
            return out;
        };
        auto builds = like_;
        Random random(mix64(like_.settings.seed + ++begun_));
        for (auto& group : builds.comparisons) std::ranges::shuffle(group, random);
        waiting_.push_back(std::make_unique<WarmWorker>(selector_, rebuild, known_, builds));
    }
}

std::unique_ptr<Worker> ArrangementPool::take(const run::RunRequest& request, Clock::time_point last_use) {
    std::unique_ptr<Worker> out;
    while (!out && !waiting_.empty()) {
        const auto next = std::move(waiting_.front());
        waiting_.pop_front();
        if (next->wait_until_idle(patience))
            out = next->run(
                Message{{"seed", request.settings.seed}, {"sampling_seconds", request.settings.sampling_seconds}},
                nullptr, last_use);
    }
    works_ = works_ && out;
    refill();
    return out;
}

}  // namespace cllab::app

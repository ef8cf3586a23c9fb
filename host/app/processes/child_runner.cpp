#include "app/processes/child_runner.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "core/random.hpp"

namespace cllab::model {
// Facts cross from the child that asked the drivers to the parent that must not.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Device, selector, platform, platform_version, name, vendor, driver, device_version,
                                   c_version, type, implementation, compute_units, clock_mhz, global_bytes,
                                   max_alloc_bytes, local_bytes, constant_bytes, reported_cache_bytes, host_cache_bytes,
                                   host_cache_levels, last_level_bytes, cacheline_bytes, max_group, max_group_promised,
                                   max_items, preferred_multiple, base_align_bytes, images, fp64, fp16,
                                   local_is_dedicated, little_endian, unified_memory, image2d_max_width,
                                   image2d_max_height, extensions, compute_capability, identity)
}  // namespace cllab::model

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

std::vector<model::Device> hand_over_devices(const std::vector<std::string>& selectors, const HandOver& hand_over) {
    std::vector<std::string> troubles;
    auto devices = LocalDevices().devices(selectors, &troubles);
    hand_over(nlohmann::json(devices).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    for (const auto& trouble : troubles) hand_over(trouble);
    return devices;
}

namespace {

std::optional<std::pair<std::vector<std::string>, std::vector<std::string>>> handed_over;  ///< selectors, lines

}  // namespace

void keep_devices(const std::vector<std::string>& selectors, std::vector<std::string> lines) {
    handed_over.emplace(selectors, std::move(lines));
}

std::vector<model::Device> ChildRunner::devices(const std::vector<std::string>& selectors,
                                                std::vector<std::string>* troubles) {
    const auto known = std::exchange(handed_over, std::nullopt);
    const auto lines = known && known->first == selectors
                           ? known->second
                           : in_child([&](const HandOver& hand_over) { hand_over_devices(selectors, hand_over); },
                                      "while the devices were listed (`cllab devices` names the driver)",
                                      timeout_seconds_, timeout_seconds_);
    if (troubles) troubles->assign(lines.begin() + 1, lines.end());
    return devices_ = nlohmann::json::parse(lines.at(0)).get<std::vector<model::Device>>();
}

void ChildRunner::expect(const run::RunRequest& like, const std::string& selector, bool more) {
    const auto known = device_states_.find(selector);
    const auto device = std::ranges::find_if(devices_, [&](const auto& d) { return d.selector == selector; });
    const auto pays = [&] { return ArrangementPool::pays(*device, std::thread::hardware_concurrency()); };
    if (!more || known == device_states_.end() || device == devices_.end() || !pays()) return arrangements_.reset();
    if (!arrangements_) arrangements_.emplace(like, selector, known->second);
}

void ChildRunner::run(const run::RunRequest& request, const std::string& selector, const Events& events,
                      const std::set<run::CellNumber>& already) {
    const bool waits = arrangements_ && already.empty() && request.settings.arrangement;
    auto first = waits ? arrangements_->take(request, device_states_.at(selector).last_use) : nullptr;
    if (!run(request, selector, events, already, std::move(first))) arrangements_.reset();
}

bool ChildRunner::run(const run::RunRequest& request, const std::string& selector, const Events& events,
                      const std::set<run::CellNumber>& already, std::unique_ptr<Worker> first) {
    const auto begin = [&](const run::RunRequest& rest, const std::set<run::CellNumber>& finished) {
        const auto known = device_states_.find(selector);
        return begin_worker(rest, selector, finished, known == device_states_.end() ? nullptr : &known->second);
    };
    Pool pool(timeout_seconds_, events);
    const auto& lane = pool.add(selector, request, already, begin, std::move(first));
    while (pool.turn()) {
    }
    if (lane.interrupted()) throw run::Interrupted{};
    if (!lane.trouble().empty()) throw DeviceLost(lane.trouble());
    if (const auto& now = lane.device_state()) {
        auto& known = device_states_[selector];
        auto programs = std::move(known.programs);  // what was built from them is not told again
        known = *now;
        known.programs.merge(programs);
    }
    return !lane.first_failed();
}

std::unique_ptr<Runner> in_child_processes(double timeout_seconds) {
    return std::make_unique<ChildRunner>(timeout_seconds);
}

}  // namespace cllab::app

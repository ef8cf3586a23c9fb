#include "app/processes/child_runner.hpp"

#include <algorithm>
#include <ranges>
#include <thread>
#include <utility>

#include "core/random.hpp"
#include "device/driver_settings.hpp"
#include "json/read.hpp"

namespace cllab::model {
// The child process queries the drivers. It sends the devices' facts as JSON to the parent, which must not call OpenCL.
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

/// Opens the device, builds, and waits for its arrangement.
void ArrangementPool::work(const run::RunRequest& builds, Link& parent, Position& position) {
    device::use_shared_cache();
    LocalDevices devices;
    devices.inherit(selector_, known_);
    devices.keep_programs();
    auto& session = devices.open(selector_);
    for (const auto& cell : builds.comparisons | std::views::join) devices.build(selector_, builds.settings, cell);
    parent.send({{"ready", true}});
    const auto job = parent.receive();
    session.note_use(Clock::time_point(Clock::duration(job.at("last_use").get<Clock::rep>())));
    take_fields(like_.settings, job.at("settings"));
    carry_out(devices, like_, selector_, {}, parent, position);
}

void ArrangementPool::refill() {
    while (works_ && waiting_.size() < processes) {
        auto builds = like_;
        Random random(mix64(like_.settings.seed + ++begun_));
        for (auto& group : builds.comparisons) std::ranges::shuffle(group, random);
        waiting_.push_back(
            std::make_unique<Worker>([&](Link& parent, Position& position) { work(builds, parent, position); }));
    }
}

std::unique_ptr<Worker> ArrangementPool::take(const run::RunRequest& request, Clock::time_point last_use) {
    const Message job{{"last_use", last_use.time_since_epoch().count()}, {"settings", sent_fields(request.settings)}};
    std::unique_ptr<Worker> out;
    while (!out && !waiting_.empty()) {
        auto next = std::move(waiting_.front());
        waiting_.pop_front();
        std::string line;
        const bool is_ready =
            next->next(line, patience) == Worker::Event::line && parse_json<Message>(line).contains("ready");
        if (is_ready && next->tell(job)) out = std::move(next);
    }
    works_ = works_ && out;
    refill();
    return out;
}

namespace {

/// Body of a compiler process: compiles the cells in `part`, so that the measuring process finds them in the cache.
void compile(const run::RunRequest& part, const std::string& selector, bool by_launch, Position& position) {
    device::use_shared_cache();
    LocalDevices devices;
    const auto beat = [&](auto&&...) { ++position.beat; };
    if (by_launch) return devices.run(part, selector, {.begin = beat, .done = beat});
    for (const auto& cell : part.comparisons.front()) {
        try {
            devices.build(selector, part.settings, cell);
        } catch (const std::exception&) {  // the measuring process reports it
        }
    }
}

}  // namespace

Compilers::Compilers(const run::RunRequest& request, const std::string& selector, const model::Device& device,
                     unsigned cores) {
    if (!request.settings.screening) return;
    const bool before = device.is_cpu() && device::KnownPrograms::pay(device);
    beside_ = device.implementation == model::Implementation::nvidia && ArrangementPool::pays(device, cores);
    const auto& cells = request.comparisons.front();
    const auto wanted = std::min<std::size_t>({beside_ ? cores / 2 : cores, most, cells.size() / 2});
    if (!(before || beside_) || wanted < 2) return;
    auto part = request;
    part.settings.measure = false;
    for (std::size_t n = 0; n < wanted; ++n) {
        part.comparisons = {{}};
        // Compile the last cells first: meanwhile the measuring process compiles the first ones.
        for (std::size_t i = n; i < cells.size(); i += wanted)
            part.comparisons.front().push_back(cells[cells.size() - 1 - i]);
        processes_.push_back(
            std::make_unique<Worker>([&](Link&, Position& position) { compile(part, selector, !beside_, position); }));
    }
}

void Compilers::wait(double timeout_seconds) {
    if (beside_) return;
    for (const auto& process : processes_) {
        std::string line;
        while (process->next(line, timeout_seconds) == Worker::Event::line) {
        }
    }
    processes_.clear();
    if (interrupted()) throw run::Interrupted{};
}

std::vector<model::Device> hand_over_devices(const std::vector<std::string>& selectors, const HandOver& hand_over) {
    std::vector<std::string> troubles;
    auto devices = LocalDevices().devices(selectors, &troubles);
    hand_over(json_text(nlohmann::json(devices)));
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
    const auto device = std::ranges::find_if(devices_, [&](const auto& d) { return d.selector == selector; });
    std::optional<Compilers> compilers;
    if (device != devices_.end()) compilers.emplace(request, selector, *device, std::thread::hardware_concurrency());
    if (compilers) compilers->wait(timeout_seconds_);
    const bool waits = arrangements_ && already.empty() && request.settings.arrangement;
    const auto begin = [&](const run::RunRequest& rest, const std::set<run::CellNumber>& finished) {
        const auto known = device_states_.find(selector);
        return begin_worker(rest, selector, finished, known == device_states_.end() ? nullptr : &known->second);
    };
    Lane lane(selector, request, already, begin,
              waits ? arrangements_->take(request, device_states_.at(selector).last_use) : nullptr);
    lane.run(timeout_seconds_, events);
    if (const auto& now = lane.device_state()) {
        auto& known = device_states_[selector];
        auto programs = std::move(known.programs);  // a worker does not report programs built from known bytes
        known = *now;
        known.programs.merge(programs);
    }
    if (lane.first_failed()) arrangements_.reset();
}

std::unique_ptr<Runner> in_child_processes(double timeout_seconds) {
    return std::make_unique<ChildRunner>(timeout_seconds);
}

}  // namespace cllab::app

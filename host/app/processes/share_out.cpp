#include "app/processes/share_out.hpp"

#include <algorithm>
#include <list>

#include "app/processes/lane.hpp"
#include "app/processes/shared_work.hpp"
#include "run/cache_state.hpp"

namespace cllab::app {
namespace {

/// Cells that one process takes at a time: enough to share a point's data, few enough that no process has many when the
/// others are done: with 8 of himeno, the last of four processes worked 5 s of 20 alone (H200).
constexpr std::size_t cells_at_a_time = 4;

run::Room memory_for(const model::Device& device) {
    // Half of the host's: each process also keeps the data of its last points, and there are other programs.
    const auto host = static_cast<double>(run::host_memory_bytes()) / 2;
    return {run::memory_budget(device), host};
}

}  // namespace

std::size_t processes_for(const run::RunRequest& request, std::size_t asked, unsigned cores) {
    constexpr std::size_t most = 4, cores_of_one = 4, cells_of_one = 16;
    if (request.settings.measure) return 1;
    if (asked > 0) return asked;
    std::size_t cells = 0;
    for (const auto& group : request.comparisons) cells += group.size();
    return std::clamp<std::size_t>(std::min(cores / cores_of_one, cells / cells_of_one), 1, most);
}

InOrder::InOrder(const run::RunRequest& request, const Events& events) : events_(events) {
    for (std::size_t g = 0; g < request.comparisons.size(); ++g)
        for (std::size_t i = 0; i < request.comparisons[g].size(); ++i) left_.emplace_back(g, i);
}

void InOrder::done(run::CellNumber cell, const model::Record& record) {
    done_.insert(cell);
    waiting_.emplace(cell, record);
    while (!left_.empty() && waiting_.count(left_.front())) hand_on();
}

void InOrder::hand_on_all() {
    while (!left_.empty()) hand_on();
}

void InOrder::hand_on() {
    const auto cell = left_.front();
    left_.pop_front();
    if (const auto found = waiting_.extract(cell)) events_.done(cell.first, cell.second, found.mapped());
}

void share_out(const run::RunRequest& request, const model::Device& device, std::size_t processes,
               double timeout_seconds, const Events& events,
               const std::function<void(const std::set<run::CellNumber>& already)>& alone) {
    SharedWork work(run::parts_of(request, cells_at_a_time), memory_for(device));
    std::list<Lane> lanes;
    for (std::size_t lane = 0; lane < std::min(processes, SharedWork::most_lanes); ++lane)
        lanes.emplace_back(device.selector, [&, lane](const Events& to_parent) {
            in_child_processes(timeout_seconds, [&work, lane] {
                work.release(lane);
                return work.of_lane(lane);
            })->run(request, device.selector, to_parent);
        });
    InOrder in_order(request, events);
    const Events listener{events.begin, [&](std::size_t g, std::size_t i, const model::Record& record) {
                              in_order.done({g, i}, record);
                          }};
    while (std::any_of(lanes.begin(), lanes.end(), [](const auto& lane) { return !lane.over(); })) {
        receive_from(lanes, listener);
        std::size_t number = 0;
        for (const auto& lane : lanes) {
            if (lane.over()) work.release(number);
            ++number;
        }
    }
    const bool all_done = in_order.complete();
    in_order.hand_on_all();
    if (interrupted()) throw run::Interrupted{};
    if (!all_done) alone(in_order.cells());
}

}  // namespace cllab::app

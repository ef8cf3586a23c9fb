#include "app/processes/share_out.hpp"

#include <algorithm>
#include <utility>

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

std::vector<run::Part> parts_of(const run::RunRequest& request, std::size_t most_cells) {
    std::vector<run::Part> out;
    for (std::size_t g = 0; g < request.comparisons.size(); ++g) {
        const auto cells = request.comparisons[g].size();
        for (std::size_t first = 0; first < cells; first += most_cells)
            out.push_back({g, first, std::min(first + most_cells, cells)});
    }
    return out;
}

std::optional<run::Part> SharedWork::next(std::size_t lane) {
    auto& of = lanes_.at(lane);
    if (of.done_again < of.had.size()) return of.had[of.done_again++];
    if (given_ == parts_.size()) return std::nullopt;
    ++of.done_again;
    return of.had.emplace_back(parts_[given_++]);
}

bool SharedWork::take(std::size_t lane, const run::Room& room) {
    run::Room all;
    for (const auto& [reserved, had, done_again] : lanes_) {
        all.device += reserved.device;
        all.host += reserved.host;
    }
    const bool fits = all.device + room.device <= memory_.device && all.host + room.host <= memory_.host;
    if (!fits && (all.device > 0 || all.host > 0)) return false;
    give_back(lane, {-room.device, -room.host});
    return true;
}

void SharedWork::give_back(std::size_t lane, const run::Room& room) {
    auto& reserved = lanes_.at(lane).reserved;
    reserved.device -= room.device;
    reserved.host -= room.host;
}

std::optional<Message> SharedWork::answer(std::size_t lane, const Message& question) {
    if (question.contains("next")) {
        const auto part = next(lane);
        return part ? Message(nlohmann::json(*part)) : Message();
    }
    const bool gives = question.contains("give_back");
    const auto room = nlohmann::json(question.at(gives ? "give_back" : "take")).get<run::Room>();
    if (!gives) return Message(take(lane, room));
    give_back(lane, room);
    return Message(true);
}

void SharedWork::ended(std::size_t lane) {
    lanes_.at(lane).reserved = {};
    lanes_.at(lane).done_again = 0;
}

InOrder::InOrder(const run::RunRequest& request, const Events& events) : events_(events) {
    for (std::size_t g = 0; g < request.comparisons.size(); ++g)
        for (std::size_t i = 0; i < request.comparisons[g].size(); ++i) left_[{g, i}];
}

void InOrder::done(run::CellNumber cell, const model::Record& record) {
    done_.insert(cell);
    left_.at(cell) = record;
    for (auto first = left_.begin(); first != left_.end() && first->second; first = left_.erase(first))
        events_.done(first->first.first, first->first.second, *first->second);
}

void InOrder::hand_on_all() {
    for (const auto& [cell, record] : std::exchange(left_, {}))
        if (record) events_.done(cell.first, cell.second, *record);
}

void share_out(const run::RunRequest& request, const model::Device& device, std::size_t processes,
               double timeout_seconds, const Events& events,
               const std::function<void(const std::set<run::CellNumber>& already)>& alone) {
    SharedWork work(parts_of(request, cells_at_a_time), memory_for(device), processes);
    InOrder in_order(request, events);
    const Events listener{events.begin, [&](std::size_t g, std::size_t i, const model::Record& record) {
                              in_order.done({g, i}, record);
                          }};
    Pool pool(timeout_seconds, listener, &work);
    const auto begin = [&](const run::RunRequest& rest, const std::set<run::CellNumber>& finished) {
        return begin_worker(rest, device.selector, finished, nullptr, Asks::parts);
    };
    for (std::size_t lane = 0; lane < processes; ++lane) pool.add(device.selector, request, {}, begin);
    while (pool.turn()) {
    }
    const bool all_done = in_order.complete();
    in_order.hand_on_all();
    if (interrupted()) throw run::Interrupted{};
    if (!all_done) alone(in_order.cells());
}

}  // namespace cllab::app

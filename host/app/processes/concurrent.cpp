#include "app/processes/concurrent.hpp"

#include <algorithm>

#include "core/units.hpp"
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

using run::CellNumber;

constexpr std::size_t alone_comparison = Turns::alone, beside_comparison = Turns::beside, users_comparison = 2;

/// The smallest and the largest of a sweep, say: launches suffer from a busy host, long streams from power and from
/// shared memory.
std::vector<model::Cell> witness_of(const run::RunRequest& request) {
    return {request.comparisons.front().front(), request.comparisons.back().front()};
}

/// What the devices tell, held back until it is known that they do not slow each other.
class InterferenceCheck {
public:
    InterferenceCheck(std::size_t cells, const Events& events) : cells_(cells), events_(events) {}

    Events listener() {
        return {[this](std::size_t g, std::size_t i, const model::Record& record, const char* phase) {
                    if (g >= users_comparison) events_.begin(g - users_comparison, i, record, phase);
                },
                [this](std::size_t g, std::size_t i, const model::Record& record) {
                    if (g == alone_comparison) {
                        alone_.push_back(record);
                    } else if (g == beside_comparison) {
                        beside_.push_back(record);
                    } else {
                        kept_back_.emplace_back(CellNumber(g - users_comparison, i), record);
                        kept_back_.back().second.run.order.comparison = g - users_comparison;
                    }
                }};
    }

    /// Decides as soon as each of the `working` devices has told of the two cells, and from then on hands on what there
    /// is.
    void decide(std::size_t working) {
        if (!decided_) {
            if (beside_.size() < working * cells_) return;
            decided_ = true;
            std::pair<double, double> ratios{1, 1};
            trouble_ = slowed(alone_, beside_, ratios);
            if (!beside_.empty())
                note_ =
                    "side-by-side: other devices were measured at the same time; two cells, of the first and of the "
                    "last comparison, took " +
                    format_significant(ratios.first, 3) + " to " + format_significant(ratios.second, 3) +
                    " times as long so as alone";
        }
        if (!trouble_) hand_on();
    }
    const std::optional<std::string>& trouble() const { return trouble_; }

    void hand_on() {
        for (auto& [cell, record] : std::exchange(kept_back_, {})) {
            record.warnings.push_back(note_);
            write_timing(record);
            events_.done(cell.first, cell.second, record);
        }
    }

private:
    std::size_t cells_;
    const Events& events_;
    std::vector<model::Record> alone_, beside_;
    std::vector<std::pair<CellNumber, model::Record>> kept_back_;
    std::string note_ =
        "side-by-side: other devices were measured at the same time; the run ended before cllab knew whether that "
        "slows it";
    bool decided_ = false;
    std::optional<std::string> trouble_;
};

}  // namespace

std::size_t processes_for(const run::RunRequest& request, std::size_t asked, unsigned cores) {
    constexpr std::size_t most = 4, cores_of_one = 4, cells_of_one = 16;
    if (request.settings.measure) return 1;
    if (asked > 0) return asked;
    return std::clamp<std::size_t>(std::min(cores / cores_of_one, request.cells() / cells_of_one), 1, most);
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

bool Turns::may_measure(std::size_t device, std::size_t comparison) {
    const auto first = done_alone_.begin();
    const auto before = static_cast<std::ptrdiff_t>(comparison == alone ? device : done_alone_.size());
    if (comparison != alone) leave(device);
    return comparison > beside || std::all_of(first, first + before, [](bool done) { return done; });
}

std::optional<Message> Turns::answer(std::size_t device, const Message& question) {
    const bool may = may_measure(device, question.at("measure").get<std::size_t>());
    return may || interrupted() ? std::optional<Message>(true) : std::nullopt;
}

std::vector<model::Device> may_work_at_once(const std::vector<model::Device>& devices, const run::RunRequest& request,
                                            const std::string& parallel) {
    constexpr std::size_t least_comparisons = 4;
    std::vector<model::Device> out;
    if (parallel == "never" || !request.settings.measure || request.comparisons.size() < least_comparisons) return out;
    std::set<std::string> identities;
    for (const auto& device : devices) {
        const bool apart = device.is_gpu() && !device.unified_memory && !device.identity.empty() &&
                           identities.insert(device.identity).second;
        if (apart || parallel == "all") out.push_back(device);
    }
    if (out.size() < 2) out.clear();
    return out;
}

std::optional<std::string> slowed(const std::vector<model::Record>& alone, const std::vector<model::Record>& beside,
                                  std::pair<double, double>& ratios) {
    std::vector<double> changes;
    for (const auto& record : beside) {
        const auto same = std::ranges::find_if(alone, [&](const auto& a) {
            return a.device.selector == record.device.selector && a.id == record.id && a.point == record.point;
        });
        if (same == alone.end() || !same->time || !record.time) continue;
        const double before = same->time->median;
        changes.push_back(record.time->median / before);
        if (record.time->median > before * (1 + slowed_by) + slowed_by_seconds && record.time->low > same->time->high)
            return record.id + " took " + format_significant(changes.back(), 3) + " times as long on device " +
                   record.device.selector + " beside the others as alone";
    }
    if (changes.empty()) return "no measured time shows whether they slow each other";
    ratios = {*std::ranges::min_element(changes), *std::ranges::max_element(changes)};
    return std::nullopt;
}

std::optional<std::string> run_side_by_side(
    const run::RunRequest& request, const std::vector<model::Device>& devices, double timeout_seconds,
    const Events& events, const std::function<void(const model::Device&, const std::string& why)>& lose) {
    auto witness_first = request;
    const auto cells = witness_of(request);
    witness_first.comparisons.insert(witness_first.comparisons.begin(), 2, cells);
    InterferenceCheck check(cells.size(), events);
    const auto listener = check.listener();
    Turns turns(devices.size());
    Pool pool(timeout_seconds, listener, &turns);
    for (const auto& device : devices)
        pool.add(device.selector, witness_first, {},
                 [&](const run::RunRequest& rest, const std::set<CellNumber>& finished) {
                     return begin_worker(rest, device.selector, finished, nullptr, Asks::turns);
                 });
    while (!check.trouble() && pool.turn()) {
        std::size_t number = 0, alive = 0;
        for (const auto& lane : pool.lanes()) {
            if (lane.over()) turns.leave(number);
            alive += lane.trouble().empty();
            ++number;
        }
        check.decide(alive);
    }
    if (interrupted()) {
        if (!check.trouble()) check.hand_on();
        throw run::Interrupted{};
    }
    auto lane = pool.lanes().begin();
    for (const auto& device : devices) {
        const auto& why = lane++->trouble();
        if (!check.trouble() && !why.empty()) lose(device, why);
    }
    return check.trouble();
}

}  // namespace cllab::app

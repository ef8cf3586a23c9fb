#include "app/side_by_side.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <list>
#include <map>
#include <thread>

#include "app/child.hpp"
#include "app/lane.hpp"
#include "app/say.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

namespace cllab::app {
namespace {

using run::CellNumber;

/// Where the devices wait for each other before they measure, so that they begin with the same comparison at the same time.
struct Start {
    std::atomic<std::size_t> ready{0}, expected{0};

    void wait(double seconds) {
        constexpr std::chrono::milliseconds nap(1);
        const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
        ++ready;
        while (ready < expected && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(nap);
    }
};

/// What the devices tell of a request that begins with the witness, held back until it is known that they do not slow each other.
class Witness {
public:
    /// `alone`: has its cells on each device. `number`: of it in the request that `events` knows; there the others come before it.
    Witness(const std::vector<model::Record>& alone, std::size_t number, std::size_t cells, const Events& events)
        : alone_(alone), number_(number), cells_(cells), events_(events) {}

    Events listener() {
        return {
            [this](std::size_t g, std::size_t i, const model::Record& record, const char* phase) { events_.begin(g == 0 ? number_ : g - 1, i, record, phase); },
            [this](std::size_t g, std::size_t i, const model::Record& record) {
                if (g == 0) {
                    beside_.push_back(record);
                } else {
                    held_.emplace_back(CellNumber(g - 1, i), record);
                    held_.back().second.run.order.comparison = g - 1;
                }
            }};
    }

    /// Decides as soon as each of the `working` devices has told of the witness, and from then on hands on what there is.
    void look(std::size_t working) {
        if (!decided_) {
            if (beside_.size() < working * cells_) return;
            decided_ = true;
            std::pair<double, double> ratios{1, 1};
            trouble_ = slowed(alone_, beside_, ratios);
            if (!beside_.empty())
                note_ = "side-by-side: other devices were measured at the same time; of " + beside_.front().id + (cells_ > 1 ? " and its neighbors" : "") +
                        " the time was " + format_significant(ratios.first, 3) + " to " + format_significant(ratios.second, 3) + " times that alone";
        }
        if (!trouble_) hand_on();
    }
    const std::optional<std::string>& trouble() const { return trouble_; }

    void hand_on() {
        for (auto& [cell, record] : std::exchange(held_, {})) {
            record.warnings.push_back(note_);
            write_timing(record);
            events_.done(cell.first, cell.second, record);
        }
    }

private:
    const std::vector<model::Record>& alone_;
    std::size_t number_, cells_;
    const Events& events_;
    std::vector<model::Record> beside_;
    std::vector<std::pair<CellNumber, model::Record>> held_;
    std::string note_ = "side-by-side: other devices were measured at the same time; the run ended before it was known whether that slows it";
    bool decided_ = false;
    std::optional<std::string> trouble_;
};

struct Done {
    std::optional<std::string> trouble;       ///< why the devices have to work one after the other: nothing was told to the events
    std::map<std::string, std::string> lost;  ///< selector and sentence of devices whose driver failed
};

Done run_at_once(const run::RunRequest& request, const std::vector<model::Device>& devices, const std::vector<model::Record>& alone, double timeout_seconds,
                 const Events& events) {
    Done out;
    SharedPage<Start> start;
    start->expected = devices.size();
    std::list<Lane> lanes;
    auto witness_first = request;
    std::rotate(witness_first.comparisons.begin(), std::prev(witness_first.comparisons.end()), witness_first.comparisons.end());
    for (const auto& device : devices)
        lanes.emplace_back(device.selector, [&, selector = device.selector](Events to_parent) {
            to_parent.ready = [&] { start->wait(timeout_seconds / 2); };
            in_child_processes(timeout_seconds)->run(witness_first, selector, to_parent);
        });
    Witness witness(alone, request.comparisons.size() - 1, request.comparisons.back().size(), events);
    const auto listener = witness.listener();
    const auto working = [](const Lane& lane) { return !lane.over(); };
    while (std::any_of(lanes.begin(), lanes.end(), working) && !witness.trouble()) {
        receive_from(lanes, listener);
        start->expected = static_cast<std::size_t>(std::count_if(lanes.begin(), lanes.end(), [](const auto& lane) { return lane.trouble().empty(); }));
        witness.look(start->expected);
    }
    for (const auto& lane : lanes)
        if (!lane.trouble().empty()) out.lost[lane.selector()] = lane.trouble();
    out.trouble = witness.trouble();
    if (interrupted()) {
        if (!out.trouble) witness.hand_on();
        throw run::Interrupted{};
    }
    return out;
}

}  // namespace

std::vector<model::Device> may_work_at_once(const std::vector<model::Device>& devices, const run::RunRequest& request, const std::string& parallel) {
    constexpr std::size_t least_comparisons = 4;
    std::vector<model::Device> out;
    if (parallel == "never" || !request.settings.measure || request.comparisons.size() < least_comparisons) return out;
    std::set<std::string> identities;
    for (const auto& device : devices) {
        const bool apart = device.is_gpu() && !device.unified_memory && !device.identity.empty() && identities.insert(device.identity).second;
        if (apart || parallel == "all") out.push_back(device);
    }
    if (out.size() < 2) out.clear();
    return out;
}

std::optional<std::string> slowed(const std::vector<model::Record>& alone, const std::vector<model::Record>& beside, std::pair<double, double>& ratios) {
    std::vector<double> changes;
    for (const auto& record : beside) {
        const auto same = std::find_if(alone.begin(), alone.end(), [&](const auto& a) {
            return a.device.selector == record.device.selector && a.id == record.id && a.point == record.point;
        });
        if (same == alone.end() || !same->time || !record.time) continue;
        changes.push_back(record.time->median / same->time->median);
        if (changes.back() > 1 + slowed_by && record.time->low > same->time->high)
            return record.id + " took " + format_significant(changes.back(), 3) + " times as long on device " + record.device.selector +
                   " beside the others as alone";
    }
    if (changes.empty()) return "no time was found that shows whether they slow each other";
    ratios = {*std::min_element(changes.begin(), changes.end()), *std::max_element(changes.begin(), changes.end())};
    return std::nullopt;
}

void run_side_by_side(const run::RunRequest& request, std::vector<model::Device> devices, const std::vector<model::Record>& records,
                      double timeout_seconds, const Events& events, const Alone& alone) {
    const auto witness = request.comparisons.size() - 1;  // of a sweep the largest
    std::set<CellNumber> its_cells, others;
    for (std::size_t g = 0; g < request.comparisons.size(); ++g)
        for (std::size_t i = 0; i < request.comparisons[g].size(); ++i) (g == witness ? its_cells : others).insert({g, i});
    std::erase_if(devices, [&](const auto& device) { return !alone.run(device, others); });
    Done done;
    if (devices.size() < 2) done.trouble = "only one of them works";
    else done = run_at_once(request, devices, records, timeout_seconds, events);
    if (done.trouble) {
        say("the devices work one after the other: " + *done.trouble);
        for (const auto& device : devices) alone.run(device, its_cells);
        return;
    }
    for (const auto& device : devices)
        if (const auto why = done.lost.find(device.selector); why != done.lost.end()) alone.lose(device, why->second);
}

}  // namespace cllab::app

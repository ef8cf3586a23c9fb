#include "app/processes/side_by_side.hpp"

#include <algorithm>
#include <utility>

#include "app/screen/streams.hpp"
#include "core/units.hpp"

namespace cllab::app {
namespace {

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

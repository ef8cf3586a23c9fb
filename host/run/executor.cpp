#include "run/executor.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>

#include "core/random.hpp"
#include "core/text.hpp"
#include "inspect/dump_folder.hpp"
#include "run/cell_run.hpp"

namespace cllab::run {
namespace {

using Cells = std::vector<std::pair<std::size_t, std::unique_ptr<CellRun>>>;

class GroupRun {
public:
    GroupRun(device::Session& session, Instruments& instruments, const RunRequest& request, std::size_t number,
             const std::set<CellNumber>& finished, std::size_t& prepared, Observer& observer)
        : session_(session), instruments_(instruments), settings_(request.settings),
          // A simulator's bandwidth means nothing and takes minutes.
          yardstick_(request.yardstick && session.facts().implementation != model::Implementation::oclgrind ? &*request.yardstick : nullptr),
          number_(number), group_(request.comparisons[number]), finished_(finished), prepared_(prepared), observer_(observer) {}

    void run() {
        if (settings_.arrangement) return arrange();
        for (std::size_t i = 0; i < group_.size();) i = batch(i);
    }

private:
    std::unique_ptr<CellRun> make_cell(std::size_t i) {
        // The callback needs the record of the cell that is being made: it reaches it through `held`.
        auto held = std::make_shared<CellRun*>(nullptr);
        auto cell = std::make_unique<CellRun>(session_, instruments_, group_[i], model::Order{number_, i, prepared_++}, settings_,
                                              [this, i, held](const char* phase) { observer_.begin(number_, i, (*held)->record(), phase); });
        *held = cell.get();
        return cell;
    }

    /// One arrangement. A cell that fails ends it: those not prepared by then are not delivered, the others have no time.
    void arrange() {
        Random random(mix64(settings_.seed));
        session_.scatter(random());
        std::vector<std::size_t> turns(group_.size());
        std::iota(turns.begin(), turns.end(), std::size_t{0});
        std::shuffle(turns.begin(), turns.end(), random);
        Cells cells;
        bool fine = true;
        for (const auto i : turns) {
            cancel_point();
            auto cell = make_cell(i);
            if (!cells.empty()) cell->share_memory_with(*cells.front().second);
            fine = fine && cell->prepare() && cell->warm_up();
            cells.emplace_back(i, std::move(cell));
            if (!fine) break;
        }
        if (fine) take_rounds(cells, random);
        for (auto& [index, cell] : cells) observer_.done(number_, index, cell->finish_arrangement());
        cancel_point();
    }

    /// Rounds in pairs, the second in the reverse order of the first (ABBA), the first in a random one.
    void take_rounds(Cells& cells, Random& random) {
        using Clock = std::chrono::steady_clock;
        constexpr unsigned least = 6, few = 2;
        if (session_.facts().is_gpu()) {
            const auto end = Clock::now() + std::chrono::milliseconds(250);  // the clock rises over some 100 ms
            while (Clock::now() < end)
                for (auto& [index, cell] : cells)
                    if (!cell->idle_sample()) return;
        }
        std::vector<std::size_t> turns(cells.size());
        std::iota(turns.begin(), turns.end(), std::size_t{0});
        refer(cells);
        const auto start = Clock::now();
        for (unsigned round = 0;; ++round) {
            const double spent = std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(cells.size());
            if (observer_.cancelled()) break;
            if (round % 2 == 0) {
                if (round >= least && spent >= settings_.sampling_seconds) break;
                if (round >= few && spent >= 4 * settings_.sampling_seconds) break;
                std::shuffle(turns.begin(), turns.end(), random);
            } else {
                std::reverse(turns.begin(), turns.end());
            }
            for (const auto i : turns) {
                auto& [index, cell] = cells[i];
                observer_.begin(number_, index, cell->record(), "sample");
                if (!cell->round_sample()) return;
            }
            if (instruments_.reference().due()) refer(cells);
        }
        refer(cells);
    }

    /// Runs the cells from `first` that fit on the device together; returns the first that did not.
    std::size_t batch(std::size_t first) {
        Cells cells;
        double bytes = 0;
        bool skipped = false;
        std::size_t i = first;
        const double budget = memory_budget(session_.facts());
        for (; i < group_.size(); ++i) {
            if (finished_.count({number_, i})) {
                skipped = true;
                continue;
            }
            if (!cells.empty() && bytes + bytes / static_cast<double>(cells.size()) > budget) break;
            cancel_point();
            auto cell = make_cell(i);
            if (!cell->prepare()) {
                observer_.done(number_, i, cell->record());
                continue;
            }
            for (const auto& [name, path] : settings_.pictures) {
                if (!cell->setup().pictures.count(name))
                    throw Error(Blame::usage, "'" + group_[i].id + "' has no buffer '" + name + "' that can be written as a picture");
            }
            bytes += cell->device_bytes();
            cells.emplace_back(i, std::move(cell));
        }
        if (settings_.measure && !cells.empty()) {
            const auto number = static_cast<unsigned>(cells.front().first) + 1;
            const std::string apart = first > 0 || i < group_.size() ? "the device has no room for all of them at once"
                                      : skipped                      ? "the process of an earlier one ended"
                                                                     : "";
            for (auto& [index, cell] : cells) cell->set_batch(number, apart);
            measure(cells, budget - bytes);
        }
        for (auto& [index, cell] : cells) finish(index, *cell);
        cancel_point();
        return i;
    }

    /// `room`: bytes that the cells leave on the device.
    void measure(Cells& cells, double room) {
        auto& yardsticks = instruments_.yardsticks();
        for (auto& [index, cell] : cells) {
            const auto bytes = cell->yardstick_bytes();
            if (!yardstick_ || bytes == 0) continue;
            cancel_point();
            observer_.begin(number_, index, cell->record(), "yardstick");
            yardsticks.begin(session_, instruments_, *yardstick_, bytes, settings_.cache, room - yardsticks.bytes_on_device());
        }
        std::erase_if(cells, [&](auto& entry) {
            cancel_point();
            if (entry.second->warm_up()) return false;
            observer_.done(number_, entry.first, entry.second->record());
            return true;
        });
        // Round by round, so that drift hits every cell of the comparison alike.
        std::vector<std::size_t> active(cells.size());
        for (std::size_t i = 0; i < active.size(); ++i) active[i] = i;
        refer(cells);
        while (!active.empty() && !observer_.cancelled()) {
            std::erase_if(active, [&](std::size_t i) {
                auto& [index, cell] = cells[i];
                observer_.begin(number_, index, cell->record(), "sample");
                return !cell->sample();
            });
            // ABBA: who goes first, and after whom, evens out.
            std::reverse(active.begin(), active.end());
            yardsticks.sample();
            // Between rounds, so that what is set aside is whole rounds of every cell.
            if (active.empty() || instruments_.reference().due()) refer(cells);
            if (!active.empty()) continue;
            // The last reference may have taken away what seemed enough.
            for (std::size_t i = 0; i < cells.size(); ++i) {
                if (cells[i].second->lacks_samples()) active.push_back(i);
            }
        }
        while (!observer_.cancelled() && yardsticks.sample()) {
        }
        yardsticks.finish();
        for (auto& [index, cell] : cells) {
            if (const auto* known = yardsticks.find(cell->yardstick_bytes())) cell->set_yardstick(*known);
        }
        // An interrupt ends the sampling, not the cells: what has samples is finished with what it has.
        for (const auto i : active) cells[i].second->stop_early();
    }

    void refer(Cells& cells) {
        if (cells.empty()) return;
        const double seconds = instruments_.reference().take();
        for (auto& [index, cell] : cells) cell->reference(seconds);
    }

    void finish(std::size_t index, CellRun& cell) {
        const auto& record = cell.finish();
        observer_.done(number_, index, record);
        cell.end_dump();
        if (record.status != model::Status::ok) return;
        for (const auto& [name, path] : settings_.pictures) {
            const auto picture = cell.setup().pictures.find(name);
            const auto data = cell.buffers().data.find(name);
            if (picture == cell.setup().pictures.end() || data == cell.buffers().data.end()) continue;
            observer_.picture(path, picture->second.width, picture->second.height, picture->second.grey(data->second));
        }
    }

    void cancel_point() {
        if (observer_.cancelled()) throw Interrupted{};
    }

    device::Session& session_;
    Instruments& instruments_;
    const Settings& settings_;
    const model::Cell* yardstick_;
    std::size_t number_;
    const model::Group& group_;
    const std::set<CellNumber>& finished_;
    std::size_t& prepared_;
    Observer& observer_;
};

}  // namespace

void execute(device::Session& session, const RunRequest& request, Observer& observer, const std::set<CellNumber>& finished) {
    const auto& limits = request.settings.limits;
    const auto known = limits.find(session.facts().selector);
    Instruments instruments(session, known == limits.end() ? std::nullopt : std::optional(known->second));
    std::size_t prepared = 0;
    for (std::size_t g = 0; g < request.comparisons.size(); ++g)
        GroupRun(session, instruments, request, g, finished, prepared, observer).run();
}

std::filesystem::path dump_folder(const std::filesystem::path& root, const model::Device& device, const model::Cell& cell) {
    // What is compiled for a processor that is not here is the same on every host.
    const auto host = device.platform == "offline" ? std::string() : this_host().name;
    auto out = inspect::claim_device_folder(root, device, host) / cell.id;
    if (!cell.label.empty()) out /= folder_name(cell.label);
    return out;
}

}  // namespace cllab::run

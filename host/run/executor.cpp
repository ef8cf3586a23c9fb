#include "run/executor.hpp"

#include <map>
#include <ranges>

#include "core/clock.hpp"
#include "core/grouped.hpp"
#include "core/phases.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "inspect/tools/dump.hpp"
#include "run/one_core.hpp"

namespace cllab::run {
namespace {

/// Charges each cell its share of the time of shared work.
void share_out(const Phases& shared, Cells& cells) {
    for (const auto& [phase, seconds] : shared)
        for (auto& cell : cells) cell.state->record.phases[phase] += seconds / static_cast<double>(cells.size());
}

/// Data that the comparisons of one run share.
struct Running {
    device::Session& session;
    Instruments& instruments;
    const RunRequest& request;
    const std::set<CellNumber>& finished;
    FinishQueue& finish_queue;
    const Events& events;
    std::size_t prepared = 0;  ///< cells prepared so far
};

/// If one cell's time depends on what operations do to the data, restores the data for all cells, so that they are
/// comparable.
void treat_data_alike(Cells& cells) {
    const auto one = std::ranges::find_if(cells, [](const auto& c) { return c.state->fresh_data; });
    if (one == cells.end()) return;
    for (auto& cell : cells)
        cell.sampling->begin_with_fresh_data("cllab restores the inputs before each timed operation, as for '" +
                                             one->state->cell.id + "', whose time depends on it");
}

void refer(const Running& run, Cells& cells) {
    if (cells.empty()) return;
    const double seconds = run.instruments.reference().take();
    const auto clocks = run.session.clocks();
    for (auto& cell : cells) {
        cell.sampling->reference(seconds);
        if (clocks) cell.state->clocks(*clocks);
    }
}

/// In a screening, ends the cells that take more than twice as long as the fastest.
void cut_slow(const Cells& cells, std::vector<std::size_t>& active) {
    double fastest = 0;
    for (const auto& cell : cells)
        if (const double typical = cell.sampling->typical_seconds(); typical > 0)
            fastest = fastest > 0 ? std::min(fastest, typical) : typical;
    if (fastest <= 0) return;
    for (const auto i : active) cells[i].sampling->cut(fastest);
    std::erase_if(active, [&](std::size_t i) { return !cells[i].sampling->lacks_samples(); });
}

/// Samples the cells of comparison `number` until each has enough samples or no time left. Samples the yardsticks in
/// between.
void sample_until_known(const Running& run, std::size_t number, Cells& cells) {
    auto& yardsticks = run.instruments.yardsticks();
    treat_data_alike(cells);
    // Round by round, so that drift affects all cells of the comparison alike.
    auto active = places_in(cells);
    refer(run, cells);
    for (unsigned round = 0; !active.empty() && !run.events.cancelled(); ++round) {
        std::erase_if(active, [&](std::size_t i) {
            run.events.begin(number, cells[i].index, cells[i].state->record, "sample");
            return !cells[i].sampling->sample(round);
        });
        constexpr unsigned first_samples = 3;
        if (run.request.settings.screening && round + 1 >= first_samples) cut_slow(cells, active);
        // ABBA order: no cell is always first or always after the same cell.
        std::ranges::reverse(active);
        yardsticks.sample();
        // Between rounds, so that whole rounds of all cells are set aside.
        if (active.empty() || run.instruments.reference().due()) refer(run, cells);
        // The last reference may have set samples aside, so that there are no longer enough.
        if (active.empty()) active = places_where(cells, [](const auto& c) { return c.sampling->lacks_samples(); });
    }
    while (!run.events.cancelled() && yardsticks.sample()) {
    }
    // An interrupt ends the sampling. Cells with samples are still finished.
    for (const auto i : active) cells[i].sampling->stop_early();
}

/// Samples the cells of one arrangement, for as long as the settings say. Rounds come in pairs: the first in a random
/// order, the second in the reverse of it (ABBA).
void sample_arrangement(const Running& run, std::size_t number, Cells& cells, Random& random) {
    constexpr unsigned least = 6, few = 2;
    auto turns = places_in(cells);
    treat_data_alike(cells);
    refer(run, cells);
    const auto start = Clock::now();
    for (unsigned round = 0;; ++round) {
        const double spent = seconds_since(start) / static_cast<double>(cells.size());
        if (run.events.cancelled()) break;
        if (round % 2 == 0) {
            if (round >= least && spent >= run.request.settings.sampling_seconds) break;
            if (round >= few && spent >= 4 * run.request.settings.sampling_seconds) break;
            std::ranges::shuffle(turns, random);
        } else {
            std::ranges::reverse(turns);
        }
        for (const auto i : turns) {
            run.events.begin(number, cells[i].index, cells[i].state->record, "sample");
            if (!cells[i].sampling->sample_of_arrangement(round)) return;
        }
        if (run.instruments.reference().due()) refer(run, cells);
    }
    refer(run, cells);
}

class GroupRun {
public:
    GroupRun(Running& run, std::size_t number)
        : run_(run),
          session_(run.session),
          settings_(run.request.settings),
          number_(number),
          group_(run.request.comparisons[number]) {}

    /// `next` returns the comparison after this one, or nullptr. It is called when the last cell begins.
    void run(std::function<GroupRun*()> next) {
        if (settings_.arrangement) return arrange();
        next_ = std::move(next);
        for (std::size_t i = 0; i < group_.size();) i = batch(i);
    }

private:
    CellRun make_cell(std::size_t i) {
        auto state =
            std::make_unique<CellState>(session_, run_.instruments, group_[i],
                                        model::Order{settings_.run.order.comparison + number_, i, run_.prepared++},
                                        settings_, [this, i](const model::Record& record, const char* phase) {
                                            run_.events.begin(number_, i, record, phase);
                                        });
        return {.index = i, .state = std::move(state)};
    }

    /// Runs one arrangement. A failing cell ends it: the cells not prepared by then are not delivered, and the others
    /// have no time.
    void arrange() {
        Random random(mix64(settings_.seed));
        std::optional<OneCore> confined;
        if (settings_.one_core) confined.emplace();
        session_.scatter(random());
        auto turns = places_in(group_);
        std::ranges::shuffle(turns, random);
        Cells cells;
        bool fine = true;
        for (const auto i : turns) {
            cancel_point();
            auto cell = make_cell(i);
            const auto same = std::ranges::find_if(cells, [&](const auto& other) {
                if (settings_.one_core) return false;
                const auto &one = group_[i], &two = group_[other.index];
                return one.experiment == two.experiment && one.variant == two.variant && one.point == two.point;
            });
            fine = prepare(*cell.state, cells.empty() || settings_.one_core ? nullptr : cells.front().state.get(),
                           same == cells.end() ? nullptr : same->state.get());
            if (fine) cell.sampling = std::make_unique<Sampling>(*cell.state);
            fine = fine && cell.sampling->warm_up();
            cells.push_back(std::move(cell));
            if (!fine) break;
        }
        if (fine) sample_arrangement(run_, number_, cells, random);
        for (auto& cell : cells) {
            if (cell.sampling) finish_arrangement(*cell.state, *cell.sampling);
            run_.events.done(number_, cell.index, cell.state->record);
        }
        cancel_point();
    }

    bool builds_ahead() const { return session_.works_beside_host() && settings_.builds_ahead; }

    /// Begins cell `i`. If the host can work while the device does, also begins the next cells, whose builds then run
    /// in the background.
    void prefetch_builds(std::size_t i) {
        constexpr std::size_t most_ahead = 16;
        constexpr double most_bytes = 1 << 30;  // of the host's memory
        double bytes = 0;
        const std::size_t last = builds_ahead() ? i + most_ahead : i;
        for (std::size_t k = i; k <= last && k < group_.size() && (k == i || bytes < most_bytes); ++k) {
            if (run_.finished.count({number_, k})) continue;
            auto [at, is_new] = begun_.try_emplace(k);
            if (is_new) {
                at->second = make_cell(k);
                begin(*at->second.state);
            }
            bytes += data_bytes(at->second.state->setup);
        }
    }

    /// Runs the cells from `first` on that fit on the device together. Returns the first one that did not fit.
    std::size_t batch(std::size_t first) {
        Cells cells;
        double bytes = 0;
        bool skipped = false;
        std::size_t i = first;
        const double budget = memory_budget(session_.facts());
        for (; i < group_.size(); ++i) {
            if (run_.finished.count({number_, i})) {
                skipped = true;
                continue;
            }
            if (!cells.empty() && bytes + bytes / static_cast<double>(cells.size()) > budget) break;
            cancel_point();
            prefetch_builds(i);
            // Begin it no earlier, because the data of a point is kept only for the cells of one comparison.
            if (i + 1 == group_.size() && builds_ahead()) {
                if (auto* const after = next_()) after->prefetch_builds(0);
            }
            auto cell = std::move(begun_.extract(i).mapped());
            // Share memory as in an arrangement, so that no cell finds other cache contents because of its
            // predecessor's buffers.
            const auto* donor = settings_.screening && !cells.empty() ? cells.front().state.get() : nullptr;
            cell.prepared = prepare(*cell.state, donor);
            const bool waits = settings_.measure || cell.state->setup.know_code;
            if (!cell.prepared || !waits) {
                end_later(std::move(cell));
                continue;
            }
            bytes += cell.state->device_bytes;
            cells.push_back(std::move(cell));
        }
        if (settings_.measure && !cells.empty()) {
            const auto number = static_cast<unsigned>(cells.front().index) + 1;
            const std::string apart = first > 0 || i < group_.size()
                                          ? "the device does not have room for all of them at once"
                                      : skipped ? "the process of an earlier one ended"
                                                : "";
            for (auto& cell : cells) {
                cell.sampling = std::make_unique<Sampling>(*cell.state);
                cell.sampling->set_batch(number, apart, cells.size() > 1);
            }
            measure(cells, budget - bytes);
        }
        // The first cell's record already says which cells agree, so the code of all cells must be known.
        for (auto& cell : cells)
            if (cell.prepared && cell.state->setup.know_code) see_code(*cell.state);
        for (auto& cell : cells) end_later(std::move(cell));
        cancel_point();
        return i;
    }

    /// `room`: bytes on the device that the cells do not use.
    void measure(Cells& cells, double room) {
        Phases shared;
        const ChargedTo account(shared);
        auto& yardsticks = run_.instruments.yardsticks();
        yardsticks.begin_comparison();
        // A simulator's bandwidth means nothing, and measuring it takes minutes.
        const bool has_yardstick =
            run_.request.yardstick && session_.facts().implementation != model::Implementation::oclgrind;
        for (auto& cell : cells) {
            const auto bytes = yardstick_bytes(*cell.state);
            if (!has_yardstick || bytes == 0) continue;
            cancel_point();
            run_.events.begin(number_, cell.index, cell.state->record, "yardstick");
            yardsticks.begin(session_, run_.instruments, *run_.request.yardstick, bytes, settings_.cache,
                             room - yardsticks.bytes_on_device());
        }
        std::erase_if(cells, [&](auto& cell) {
            cancel_point();
            if (cell.sampling->warm_up()) return false;
            cell.prepared = false;
            end_later(std::move(cell));
            return true;
        });
        sample_until_known(run_, number_, cells);
        yardsticks.finish();
        for (auto& cell : cells) {
            if (const auto* known = yardsticks.find(yardstick_bytes(*cell.state))) set_yardstick(*cell.state, *known);
        }
        share_out(shared, cells);
    }

    void end_later(CellRun cell) {
        run_.finish_queue.add(std::move(cell), [this](CellRun& ended) { end(ended); });
    }

    void end(CellRun& cell) {
        auto& state = *cell.state;
        if (cell.prepared) finish(state, cell.sampling.get());
        run_.events.done(number_, cell.index, state.record);
        state.dumped.reset();  // the record is next to the dump now
        if (state.record.status != model::Status::ok) return;
        for (const auto& [name, path] : settings_.pictures) {
            const auto picture = state.setup.pictures.find(name);
            const auto data = state.subject->buffers().data.find(name);
            if (picture == state.setup.pictures.end() || data == state.subject->buffers().data.end()) continue;
            run_.events.picture(path, picture->second.width, picture->second.height,
                                picture->second.grey(data->second));
        }
    }

    void cancel_point() {
        if (run_.events.cancelled()) throw Interrupted{};
    }

    Running& run_;
    device::Session& session_;
    const Settings& settings_;
    std::size_t number_;  ///< of the comparison
    const model::Group& group_;
    std::function<GroupRun*()> next_;
    std::map<std::size_t, CellRun> begun_;  ///< not yet prepared
};

}  // namespace

void execute(device::Session& session, const RunRequest& request, const Events& events,
             const std::set<CellNumber>& finished, Kept* results) {
    const auto& limits = request.settings.limits;
    const auto known = limits.find(session.facts().selector);
    const auto largest = request.settings.largest_groups.find(session.facts().selector);
    session.set_largest_group(largest == request.settings.largest_groups.end() ? 0 : largest->second);
    Kept own;
    auto& keep = results ? *results : own;
    if (keep.reference && !keep.reference->exists()) keep.reference.reset();  // the reason for the refusal may be gone
    if (!keep.in_advance) keep.programs.reset();
    Instruments instruments(session, keep, known == limits.end() ? std::nullopt : std::optional(known->second),
                            request.settings.builds_ahead);
    FinishQueue finish_queue(session.works_beside_host(), memory_budget(session.facts()));
    Running running{session, instruments, request, finished, finish_queue, events};
    std::vector<std::unique_ptr<GroupRun>> groups;  // a cell that is finished later still refers to its group
    std::size_t comparisons = 0;
    const auto next = [&]() -> GroupRun* {
        if (comparisons == request.comparisons.size()) return nullptr;
        return groups.emplace_back(std::make_unique<GroupRun>(running, comparisons++)).get();
    };
    try {
        const auto& ends = request.settings.ends;
        for (auto* group = next(); group && !(ends && Clock::now() > *ends);) {
            std::optional<GroupRun*> told;
            const auto after = [&] {
                if (!told) told = next();
                return *told;
            };
            group->run(after);
            group = after();
        }
    } catch (...) {
        const auto first = std::current_exception();
        try {
            finish_queue.end_all();  // keep the measured cells even if an exception ends the run
        } catch (...) {              // report the first exception only
        }
        std::rethrow_exception(first);
    }
    finish_queue.end_all();
}

std::filesystem::path dump_folder(const std::filesystem::path& root, const model::Device& device,
                                  const model::Cell& cell) {
    // Code for an absent processor is the same on every host.
    const auto host = device.platform == "offline" ? std::string() : this_host().name;
    auto out = inspect::claim_device_folder(root, device, host) / cell.id;
    if (!cell.label.empty()) out /= folder_name(cell.label);
    return out;
}

}  // namespace cllab::run

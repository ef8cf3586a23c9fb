#include "app/processes/runner.hpp"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <utility>

#include "app/choose/request.hpp"
#include "app/files/image_file.hpp"
#include "app/processes/watchdog.hpp"
#include "app/screen/streams.hpp"
#include "core/grouped.hpp"
#include "device/platforms.hpp"
#include "inspect/tools/dump.hpp"
#include "inspect/tools/tool.hpp"
#include "model/warning.hpp"
#include "report/records/json.hpp"
#include "run/conditions/reference.hpp"

namespace cllab::app {
namespace {

std::atomic<bool> interrupt_seen{false};

void on_interrupt(int signal) {
    interrupt_seen = true;
    std::signal(signal, SIG_DFL);  // a second one ends the program at once
}

class InThisProcess : public Runner {
public:
    InThisProcess(double timeout_seconds, GiveUp give_up)
        : timeout_seconds_(timeout_seconds), give_up_(std::move(give_up)) {}

    std::vector<model::Device> devices(const std::vector<std::string>& selectors,
                                       std::vector<std::string>* troubles) override {
        std::vector<model::Device> found;
        {
            const EndWitness witness("while the OpenCL drivers were loaded", "`cllab devices` says which one it was.");
            const Watchdog watchdog("while the devices were listed (`cllab devices` names the driver)",
                                    timeout_seconds_, give_up_);
            found = devices_.devices(selectors, troubles);
        }
        describe_crash("in an OpenCL driver or in a kernel",
                       "`cllab run --isolate` gives each attempt a process of its own.");
        return found;
    }
    void run(const run::RunRequest& request, const std::string& selector, const Events& events,
             const std::set<run::CellNumber>& already) override {
        Watchdog watchdog("outside of its cells, on device " + selector + ",", timeout_seconds_, give_up_);
        devices_.run(request, selector, watchdog.watched(events), already);
    }

private:
    double timeout_seconds_;
    GiveUp give_up_;
    LocalDevices devices_;
};

}  // namespace

std::unique_ptr<Runner> in_this_process(double timeout_seconds, GiveUp give_up) {
    return std::make_unique<InThisProcess>(timeout_seconds, std::move(give_up));
}

void write_timing(model::Record& record) {
    if (record.dump.empty()) return;
    try {
        const auto text = report::to_json_pretty(record) + "\n";
        cllab::write_file(std::filesystem::path(record.dump) / inspect::timing_file, inspect::as_bytes(text));
    } catch (const Error& e) {  // what was measured is worth more
        record.warnings.push_back(model::warning(model::Warning::no_dump, e.what()));
    }
}

bool interrupted() { return interrupt_seen; }

// SIGTERM is how `timeout` and a batch system at its time limit ask, SIGHUP how a terminal that is closed does, unless
// nohup has it ignored.
void catch_interrupts() {
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, on_interrupt);
    if (std::signal(SIGHUP, on_interrupt) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

void note_interrupts() {
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { interrupt_seen = true; });
}

std::vector<model::Device> named_devices(Runner& runner, const std::vector<std::string>& selectors) {
    std::vector<std::string> troubles;
    auto out = runner.devices(selectors, &troubles);
    for (const auto& trouble : troubles) say(trouble);
    return out;
}

std::vector<model::Record> records_of(Runner& runner, const run::RunRequest& request, const std::string& selector) {
    std::vector<model::Record> out(request.comparisons.front().size());
    runner.run(request, selector,
               {.done = [&](std::size_t, std::size_t index, const model::Record& record) { out.at(index) = record; }});
    return out;
}

std::vector<model::Device> LocalDevices::devices(const std::vector<std::string>& selectors,
                                                 std::vector<std::string>* troubles) {
    const auto found = device::discover(troubles);
    const auto facts = mapped(found, &device::Found::facts);
    const auto trusted = [&](std::size_t i) {
        try {
            return open_.try_emplace(found[i].facts.selector, found[i]).first->second.timer().trusted;
        } catch (const Error&) {
            return false;
        }
    };
    return mapped(device::resolve(facts, selectors, trusted), [&](std::size_t i) { return facts[i]; });
}

void LocalDevices::run(const run::RunRequest& request, const std::string& selector, const Events& events,
                       const std::set<run::CellNumber>& finished) {
    Phases start;  // of what there is before the first cell, whose record takes it
    auto& session = [&]() -> device::Session& {
        const ChargedTo account(start);
        return open(selector);
    }();
    check_points(request, session.facts());
    if (request.settings.measure) {
        const ChargedTo account(start);
        session.timer();
    }
    auto here = events;
    here.done = [&](std::size_t g, std::size_t i, const model::Record& record) {
        auto whole = record;
        add(whole.phases, std::exchange(start, {}));
        write_timing(whole);
        events.done(g, i, whole);
    };
    here.picture = save_grey;
    here.cancelled = interrupted;
    run::execute(session, request, here, finished, &kept_[selector]);
}

device::Session& LocalDevices::open(const std::string& selector) {
    if (const auto known = open_.find(selector); known != open_.end()) return known->second;
    const InPhase phase(Phase::driver_start);
    for (const auto& found : device::discover())
        if (found.facts.selector == selector) {
            auto& session = open_.try_emplace(selector, found).first->second;
            if (const auto known = inherited_.find(selector); known != inherited_.end()) session.inherit(known->second);
            if (keeps_programs_ && device::KnownPrograms::pay(session.facts())) session.programs().keep();
            return session;
        }
    throw Error(Blame::environment, "device " + selector + " was there a moment ago and is gone");
}

void LocalDevices::build(const std::string& selector, const run::Settings& settings, const model::Cell& cell) {
    auto& session = open(selector);
    run::build_in_advance(session, settings, cell, kept_[selector]);
}

std::optional<device::DeviceState> LocalDevices::device_state(const std::string& selector) const {
    const auto known = open_.find(selector);
    return known == open_.end() ? std::nullopt : known->second.device_state();
}

}  // namespace cllab::app

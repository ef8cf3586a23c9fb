#include "app/job.hpp"

#include <atomic>
#include <csignal>
#include <fmt/format.h>
#include <random>
#include <set>

#include "app/crash.hpp"
#include "app/image_file.hpp"
#include "device/quirks.hpp"
#include "device/selectors.hpp"
#include "inspect/dump.hpp"
#include "inspect/tool.hpp"
#include "report/json.hpp"
#include "model/params.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {
namespace {

std::atomic<bool> interrupt_seen{false};

void on_interrupt(int signal) {
    interrupt_seen = true;
    std::signal(signal, SIG_DFL);  // a second one ends the program at once
}

class JobObserver : public run::Observer {
public:
    JobObserver(const Job& job, const Events& events) : job_(job), events_(events) {}
    void begin(std::size_t g, std::size_t i, const model::Record& record, const char* phase) override {
        events_.begin(g, i, record, phase);
    }
    void done(std::size_t g, std::size_t i, const model::Record& record) override {
        auto with_dump = record;
        write_timing(with_dump);
        events_.done(g, i, with_dump);
    }
    void picture(const std::string& name, std::size_t width, std::size_t height, const model::Bytes& grey) override {
        for (const auto& [wanted, path] : job_.invocation.outputs) {
            if (wanted == name) save_grey(path, width, height, grey);
        }
    }
    bool cancelled() override { return interrupted(); }

private:
    const Job& job_;
    const Events& events_;
};

}  // namespace

model::RunInfo run_info(const Invocation& invocation) {
    static const std::string id = [] {
        std::random_device random;
        return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
    }();
    model::RunInfo out;
    out.id = id;
    out.label = invocation.label;
    out.driver_caches = device::cache_settings();
    return out;
}

void write_timing(model::Record& record) {
    if (record.dump.empty()) return;
    try {
        const auto text = report::to_json_pretty(record) + "\n";
        inspect::write_file(std::filesystem::path(record.dump) / inspect::timing_file, inspect::as_bytes(text));
    } catch (const Error& e) {  // what was measured is worth more
        record.warnings.push_back(std::string("no-dump: ") + e.what());
    }
}

bool interrupted() { return interrupt_seen; }

// SIGTERM is how `timeout` and a batch system at its time limit ask, SIGHUP how a terminal that is closed does, unless nohup
// has it ignored.
void catch_interrupts() {
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, on_interrupt);
    if (std::signal(SIGHUP, on_interrupt) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

void note_interrupts() {
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { interrupt_seen = true; });
}

void catch_driver_crashes() {
    catch_crashes();
    describe_crash("while the OpenCL drivers were loaded", "`cllab devices` says which one it was.");
}

std::vector<model::Device> resolve_devices(const Job& job, std::vector<std::string>* troubles) {
    const auto found = device::discover(troubles);
    std::vector<model::Device> facts;
    for (const auto& f : found) facts.push_back(f.facts);
    const auto trusted = [&](std::size_t i) {
        try {
            return device::Session(found[i]).timer().trusted;
        } catch (const Error&) {
            return false;
        }
    };
    std::vector<model::Device> out;
    for (const auto i : device::resolve(facts, job.invocation.devices, trusted)) out.push_back(facts[i]);
    return out;
}

void check_points(const Job& job, const model::Device& device) {
    std::set<std::string> families;
    for (const auto& group : job.plan) {
        for (const auto& cell : group)
            if (families.insert(cell.experiment->family).second) run::kernel_source(*cell.experiment, *cell.variant, job.options.cl_dir);
    }
    for (const auto& group : job.plan) {
        for (const auto& cell : group) {
            try {
                model::resolve(*cell.experiment, {*cell.variant, cell.point, device, job.options.seed, job.options.files});
            } catch (const Unsupported&) {
                // A limit of this device: the cell says so in its record.
            }
        }
    }
}

void run_on(const Job& job, const std::string& selector, const Events& events) {
    const auto found = device::discover();
    for (const auto& f : found) {
        if (f.facts.selector != selector) continue;
        check_points(job, f.facts);
        device::Session session(f);
        JobObserver observer(job, events);
        auto options = job.options;
        // A simulator's bandwidth means nothing and takes minutes.
        if (f.facts.implementation == model::Implementation::oclgrind) options.yardstick.reset();
        if (const auto known = job.limits.find(selector); known != job.limits.end()) options.limits = known->second;
        run::execute(session, job.plan, options, observer);
        return;
    }
    throw Error(Blame::environment, "device " + selector + " was there a moment ago and is gone");
}

}  // namespace cllab::app

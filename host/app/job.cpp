#include "app/job.hpp"

#include <atomic>
#include <csignal>

#include "app/image_file.hpp"
#include "device/selectors.hpp"
#include "model/params.hpp"

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
    void done(std::size_t g, std::size_t i, const model::Record& record) override { events_.done(g, i, record); }
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

bool interrupted() { return interrupt_seen; }

// SIGTERM is how `timeout` and a batch system at its time limit ask.
void catch_interrupts() {
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, on_interrupt);
}

void note_interrupts() {
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { interrupt_seen = true; });
}

bool wants_yardstick(const Job& job, const model::Device& device) {
    // A simulator's bandwidth means nothing and takes minutes.
    return !job.invocation.no_yardstick && !job.invocation.verify_only &&
           device.implementation != model::Implementation::oclgrind;
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

void run_on(const Job& job, const std::string& selector, const Events& events) {
    const auto found = device::discover();
    for (const auto& f : found) {
        if (f.facts.selector != selector) continue;
        // Fail before the long part: a point that makes no sense is the command line's fault.
        for (const auto& group : job.plan) {
            for (const auto& cell : group) {
                try {
                    model::resolve(*cell.experiment, {*cell.variant, cell.point, f.facts, job.options.seed, job.options.files});
                } catch (const Unsupported&) {
                    // A limit of this device: the cell says so in its record.
                }
            }
        }
        device::Session session(f);
        JobObserver observer(job, events);
        auto plan = job.plan;
        // Group 0 is always the yardstick's place, so that cell numbers mean the same in every process.
        if (!wants_yardstick(job, f.facts) && !plan.empty()) plan.front().clear();
        auto options = job.options;
        if (const auto known = job.limits.find(selector); known != job.limits.end()) options.limits = known->second;
        run::execute(session, plan, options, observer);
        return;
    }
    throw Error(Blame::environment, "device " + selector + " was there a moment ago and is gone");
}

}  // namespace cllab::app

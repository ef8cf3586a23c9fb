#include "app/processes/runner.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "app/choose/request.hpp"
#include "app/files/image_file.hpp"
#include "app/processes/worker.hpp"
#include "app/screen/streams.hpp"
#include "core/grouped.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
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
    std::signal(signal, SIG_DFL);  // a second signal ends the program at once
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
    } catch (const Error& e) {  // the measurement matters more than its file
        record.warnings.push_back(model::warning(model::Warning::no_dump, e.what()));
    }
}

bool interrupted() { return interrupt_seen; }

// `timeout` and batch systems send SIGTERM at a time limit. A closing terminal sends SIGHUP, which nohup ignores.
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
    Phases start;  // time before the first cell; charged to that cell's record
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
    throw Error(Blame::environment, "device " + selector + " was listed a moment ago and is no longer available");
}

void LocalDevices::build(const std::string& selector, const run::Settings& settings, const model::Cell& cell) {
    auto& session = open(selector);
    run::build_in_advance(session, settings, cell, kept_[selector]);
}

std::optional<device::DeviceState> LocalDevices::device_state(const std::string& selector) const {
    const auto known = open_.find(selector);
    return known == open_.end() ? std::nullopt : known->second.device_state();
}

namespace {

// Prepared in advance, because a signal handler may do almost nothing.
char crash_message[1024], quit_message[1024];
std::atomic<int> witness_listens = -1;     // descriptor that tells the witness to stay silent
alignas(16) char handler_stack[64 << 10];  // a handler for a stack overflow needs another stack

void on_signal(int signal) {
    const char* message = signal == SIGQUIT ? quit_message : crash_message;
    [[maybe_unused]] const auto n = write(STDERR_FILENO, message, std::strlen(message));
    std::raise(signal);  // SA_RESETHAND: now the default action ends the process
}

}  // namespace

Watchdog::Watchdog(std::string doing, double seconds, const GiveUp& give_up)
    : doing_(std::move(doing)), seconds_(seconds), give_up_(give_up), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

Events Watchdog::watched(const Events& events) {
    return {[this, &events](std::size_t group, std::size_t index, const model::Record& record, const char* phase) {
                {
                    const std::lock_guard lock(mutex_);
                    const auto [known, is_new] = begun_.try_emplace({group, index});
                    if (is_new || std::strcmp(phase, "sample") != 0) known->second = record;
                    current_ = &known->second;
                    phase_ = phase;
                }
                outside([&] { events.begin(group, index, record, phase); });
            },
            [this, &events](std::size_t group, std::size_t index, const model::Record& record) {
                {
                    const std::lock_guard lock(mutex_);
                    begun_.erase({group, index});
                    current_ = nullptr;
                }
                outside([&] { events.done(group, index, record); });
            }};
}

void Watchdog::outside(const std::function<void()>& work) {
    inside_ = false;
    work();
    ++beat_;
    inside_ = true;
}

/// Waits in slices, so that a process that was stopped for a while does not count as hanging.
void Watchdog::watch() {
    constexpr int slices = 8;
    const double slice = seconds_ / slices;
    std::unique_lock lock(mutex_);
    auto beat = beat_.load();
    for (double quiet = 0; quiet < limit();) {
        if (wake_.wait_for(lock, std::chrono::duration<double>(slice), [&] { return over_; })) return;
        const auto now = beat_.load();
        quiet = inside_ && now == beat ? quiet + slice : 0;
        beat = now;
    }
    end_process();
}

/// --timeout is meant for endless kernels. It may be shorter than a driver's start.
double Watchdog::limit() const {
    constexpr double least_to_start = 10;
    return current_ ? seconds_ : std::max(seconds_, least_to_start);
}

void Watchdog::end_process() {
    int status = 3;
    if (current_) {
        status = 1;
        auto record = *current_;
        record.status = model::Status::timed_out;
        record.reason = no_progress(seconds_) + " in phase '" + phase_ + "'";
        record.samples.clear();
        try {
            if (give_up_) give_up_(record);
        } catch (const std::exception& e) {  // a full disk, say
            say(e.what());
        }
        say(record.id + " on '" + record.device.name + "' shows " + record.reason +
            ", and cllab cannot stop a driver from inside; `cllab run --isolate` continues with the next cell");
    } else {
        say(doing_ + " no progress for " + format_significant(limit(), 3) + " s");
    }
    EndWitness::dismiss();
    std::fflush(stderr);
    remove_own_folder();
    _exit(status);
}

void catch_crashes() {
    stack_t stack{};
    stack.ss_sp = handler_stack;
    stack.ss_size = sizeof handler_stack;
    sigaltstack(&stack, nullptr);
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGQUIT}) sigaction(signal, &action, nullptr);
}

void describe_crash(const std::string& where, const std::string& advice) {
    catch_crashes();  // again: when LLVM inside a driver compiles, it replaces the handlers
    std::snprintf(crash_message, sizeof crash_message, "\ncllab: the process crashed %s. %s\n", where.c_str(),
                  advice.c_str());
    std::snprintf(quit_message, sizeof quit_message, "\ncllab: ended by SIGQUIT %s. Finished cells are on disk.\n",
                  where.c_str());
}

EndWitness::EndWitness(const std::string& where, const std::string& advice) {
    const auto sentence = "cllab: the process ended " + where + ". " + advice + "\n";
    if (pipe_.read) witness_ = fork();
    if (witness_ != 0) {
        pipe_.read.close();
        if (witness_ > 0) witness_listens = pipe_.write.number();
        return;
    }
    // The child process is the witness. It may do almost nothing, because the parent has threads.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) std::signal(signal, SIG_IGN);
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    pipe_.write.close();
    char lived;
    if (::read(pipe_.read.number(), &lived, 1) == 0) {
        [[maybe_unused]] const auto n = ::write(STDERR_FILENO, sentence.data(), sentence.size());
    }
    _exit(0);
}

EndWitness::~EndWitness() {
    if (witness_ < 0) return;
    dismiss();
    waitpid(witness_, nullptr, 0);
}

void EndWitness::dismiss() {
    if (const int listens = witness_listens.exchange(-1); listens >= 0) {
        [[maybe_unused]] const auto n = ::write(listens, "", 1);
    }
}

}  // namespace cllab::app

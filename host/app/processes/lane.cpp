#include "app/processes/lane.hpp"

#include <sys/wait.h>

#include <csignal>
#include <utility>

#include "app/screen/streams.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "device/driver_settings.hpp"

namespace cllab::app {

using run::CellNumber;

void carry_out(LocalDevices& devices, const run::RunRequest& request, const std::string& selector,
               const std::set<CellNumber>& finished, Link& parent, Position& position) {
    std::set<CellNumber> announced;
    const Events to_parent{[&](std::size_t g, std::size_t i, const model::Record& record, const char* phase) {
                               if (announced.insert({g, i}).second) tell_cell(parent, false, {g, i}, record);
                               position.group = g;
                               position.index = i;
                               position.phase = phase;
                               position.in_cell = true;
                               ++position.beat;
                           },
                           [&](std::size_t g, std::size_t i, const model::Record& record) {
                               tell_cell(parent, true, {g, i}, record);
                               position.in_cell = false;
                               ++position.beat;
                           }};
    device::report_faults_to(position.fault);
    devices.run(request, selector, to_parent, finished);
    tell_end(parent, devices.device_state(selector));
}

std::unique_ptr<Worker> begin_worker(const run::RunRequest& request, const std::string& selector,
                                     const std::set<CellNumber>& finished, const device::DeviceState* known) {
    return std::make_unique<Worker>([&](Link& parent, Position& position) {
        LocalDevices devices;
        const auto& settings = request.settings;
        if (settings.arrangement || settings.screening) device::use_shared_cache();  // their build logs are not read
        // Within one run, the timer's audit and the warm-up stay valid (host/README.md, rules 2 and 4). The programs of
        // later arrangements come from the bytes that the first one's driver returned.
        if (known && settings.continues_run) devices.inherit(selector, *known);
        if (settings.arrangement) devices.keep_programs();
        carry_out(devices, request, selector, finished, parent, position);
    });
}

Lane::Lane(const std::string& selector, const run::RunRequest& request, const std::set<CellNumber>& finished,
           const Begin& begin, std::unique_ptr<Worker> first)
    : selector_(selector),
      request_(request),
      finished_(finished),
      begin_(begin),
      worker_(std::move(first)),
      is_first_(worker_ != nullptr) {
    if (!worker_) this->begin();
}

void Lane::begin() {
    known_.clear();
    any_finished_ = false;
    worker_.reset();
    worker_ = begin_(request_, finished_);
}

void Lane::run(double timeout_seconds, const Events& events) {
    while (!over_) {
        try {
            wait_for_one(timeout_seconds, events);
        } catch (const DeviceLost& e) {
            fail(e.what());
        }
    }
}

/// Handles one line of the worker, or its end.
void Lane::wait_for_one(double timeout_seconds, const Events& events) {
    const auto show = [&] {
        const auto& position = worker_->position();
        if (const auto* record = current())
            events.begin(position.group, position.index, *record, position.phase.load());
    };
    const auto show_wait = [&](double seconds) {
        if (const auto* record = current())
            say_doing(concat(record->id, ": phase '", worker_->position().phase.load(), "' has taken ",
                             format_exact(seconds), " s; cllab ends it after ", format_exact(timeout_seconds),
                             " s (--timeout)"));
    };
    std::string line;
    switch (worker_->next(line, timeout_seconds, show, show_wait)) {
        case Worker::Event::line: {
            const auto told = told_of(line);
            if (const auto* cell = std::get_if<CellTold>(&told)) return take(*cell, events);
            device_state_ = std::get<EndTold>(told).device_state;
            over_ = true;
            return;
        }
        case Worker::Event::silent:
            worker_->kill_now();
            if (interrupted()) throw run::Interrupted{};
            return lost(loss_by_silence(timeout_seconds), events);
        case Worker::Event::ended: {
            const int status = worker_->reap();
            // Ctrl-C reaches every process of the terminal. A new child may receive it before its handler is installed.
            if (interrupted() && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) throw run::Interrupted{};
            return lost(
                loss_by_death(status, worker_->position(), [&] { return passes_in_small_groups(timeout_seconds); }),
                events);
        }
        case Worker::Event::nothing:  // next() waits for something
            return;
    }
}

void Lane::take(const CellTold& told, const Events& events) {
    const auto [group, index] = told.cell;
    if (!told.done) {
        known_[told.cell] = told.record;
        return events.begin(group, index, told.record, "build");
    }
    finished_.insert(told.cell);
    any_finished_ = true;
    events.done(group, index, told.record);
}

/// The record of the cell that the worker is in, as it was when the cell began. nullptr between cells.
const model::Record* Lane::current() const {
    const auto& position = worker_->position();
    const auto found = known_.find({position.group, position.index});
    return position.in_cell && found != known_.end() ? &found->second : nullptr;
}

bool Lane::passes_in_small_groups(double timeout_seconds) const {
    const auto& position = worker_->position();
    const auto* record = current();
    return record && std::string(position.phase.load()) == "verify" &&
           record->device.type == model::name(model::DeviceType::cpu) &&
           app::passes_in_small_groups(request_, cell_of(position), selector_, timeout_seconds);
}

void Lane::lost(const Loss& loss, const Events& events) {
    const auto& position = worker_->position();
    const CellNumber cell{position.group, position.index};
    const auto* known = current();
    if (!known || finished_.count(cell)) {
        // Between two cells a new worker continues. Before the first cell, a second try would end the same way.
        if (!any_finished_) return fail("device " + selector_ + ": " + loss.reason + " before its first cell");
    } else if (loss.status == model::Status::launch_failed && request_.settings.builds_ahead &&
               known->device.type == model::name(model::DeviceType::gpu)) {
        request_.settings.builds_ahead = false;  // retry without it: the death may belong to another cell's build
    } else {
        const bool foreign = !request_.settings.cl_dir.empty() || cell_of(position).variant->own;
        const auto record = lost_record(*known, loss, position.phase.load(), foreign);
        finished_.insert(cell);
        events.done(cell.first, cell.second, record);
    }
    is_first_ = false;
    begin();
}

void Lane::fail(const std::string& why) {
    if (!is_first_ || any_finished_) throw DeviceLost(why);
    is_first_ = false;
    first_failed_ = true;
    begin();
}

Loss loss_by_silence(double timeout_seconds) {
    return {model::Status::timed_out, no_progress(timeout_seconds), "an endless loop, or a write outside of a buffer"};
}

Loss loss_by_death(int status, const Position& position, const std::function<bool()>& passes_in_small_groups) {
    const auto is = [&](int signal) { return WIFSIGNALED(status) && WTERMSIG(status) == signal; };
    if (const std::string fault = position.fault; !fault.empty())
        return {model::Status::wrong_result, fault + "; it ended the driver's process"};
    Loss out{model::Status::launch_failed, death(status), "a write or read outside of a buffer"};
    if (is(SIGABRT))
        out.cause = "an assertion of the driver, printed on standard error, or a write outside of a buffer";
    if (is(SIGSEGV) && passes_in_small_groups())
        out.cause =
            "a work-group whose private memory exceeds a thread's stack: the kernel runs with groups of one item, so "
            "write e.g. 'local 16'";
    return out;
}

bool passes_in_small_groups(run::RunRequest request, const model::Cell& cell, const std::string& selector,
                            double timeout_seconds) {
    request.comparisons = {{cell}};
    auto& settings = request.settings;
    settings.measure = settings.arrangement = settings.read_code = false;
    settings.small_groups = true;
    settings.dumps.reset();
    try {
        const auto lines = in_child(
            [&](const HandOver& hand_over) {
                LocalDevices().run(request, selector, {.done = [&](std::size_t, std::size_t, const model::Record& one) {
                                       hand_over(model::name(one.status));
                                   }});
            },
            "in the trial of small work-groups", timeout_seconds, timeout_seconds);
        return lines == std::vector<std::string>{model::name(model::Status::ok)};
    } catch (const DeviceLost&) {
        return false;
    }
}

model::Record lost_record(model::Record record, const Loss& loss, const std::string& phase, bool foreign) {
    record.status = loss.status;
    record.reason = loss.reason + " in phase '" + phase + "'";
    if (foreign && loss.status == model::Status::wrong_result) record.reason += "; --check oclgrind shows its line";
    auto cause = foreign && phase != "build" && phase != "yardstick" ? loss.cause : std::string();
    // Some drivers compile at the first launch.
    if (loss.status == model::Status::timed_out && (phase == "build" || phase == "verify"))
        cause += std::string(cause.empty() ? "" : ", or ") + "a slow compiler, for which a larger --timeout waits";
    if (!cause.empty()) record.reason += "; the likely cause is " + cause;
    return record;
}

}  // namespace cllab::app

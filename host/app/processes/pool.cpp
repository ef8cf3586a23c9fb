#include "app/processes/pool.hpp"

#include <sys/wait.h>

#include <csignal>
#include <utility>

#include "core/program_text.hpp"
#include "inspect/binary/bounded_bytes.hpp"
#include "json/read.hpp"
#include "report/records/json.hpp"

namespace cllab::device {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimerAudit, reported_step_ns, step_ns, launches, ordered, varied, empty_seconds,
                                   gap_seconds, event_seconds, event_over_host, tenfold, trusted, verdict)

static void to_json(nlohmann::json& j, const DeviceState& s) {
    j = {{"audit", s.audit},
         {"settled", s.settled},
         {"last_use", s.last_use.time_since_epoch().count()},
         {"programs", nlohmann::json::object()}};
    for (const auto& [key, bytes] : s.programs) j["programs"][key] = text_of_program(inspect::as_text(bytes));
}
static void from_json(const nlohmann::json& j, DeviceState& s) {
    s = {j.at("audit").get<TimerAudit>(),
         j.at("settled").get<bool>(),
         Clock::time_point(Clock::duration(j.at("last_use").get<Clock::rep>())),
         {}};
    for (const auto& [key, text] : j.at("programs").items()) {
        const auto program = program_of_text(text.get<std::string>()).value_or("");
        const auto bytes = inspect::as_bytes(program);
        s.programs.emplace(key, std::vector(bytes.begin(), bytes.end()));
    }
}
}  // namespace cllab::device

namespace cllab::app {
namespace {

using run::CellNumber;

/// A message with a record in it, which is made into text once here and read once there.
void send_record(Link& parent, const char* what, CellNumber cell, const model::Record& record) {
    parent.send({{what, cell}});
    parent.send_line(report::to_json_line(record));
}

Message ask(Link& parent, const Message& question) {
    parent.send({{"question", question}});
    return parent.receive();
}

class AskedShare : public run::Share {
public:
    explicit AskedShare(Link& parent) : parent_(parent) {}
    std::optional<run::Part> next() override {
        const auto part = ask(parent_, {{"next", true}});
        return part.is_null() ? std::nullopt : std::optional(nlohmann::json(part).get<run::Part>());
    }
    bool take(const run::Room& room) override { return ask(parent_, {{"take", nlohmann::json(room)}}).get<bool>(); }
    void give_back(const run::Room& room) override { ask(parent_, {{"give_back", nlohmann::json(room)}}); }

private:
    Link& parent_;
};

}  // namespace

void carry_out(LocalDevices& devices, const run::RunRequest& request, const std::string& selector,
               const std::set<CellNumber>& finished, Link& parent, Position& position, Asks asks) {
    std::set<CellNumber> announced;
    Events to_parent{[&](std::size_t g, std::size_t i, const model::Record& record, const char* phase) {
                         if (announced.insert({g, i}).second) send_record(parent, "begin", {g, i}, record);
                         position.group = g;
                         position.index = i;
                         position.phase = phase;
                         position.in_cell = true;
                         ++position.beat;
                     },
                     [&](std::size_t g, std::size_t i, const model::Record& record) {
                         send_record(parent, "done", {g, i}, record);
                         position.in_cell = false;
                         ++position.beat;
                     }};
    if (asks == Asks::turns) to_parent.measures = [&](std::size_t g) { ask(parent, {{"measure", g}}); };
    AskedShare share(parent);
    device::report_faults_to(position.fault);
    devices.run(request, selector, to_parent, finished, asks == Asks::parts ? &share : nullptr);
    Message finish{{"finished", true}};
    if (const auto device_state = devices.device_state(selector))
        finish["device_state"] = nlohmann::json(*device_state);
    parent.send(finish);
}

std::unique_ptr<Worker> begin_worker(const run::RunRequest& request, const std::string& selector,
                                     const std::set<CellNumber>& finished, const device::DeviceState* known,
                                     Asks asks) {
    return std::make_unique<Worker>([&](Link& parent, Position& position) {
        LocalDevices devices;
        // The timer is what it was and the device as warm (host/README.md, rules 3 and 4); the programs of an
        // arrangement are of the bytes that the first one's driver gave.
        if (known && request.settings.goes_on) devices.inherit(selector, *known);
        if (request.settings.arrangement) devices.keep_programs();
        carry_out(devices, request, selector, finished, parent, position, asks);
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
    announced_ = question_ = nullptr;
    ++begun_;
    worker_.reset();
    worker_ = begin_(request_, finished_);
}

bool Lane::poll(double timeout_seconds, const Events& events) {
    std::string line;
    try {
        switch (worker_->poll(line, timeout_seconds)) {
            case Worker::Event::nothing:
                if (worker_->has_moved())
                    if (const auto* record = current())
                        events.begin(worker_->position().group, worker_->position().index, *record,
                                     worker_->position().phase.load());
                return false;
            case Worker::Event::line:
                take(line, events);
                return true;
            case Worker::Event::silent:
                worker_->kill_now();
                if (app::interrupted()) throw run::Interrupted{};
                lost(model::Status::timed_out, no_progress(timeout_seconds),
                     "an endless loop, or a write outside of a buffer", events);
                return true;
            case Worker::Event::ended:
                died(worker_->reap(), timeout_seconds, events);
                return true;
        }
    } catch (const run::Interrupted&) {
        interrupted_ = over_ = true;
    } catch (const DeviceLost& e) {
        fail(e.what());
    }
    return true;
}

void Lane::take(const std::string& line, const Events& events) {
    if (announced_.is_null()) {
        const auto message = parse_json<Message>(line);
        rethrow(message);
        if (message.contains("question")) {
            question_ = message.at("question");
            return;
        }
        if (message.contains("device_state"))
            device_state_ = nlohmann::json(message.at("device_state")).get<device::DeviceState>();
        over_ = message.contains("finished");
        if (!over_) announced_ = message;
        return;
    }
    const auto message = std::exchange(announced_, nullptr);
    const auto record = report::from_json(line);
    const bool done = message.contains("done");
    const auto cell = message.at(done ? "done" : "begin").get<CellNumber>();
    if (!done) {
        known_[cell] = record;
        events.begin(cell.first, cell.second, record, "build");
        return;
    }
    finished_.insert(cell);
    any_finished_ = true;
    events.done(cell.first, cell.second, record);
}

void Lane::died(int status, double timeout_seconds, const Events& events) {
    const auto is = [&](int signal) { return WIFSIGNALED(status) && WTERMSIG(status) == signal; };
    if (const std::string fault = worker_->position().fault; !fault.empty())
        return lost(model::Status::wrong_result, fault + " ended the driver's process", "", events);
    std::string cause = "a write or read outside of a buffer";
    if (is(SIGABRT)) cause = "an assertion of the driver, printed on standard error, or a write outside of a buffer";
    if (is(SIGSEGV) && passes_in_small_groups(timeout_seconds))
        cause =
            "a work-group whose private memory exceeds a thread's stack: the kernel runs with groups of one item, so "
            "write e.g. 'local 16'";
    lost(model::Status::launch_failed, death(status), cause, events);
}

/// The record of the cell that the worker is in, as it was at its beginning; nothing between cells.
const model::Record* Lane::current() const {
    const auto& position = worker_->position();
    const auto found = known_.find({position.group, position.index});
    return position.in_cell && found != known_.end() ? &found->second : nullptr;
}

/// Whether the cell in which the worker died of a segmentation fault goes through with work-groups of one item, which
/// need little of the stack.
bool Lane::passes_in_small_groups(double timeout_seconds) const {
    const auto& position = worker_->position();
    const auto* record = current();
    if (!record || std::string(position.phase.load()) != "verify" ||
        record->device.type != model::name(model::DeviceType::cpu))
        return false;
    auto request = request_;
    request.comparisons = {{request_.comparisons.at(position.group).at(position.index)}};
    auto& settings = request.settings;
    settings.measure = settings.arrangement = settings.read_code = false;
    settings.small_groups = true;
    settings.dumps.reset();
    try {
        const auto lines = in_child(
            [&](const HandOver& hand_over) {
                LocalDevices().run(request, selector_,
                                   {.done = [&](std::size_t, std::size_t, const model::Record& one) {
                                       hand_over(model::name(one.status));
                                   }});
            },
            "in the trial of small work-groups", timeout_seconds, timeout_seconds);
        return lines == std::vector<std::string>{model::name(model::Status::ok)};
    } catch (const DeviceLost&) {
        return false;
    }
}

/// `cause`: what it likely was when the kernel's text is not the lab's own.
void Lane::lost(model::Status status, const std::string& reason, const std::string& cause, const Events& events) {
    const auto& position = worker_->position();
    const CellNumber cell{position.group, position.index};
    const auto* known = current();
    if (!known || finished_.count(cell)) {
        // Between two cells: a new worker goes on. Before the first one, a second try would end the same way.
        if (!any_finished_) return fail("device " + selector_ + ": " + reason + " before its first cell");
    } else if (status == model::Status::launch_failed && request_.settings.builds_ahead &&
               known->device.type == model::name(model::DeviceType::gpu)) {
        request_.settings.builds_ahead = false;  // whose build it was is seen when each is alone
    } else {
        auto record = *known;
        record.status = status;
        const std::string phase = position.phase.load();
        record.reason = reason + " in phase '" + phase + "'";
        const bool foreign =
            !request_.settings.cl_dir.empty() || request_.comparisons.at(cell.first).at(cell.second).variant->own;
        if (foreign && !cause.empty() && phase != "build" && phase != "yardstick")
            record.reason += "; the likely cause is " + cause;
        finished_.insert(cell);
        events.done(cell.first, cell.second, record);
    }
    is_first_ = false;
    begin();
}

void Lane::fail(const std::string& why) {
    if (is_first_ && !any_finished_) {
        is_first_ = false;
        first_failed_ = true;
        return begin();
    }
    trouble_ = why;
    over_ = true;
}

bool Pool::turn() {
    std::vector<Worker*> workers;
    for (auto& lane : lanes_)
        if (!lane.over_) workers.push_back(lane.worker_.get());
    if (workers.empty()) return false;
    Worker::wait_for(workers);
    std::size_t number = 0;
    for (auto& lane : lanes_) {
        const auto begun = lane.begun_;
        if (!lane.question_.is_null()) lane.worker_->excuse();
        while (!lane.over_ && lane.poll(timeout_seconds_, events_)) {
        }
        if (coordinator_ && (lane.over_ || lane.begun_ != begun)) coordinator_->ended(number);
        ++number;
    }
    number = 0;
    for (auto& lane : lanes_) {
        if (!lane.over_ && !lane.question_.is_null())
            if (const auto answer = coordinator_->answer(number, lane.question_)) {
                lane.question_ = nullptr;
                lane.worker_->tell(*answer);
            }
        ++number;
    }
    return true;
}

}  // namespace cllab::app

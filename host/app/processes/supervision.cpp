#include "app/processes/supervision.hpp"

#include <sys/wait.h>

#include <csignal>
#include <utility>

#include "core/text.hpp"
#include "core/units.hpp"
#include "json/read.hpp"
#include "report/records/json.hpp"

namespace cllab::device {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimerAudit, reported_step_ns, step_ns, launches, ordered, varied, empty_seconds,
                                   gap_seconds, event_seconds, event_over_host, tenfold, trusted, verdict)

static std::string hex_of(const std::vector<std::byte>& bytes) {
    constexpr char digits[] = "0123456789abcdef";
    std::string out;
    out.reserve(2 * bytes.size());
    for (const auto byte : bytes) {
        out += digits[static_cast<unsigned>(byte) >> 4];
        out += digits[static_cast<unsigned>(byte) & 15];
    }
    return out;
}

static std::vector<std::byte> bytes_of(const std::string& hex) {
    const auto value = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
    std::vector<std::byte> out;
    out.reserve(hex.size() / 2);
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        out.push_back(static_cast<std::byte>(value(hex[i]) << 4 | value(hex[i + 1])));
    return out;
}

static void to_json(nlohmann::json& j, const Standing& s) {
    j = {{"audit", s.audit},
         {"settled", s.settled},
         {"last_use", s.last_use.time_since_epoch().count()},
         {"programs", nlohmann::json::object()}};
    for (const auto& [key, bytes] : s.programs) j["programs"][key] = hex_of(bytes);
}
static void from_json(const nlohmann::json& j, Standing& s) {
    s = {j.at("audit").get<TimerAudit>(),
         j.at("settled").get<bool>(),
         Clock::time_point(Clock::duration(j.at("last_use").get<Clock::rep>())),
         {}};
    for (const auto& [key, hex] : j.at("programs").items()) s.programs.emplace(key, bytes_of(hex.get<std::string>()));
}
}  // namespace cllab::device

namespace cllab::app {
namespace {

using run::CellNumber;

/// A message with a record in it, which is made into text once here and read once there.
void send_record(int fd, const char* what, CellNumber cell, const model::Record& record) {
    send(fd, Message{{what, cell}});
    send(fd, report::to_json_line(record));
}

}  // namespace

void carry_out(Here& here, const run::RunRequest& request, const std::string& selector,
               const std::set<CellNumber>& finished, const std::function<void(std::size_t)>& measures,
               Position& position, int fd, run::Share* share) {
    std::set<CellNumber> announced;
    const Events to_parent{[&](std::size_t g, std::size_t i, const model::Record& record, const char* phase) {
                               if (announced.insert({g, i}).second) send_record(fd, "begin", {g, i}, record);
                               position.group = g;
                               position.index = i;
                               position.phase = phase;
                               position.in_cell = true;
                               ++position.beat;
                           },
                           [&](std::size_t g, std::size_t i, const model::Record& record) {
                               send_record(fd, "done", {g, i}, record);
                               position.in_cell = false;
                               ++position.beat;
                           },
                           measures};
    device::report_faults_to(position.fault);
    here.run(request, selector, to_parent, finished, share);
    Message finish{{"finished", true}};
    if (const auto standing = here.standing(selector)) finish["standing"] = nlohmann::json(*standing);
    send(fd, finish);
}

bool Supervision::watch() {
    std::string line;
    for (;;) {
        switch (worker_->child->next(line, timeout_seconds_, *worker_->position, [this] { show(); })) {
            case Child::Event::line: {
                if (!announced_.is_null()) {
                    receive(std::exchange(announced_, nullptr), report::from_json(line));
                    break;
                }
                const auto message = parse_json<Message>(line);
                if (message.contains("error")) rethrow(message);
                if (message.contains("interrupted")) throw run::Interrupted{};
                if (message.contains("standing"))
                    standing_ = nlohmann::json(message.at("standing")).get<device::Standing>();
                if (message.contains("finished")) return true;
                announced_ = message;
                break;
            }
            case Child::Event::silent:
                worker_->child->kill_now();
                if (interrupted()) throw run::Interrupted{};
                lost(model::Status::timed_out, no_progress(timeout_seconds_),
                     "an endless loop, or a write outside of a buffer");
                return false;
            case Child::Event::ended: {
                died(worker_->child->reap());
                return false;
            }
        }
    }
}

void Supervision::died(int status) {
    const auto is = [&](int signal) { return WIFSIGNALED(status) && WTERMSIG(status) == signal; };
    if (const std::string fault = worker_->position->fault; !fault.empty())
        return lost(model::Status::wrong_result, fault + " ended the driver's process", "");
    std::string cause = "a write or read outside of a buffer";
    if (is(SIGABRT)) cause = "an assertion of the driver, printed on standard error, or a write outside of a buffer";
    if (is(SIGSEGV) && passes_in_small_groups())
        cause =
            "that the driver chose a work-group whose private memory exceeds a thread's stack: the kernel runs with "
            "groups of one item, so write e.g. 'local 16'";
    lost(model::Status::launch_failed, death(status), cause);
}

bool Supervision::passes_in_small_groups() const {
    const auto& position = worker_->position;
    const auto found = known_.find({position->group, position->index});
    const bool verifies = position->in_cell && std::string(position->phase.load()) == "verify";
    if (!verifies || found == known_.end() || found->second.device.type != model::name(model::DeviceType::cpu))
        return false;
    auto request = request_;
    request.comparisons = {{request_.comparisons.at(position->group).at(position->index)}};
    auto& settings = request.settings;
    settings.measure = settings.arrangement = settings.read_code = false;
    settings.small_groups = true;
    settings.dumps.reset();
    try {
        const auto lines = in_child(
            [&](const HandOver& hand_over) {
                Here().run(request, selector_,
                           {[](std::size_t, std::size_t, const model::Record&, const char*) {},
                            [&](std::size_t, std::size_t, const model::Record& record) {
                                hand_over(model::name(record.status));
                            }});
            },
            "in the trial of small work-groups", timeout_seconds_, timeout_seconds_);
        return lines == std::vector<std::string>{model::name(model::Status::ok)};
    } catch (const DeviceLost&) {
        return false;
    }
}

/// Where the child is, for those who watch.
void Supervision::show() const {
    const auto& position = worker_->position;
    const CellNumber cell{position->group, position->index};
    const auto found = known_.find(cell);
    if (position->in_cell && found != known_.end())
        events_.begin(cell.first, cell.second, found->second, position->phase.load());
}

void Supervision::receive(const Message& message, const model::Record& record) {
    const bool done = message.contains("done");
    const auto cell = message.at(done ? "done" : "begin").get<CellNumber>();
    if (!done) {
        known_[cell] = record;
        events_.begin(cell.first, cell.second, record, "build");
        return;
    }
    finished_.insert(cell);
    any_finished_ = true;
    events_.done(cell.first, cell.second, record);
}

/// `cause`: what it likely was when the kernel's text is not the lab's own.
void Supervision::lost(model::Status status, const std::string& reason, const std::string& cause) {
    const auto& position = worker_->position;
    const CellNumber cell{position->group, position->index};
    const auto found = known_.find(cell);
    if (!position->in_cell || found == known_.end() || finished_.count(cell)) {
        // Between two cells: a new child goes on. Before the first one, a second try would end the same way.
        if (any_finished_) return;
        throw DeviceLost("device " + selector_ + ": " + reason + " before its first cell");
    }
    if (status == model::Status::launch_failed && request_.settings.builds_ahead &&
        found->second.device.type == model::name(model::DeviceType::gpu)) {
        request_.settings.builds_ahead = false;  // whose build it was is seen when each is alone
        return;
    }
    auto record = found->second;
    record.status = status;
    const std::string phase = position->phase.load();
    record.reason = reason + " in phase '" + phase + "'";
    const bool foreign =
        !request_.settings.cl_dir.empty() || request_.comparisons.at(cell.first).at(cell.second).variant->own;
    if (foreign && !cause.empty() && phase != "build" && phase != "yardstick")
        record.reason += "; the likely cause is " + cause;
    finished_.insert(cell);
    events_.done(cell.first, cell.second, record);
}

}  // namespace cllab::app

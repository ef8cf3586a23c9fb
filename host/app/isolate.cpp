// Isolation by fork: the parent never calls OpenCL, so a child starts from a clean process and may crash or hang in a
// driver without taking the run along. Child to parent: one JSON object a line for what is worth a record, and a page of
// shared memory for where it is now, because a message before each sample would wake the parent and disturb the timing.
#include <map>
#include <set>
#include <utility>

#include "app/child.hpp"
#include "app/run_here.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "json/read.hpp"
#include "report/json.hpp"

namespace cllab::model {
// Facts cross from the child that asked the drivers to the parent that must not.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Device, selector, platform, platform_version, name, vendor, driver, device_version, c_version,
                                   type, implementation, compute_units, clock_mhz, global_bytes, max_alloc_bytes, local_bytes,
                                   constant_bytes, reported_cache_bytes, host_cache_bytes, host_cache_levels, last_level_bytes, cacheline_bytes, max_group,
                                   max_group_promised, max_items,
                                   preferred_multiple, base_align_bytes, images, fp64, fp16, local_is_dedicated, little_endian,
                                   unified_memory, image2d_max_width, image2d_max_height, extensions, compute_capability,
                                   identity)
}  // namespace cllab::model

namespace cllab::app {
namespace {

using Json = Message;

/// A message with a record in it, which is made into text once here and read once there.
void send_record(int fd, const char* what, run::CellNumber cell, const model::Record& record) {
    send(fd, Json{{what, cell}});
    send(fd, report::to_json_line(record));
}

using run::CellNumber;

/// One child's life: events become the parent's, a death becomes a record. True when the plan is finished.
class Supervision {
public:
    /// Adds to `finished`; a child that dies while builds may be under way for other cells takes builds_ahead from the request.
    Supervision(run::RunRequest& request, const std::string& selector, double timeout_seconds, const Events& events,
                std::set<CellNumber>& finished)
        : request_(request), selector_(selector), timeout_seconds_(timeout_seconds), events_(events), finished_(finished),
          child_([this](int fd) { child_work(fd); }) {}

    bool watch() {
        std::string line;
        for (;;) {
            switch (child_.next(line, timeout_seconds_, *position_, [this] { show(); })) {
                case Child::Event::line: {
                    if (!announced_.is_null()) {
                        receive(std::exchange(announced_, nullptr), report::from_json(line));
                        break;
                    }
                    const auto message = parse_json<Json>(line);
                    if (message.contains("error")) rethrow(message);
                    if (message.contains("interrupted")) throw run::Interrupted{};
                    if (message.contains("finished")) return true;
                    announced_ = message;
                    break;
                }
                case Child::Event::silent:
                    child_.kill_now();
                    if (interrupted()) throw run::Interrupted{};
                    lost(model::Status::timed_out,
                         "no progress for " + format_significant(timeout_seconds_, 3) + " s (--timeout)",
                         "an endless loop, or a write outside of a buffer");
                    return false;
                case Child::Event::ended:
                    lost(model::Status::launch_failed, death(child_.reap()), "a write or read outside of a buffer");
                    return false;
            }
        }
    }

private:
    void child_work(int fd) {
        std::set<CellNumber> announced;
        const Events to_parent{
            [&, fd](std::size_t g, std::size_t i, const model::Record& record, const char* phase) {
                if (announced.insert({g, i}).second)
                    send_record(fd, "begin", {g, i}, record);
                position_->group = g;
                position_->index = i;
                position_->phase = phase;
                position_->in_cell = true;
                ++position_->beat;
            },
            [&, fd](std::size_t g, std::size_t i, const model::Record& record) {
                send_record(fd, "done", {g, i}, record);
                position_->in_cell = false;
                ++position_->beat;
            },
            events_.ready};
        Here().run(request_, selector_, to_parent, finished_);
        send(fd, Json{{"finished", true}});
    }

    /// Where the child is, for those who watch.
    void show() const {
        const CellNumber cell{position_->group, position_->index};
        const auto found = known_.find(cell);
        if (position_->in_cell && found != known_.end()) events_.begin(cell.first, cell.second, found->second, position_->phase.load());
    }

    void receive(const Json& message, const model::Record& record) {
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
    void lost(model::Status status, const std::string& reason, const std::string& cause) {
        const CellNumber cell{position_->group, position_->index};
        const auto found = known_.find(cell);
        if (!position_->in_cell || found == known_.end() || finished_.count(cell)) {
            // Between two cells: a new child goes on. Before the first one, a second try would end the same way.
            if (any_finished_) return;
            throw DeviceLost("device " + selector_ + ": " + reason + " before its first cell");
        }
        if (status == model::Status::launch_failed && request_.settings.builds_ahead && found->second.device.type == model::name(model::DeviceType::gpu)) {
            request_.settings.builds_ahead = false;  // whose build it was is seen when each is alone
            return;
        }
        auto record = found->second;
        record.status = status;
        const std::string phase = position_->phase.load();
        record.reason = reason + " in phase '" + phase + "'";
        const bool foreign = !request_.settings.cl_dir.empty() || request_.comparisons.at(cell.first).at(cell.second).variant->own;
        if (foreign && phase != "build" && phase != "yardstick") record.reason += "; the likely cause is " + cause;
        finished_.insert(cell);
        events_.done(cell.first, cell.second, record);
    }

    run::RunRequest& request_;
    const std::string& selector_;
    double timeout_seconds_;
    const Events& events_;
    std::set<CellNumber>& finished_;
    SharedPage<Position> position_;
    std::map<CellNumber, model::Record> known_;
    bool any_finished_ = false;
    Json announced_;  ///< the message whose record is the next line
    Child child_;  // last: the child starts with everything above in place
};

class InChildProcesses : public Runner {
public:
    explicit InChildProcesses(double timeout_seconds) : timeout_seconds_(timeout_seconds) {}

    std::vector<model::Device> devices(const std::vector<std::string>& selectors, std::vector<std::string>* troubles) override {
        const auto lines = in_child(
            [&](const HandOver& hand_over) {
                std::vector<std::string> seen;
                hand_over(nlohmann::json(Here().devices(selectors, &seen)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
                for (const auto& trouble : seen) hand_over(trouble);
            },
            "while the devices were listed (`cllab devices` names the driver)", timeout_seconds_, timeout_seconds_);
        if (troubles) troubles->assign(lines.begin() + 1, lines.end());
        return nlohmann::json::parse(lines.at(0)).get<std::vector<model::Device>>();
    }

    void run(const run::RunRequest& request, const std::string& selector, const Events& events, const std::set<CellNumber>& already) override {
        auto finished = already;
        auto rest = request;
        while (!Supervision(rest, selector, timeout_seconds_, events, finished).watch()) {
        }
    }

private:
    double timeout_seconds_;
};

}  // namespace

std::unique_ptr<Runner> in_child_processes(double timeout_seconds) { return std::make_unique<InChildProcesses>(timeout_seconds); }

std::vector<std::string> in_child(const std::function<void(const HandOver&)>& work, const std::string& doing,
                                  double first_seconds, double seconds) {
    Child child([&](int fd) {
        work([&](const std::string& line) { send(fd, Json{{"line", line}}); });
        send(fd, Json{{"finished", true}});
    });
    std::vector<std::string> out;
    const Position no_position;
    for (std::string line;;) {
        const double limit = out.empty() ? first_seconds : seconds;
        switch (child.next(line, limit, no_position)) {
            case Child::Event::line: {
                const auto message = parse_json<Json>(line);
                if (message.contains("error")) rethrow(message);
                if (message.contains("interrupted")) throw run::Interrupted{};
                if (message.contains("finished")) return out;
                out.push_back(message.at("line").get<std::string>());
                break;
            }
            case Child::Event::silent:
                if (interrupted()) throw run::Interrupted{};
                throw DeviceLost(doing + " nothing happened for " + format_significant(limit, 3) + " s");
            case Child::Event::ended: throw DeviceLost(doing + " " + death(child.reap()));
        }
    }
}

}  // namespace cllab::app

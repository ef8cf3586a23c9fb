#include "app/processes/warm_worker.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <ranges>

#include "app/comparing/versus.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "device/program.hpp"
#include "json/read.hpp"

namespace cllab::app {
namespace {

/// What the first build of a process costs beside its own text (1.0 s for 0.2 s on PoCL 3.1, whose compiler reads its
/// library): a program that no cache of the driver's knows.
void warm_up_compiler(device::Session& session) {
    const auto now = Clock::now().time_since_epoch().count();
    const auto own = static_cast<std::uint64_t>(now) ^ (static_cast<std::uint64_t>(getpid()) << 40);
    device::build(
        session,
        "kernel void warm_up_" + std::to_string(own) + "(global float* out) { out[get_global_id(0)] = sin(out[0]); }\n",
        "");
}

/// While it lives nothing of this process comes to standard error: a compiler's warning of what nobody has run yet.
class SilentStderr {
public:
    SilentStderr() : kept_(dup(STDERR_FILENO)) { drop_stderr(); }
    ~SilentStderr() {
        if (kept_) dup2(kept_.number(), STDERR_FILENO);
    }

private:
    Descriptor kept_;
};

/// The cells that a comparison of the group will have, one version of them.
model::Group cells_of(const model::Group& group, bool saved) {
    if (group.size() < 2 || saved) return {group.front()};
    return {group.back(), control_of(group.back())};
}

}  // namespace

WarmWorker::WarmWorker(const std::string& selector, const Rebuild& rebuild, bool compiles, const Open& open)
    : compiles_(compiles), worker_(std::make_unique<Worker>([&](Link& parent, Position& position) {
          LocalDevices devices;
          work(devices, open(devices), selector, rebuild, parent, position);
      })) {}

WarmWorker::WarmWorker(const std::string& selector, const Rebuild& rebuild, bool compiles)
    : WarmWorker(selector, rebuild, compiles, [&](LocalDevices& devices) -> device::Session& {
          auto& session = devices.make_ready(selector);
          if (compiles) warm_up_compiler(session);
          return session;
      }) {}

WarmWorker::WarmWorker(const std::string& selector, const Rebuild& rebuild, const device::DeviceState& known,
                       const run::RunRequest& builds)
    : WarmWorker(selector, rebuild, false, [&](LocalDevices& devices) -> device::Session& {
          devices.inherit(selector, known);
          devices.keep_programs();
          auto& session = devices.open(selector);
          for (const auto& cell : builds.comparisons | std::views::join) devices.build(selector, builds.settings, cell);
          return session;
      }) {}

void WarmWorker::work(LocalDevices& devices, device::Session& session, const std::string& selector,
                      const Rebuild& rebuild, Link& parent, Position& position) {
    parent.send({{"ready", true}});
    for (;;) {
        const auto job = parent.receive();
        if (job.contains("ask")) {
            const SilentStderr silent;
            const auto builds = nlohmann::json(job.at("ask")).get<std::vector<AskedBuild>>();
            return parent.send(nlohmann::json(introspect(session, builds)));
        }
        if (job.contains("run")) {
            session.note_use(Clock::time_point(Clock::duration(job.at("last_use").get<Clock::rep>())));
            auto request = rebuild(job.at("run"), session.facts());
            if (!job.at("difference").is_null()) request = apply(std::move(request), job.at("difference"));
            return carry_out(devices, request, selector, {}, parent, position);
        }
        const SilentStderr silent;
        const bool builds = job.contains("build");
        for (const auto& one : job.at(builds ? "build" : "rehearse")) {
            // A guess at what somebody will want: where it is wrong, what comes is built when it is there.
            try {
                if (!builds) {
                    devices.run(apply(rebuild(one.at("recipe"), session.facts()), one.at("difference")), selector, {});
                    continue;
                }
                const auto request = rebuild(one, session.facts());
                for (const auto& group : request.comparisons)
                    for (const auto& cell : cells_of(group, job.at("saved").get<bool>()))
                        devices.build(selector, request.settings, cell);
            } catch (const std::exception&) {
            }
        }
        parent.send({{"ready", true}});
        if (!builds) return;
    }
}

void WarmWorker::tell(const Message& job) {
    busy_ = worker_->tell(job);
    gone_ = !busy_;
}

WarmWorker::State WarmWorker::after(Worker::Event event) {
    if (event == Worker::Event::nothing) return busy_ ? State::busy : State::idle;
    // It has nothing to say unless it was told something, or died.
    gone_ = !busy_ || event != Worker::Event::line || !parse_json<Message>(line_).contains("ready");
    busy_ = false;
    was_ready_ = was_ready_ || !gone_;
    gone_ = gone_ || rehearses_;  // it ends
    return gone_ ? State::gone : State::idle;
}

WarmWorker::State WarmWorker::poll() {
    constexpr double patience = std::numeric_limits<double>::infinity();
    return gone_ ? State::gone : after(worker_->poll(line_, patience));
}

bool WarmWorker::wait_until_idle(double seconds) {
    return (busy_ && !gone_ ? after(worker_->next(line_, seconds)) : poll()) == State::idle;
}

void WarmWorker::build(const std::vector<Message>& recipes, bool saved, unsigned number) {
    built_ = number;
    tell({{"build", recipes}, {"saved", saved}});
}

void WarmWorker::rehearse(const std::vector<Message>& requests) {
    rehearses_ = true;
    tell({{"rehearse", requests}});
}

std::optional<std::vector<model::Introspection>> WarmWorker::ask(const std::vector<AskedBuild>& builds,
                                                                 double seconds) {
    tell({{"ask", nlohmann::json(builds)}});
    if (gone_ || worker_->next(line_, seconds) != Worker::Event::line) return std::nullopt;
    const auto said = parse_json<nlohmann::json>(line_);
    if (!said.is_array()) return std::nullopt;
    auto found = said.get<std::vector<model::Introspection>>();
    const bool whole =
        found.size() == builds.size() && std::ranges::all_of(found, [](const auto& f) { return f.trouble.empty(); });
    return whole ? std::optional(std::move(found)) : std::nullopt;
}

std::unique_ptr<Worker> WarmWorker::run(const Message& recipe, const Message& difference, Clock::time_point last_use) {
    tell({{"last_use", last_use.time_since_epoch().count()}, {"run", recipe}, {"difference", difference}});
    return gone_ ? nullptr : std::move(worker_);
}

Message difference(const run::RunRequest& request) {
    const auto& settings = request.settings;
    auto cells = Message::array();
    for (const auto& group : request.comparisons) {
        cells.push_back(Message::array());
        for (const auto& cell : group)
            cells.back().push_back(Message{{"id", cell.id}, {"label", cell.label}, {"options", cell.options}});
    }
    return {{"cells", cells},
            {"seed", settings.seed},
            {"comparison", settings.run.order.comparison},
            {"arrangement", settings.arrangement},
            {"measure", settings.measure},
            {"sampling_seconds", settings.sampling_seconds},
            {"fresh_data", settings.fresh_data ? Message(*settings.fresh_data) : Message()},
            {"hot_seconds", settings.hot_seconds},
            {"dumps", settings.dumps.has_value()}};
}

run::RunRequest apply(run::RunRequest base, const Message& difference) {
    std::vector<model::Group> comparisons;
    for (const auto& cells : difference.at("cells")) {
        comparisons.emplace_back();
        for (const auto& wanted : cells) {
            const auto id = wanted.at("id").get<std::string>(), label = wanted.at("label").get<std::string>();
            const model::Cell* found = nullptr;
            for (const auto& cell : base.comparisons | std::views::join)
                if (cell.id == id && cell.label == label) found = &cell;
            if (!found) throw Error(Blame::usage, "the files have changed, and '" + id + "' is no longer there");
            comparisons.back().push_back(*found);
            comparisons.back().back().options = wanted.at("options").get<std::string>();
        }
    }
    base.comparisons = std::move(comparisons);
    auto& settings = base.settings;
    settings.seed = difference.at("seed").get<std::uint64_t>();
    settings.run.order.comparison = difference.at("comparison").get<std::uint64_t>();
    settings.arrangement = difference.at("arrangement").get<bool>();
    settings.measure = difference.at("measure").get<bool>();
    settings.sampling_seconds = difference.at("sampling_seconds").get<double>();
    const auto& fresh = difference.at("fresh_data");
    settings.fresh_data = fresh.is_null() ? std::nullopt : std::optional(fresh.get<bool>());
    settings.hot_seconds = difference.at("hot_seconds").get<double>();
    if (!difference.at("dumps").get<bool>()) settings.dumps.reset();
    return base;
}

}  // namespace cllab::app

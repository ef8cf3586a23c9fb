// Isolation by fork: the parent never calls OpenCL, so a child starts from a clean process and may crash or hang in a
// driver without taking the run along. Child to parent: one JSON object a line for what is worth a record, and a page of
// shared memory for where it is now, because a message before each sample would wake the parent and disturb the timing.
#include <atomic>
#include <csignal>
#include <cstring>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <set>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "app/errors.hpp"
#include "app/run_here.hpp"
#include "app/stdout_guard.hpp"
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

using Json = nlohmann::ordered_json;  // keeps the order of axes and metrics

void send(int fd, const std::string& text) {
    const auto line = text + "\n";
    for (std::size_t at = 0; at < line.size();) {
        const auto n = write(fd, line.data() + at, line.size() - at);
        if (n <= 0) _exit(3);  // the parent is gone
        at += static_cast<std::size_t>(n);
    }
}

void send(int fd, const Json& message) { send(fd, message.dump(-1, ' ', false, Json::error_handler_t::replace)); }

/// A message with a record in it, which is made into text once here and read once there.
void send(int fd, const char* what, run::CellNumber cell, const model::Record& record) {
    send(fd, Json{{what, cell}});
    send(fd, report::to_json_line(record));
}

/// Where the child is: written by the child before each phase of a cell, read by the parent when it stalls or dies.
struct Position {
    std::atomic<std::uint64_t> beat{0};
    std::atomic<std::size_t> group{0}, index{0};
    std::atomic<bool> in_cell{false};
    std::atomic<const char*> phase{"start"};  ///< a string literal: same address in parent and child after fork
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<const char*>::is_always_lock_free);

class SharedPosition {
public:
    SharedPosition() {
        page_ = mmap(nullptr, sizeof(Position), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (page_ == MAP_FAILED)
            throw Error(Blame::environment, std::string("no shared memory for a child process: ") + std::strerror(errno));
        new (page_) Position;
    }
    ~SharedPosition() { munmap(page_, sizeof(Position)); }
    SharedPosition(const SharedPosition&) = delete;
    SharedPosition& operator=(const SharedPosition&) = delete;
    Position& operator*() { return *static_cast<Position*>(page_); }
    Position* operator->() { return static_cast<Position*>(page_); }
    const Position* operator->() const { return static_cast<const Position*>(page_); }

private:
    void* page_;
};

class Child {
public:
    explicit Child(const std::function<void(int)>& work) {
        int ends[2];
        if (pipe(ends) != 0) throw Error(Blame::environment, std::string("no pipe for a child process: ") + std::strerror(errno));
        [[maybe_unused]] const auto parent = getpid();
        pid_ = fork();
        if (pid_ < 0) throw Error(Blame::environment, std::string("no child process: ") + std::strerror(errno));
        if (pid_ == 0) {
            close(ends[0]);
#ifdef __linux__
            prctl(PR_SET_PDEATHSIG, SIGKILL);  // a parent that was killed takes a hanging child along
            if (getppid() != parent) _exit(3);
#endif
            note_interrupts();
            for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGQUIT, SIGHUP}) std::signal(signal, SIG_DFL);
            std::signal(SIGPIPE, SIG_IGN);
            drop_stdout();
            try {
                work(ends[1]);
            } catch (const run::Interrupted&) {
                send(ends[1], Json{{"interrupted", true}});
            } catch (const std::exception& e) {
                const auto error = as_error(e);
                send(ends[1], Json{{"error", error.what()}, {"blame", static_cast<int>(error.blame())}});
            }
            _exit(0);  // destructors of drivers hang now and then; everything is on its way already
        }
        close(ends[1]);
        fd_ = ends[0];
    }
    ~Child() {
        kill_now();
        close(fd_);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    enum class Event { line, ended, silent };
    /// The next line, or why there is none. Silent: neither a line nor a change of `position` for `seconds`. `moved` is told
    /// of a change, ten times a second at most.
    Event next(std::string& line, double seconds, const Position& position, const std::function<void()>& moved = [] {}) {
        std::uint64_t beat = position.beat;
        for (double waited = 0;;) {
            if (position.beat != beat) {
                beat = position.beat;
                waited = 0;
                moved();
            }
            const auto end = buffer_.find('\n');
            if (end != std::string::npos) {
                line = buffer_.substr(0, end);
                buffer_.erase(0, end + 1);
                return Event::line;
            }
            if (interrupted() && !told_) {
                kill(pid_, SIGINT);  // winds down: finishes cells that have samples
                told_ = true;
                waited = 0;
                seconds = 10;
            }
            pollfd wait{fd_, POLLIN, 0};
            constexpr int slice_ms = 100;
            const int ready = poll(&wait, 1, slice_ms);
            if (ready == 0) {
                waited += slice_ms * 1e-3;
                if (waited >= seconds) return Event::silent;
                continue;
            }
            if (ready < 0) continue;  // a signal; looked at above
            char chunk[65536];
            const auto n = read(fd_, chunk, sizeof chunk);
            if (n <= 0) return Event::ended;
            buffer_.append(chunk, static_cast<std::size_t>(n));
        }
    }
    void kill_now() {
        if (pid_ <= 0) return;
        kill(pid_, SIGKILL);
        reap();
    }
    /// The wait status of the child, once.
    int reap() {
        int status = 0;
        while (pid_ > 0 && waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        pid_ = -1;
        return status;
    }

private:
    pid_t pid_ = -1;
    int fd_ = -1;
    std::string buffer_;
    bool told_ = false;
};

std::string death(int status) {
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        const char* name = sigabbrev_np(signal);
        return std::string("the driver's process was killed by SIG") + (name ? name : std::to_string(signal)) + " (" +
               strsignal(signal) + ")";
    }
    return "the driver ended the process with exit status " + std::to_string(WEXITSTATUS(status));
}

[[noreturn]] void rethrow(const Json& message) {
    const auto blame = static_cast<Blame>(message.at("blame").get<int>());
    if (blame == Blame::environment) throw DeviceLost(message.at("error").get<std::string>());
    throw Error(blame, message.at("error").get<std::string>());
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
                    send(fd, "begin", {g, i}, record);
                position_->group = g;
                position_->index = i;
                position_->phase = phase;
                position_->in_cell = true;
                ++position_->beat;
            },
            [&, fd](std::size_t g, std::size_t i, const model::Record& record) {
                send(fd, "done", {g, i}, record);
                position_->in_cell = false;
                ++position_->beat;
            }};
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
    SharedPosition position_;
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

    void run(const run::RunRequest& request, const std::string& selector, const Events& events) override {
        std::set<CellNumber> finished;
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

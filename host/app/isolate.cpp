// Isolation by fork: the parent never calls OpenCL, so a child starts from a clean process and may crash or hang in a
// driver without taking the run along. Child to parent: one JSON object a line.
#include <csignal>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/job.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "report/json.hpp"

namespace cllab::app {
namespace {

using Json = nlohmann::json;

void send(int fd, const Json& message) {
    const auto line = message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    for (std::size_t at = 0; at < line.size();) {
        const auto n = write(fd, line.data() + at, line.size() - at);
        if (n <= 0) _exit(3);  // the parent is gone
        at += static_cast<std::size_t>(n);
    }
}

class Child {
public:
    explicit Child(const std::function<void(int)>& work) {
        int ends[2];
        if (pipe(ends) != 0) throw Error(Blame::environment, std::string("no pipe for a child process: ") + std::strerror(errno));
        pid_ = fork();
        if (pid_ < 0) throw Error(Blame::environment, std::string("no child process: ") + std::strerror(errno));
        if (pid_ == 0) {
            close(ends[0]);
            std::signal(SIGINT, SIG_IGN);  // the parent decides
            std::signal(SIGPIPE, SIG_IGN);
            try {
                work(ends[1]);
            } catch (const Error& e) {
                send(ends[1], {{"error", e.what()}, {"blame", static_cast<int>(e.blame())}});
            } catch (const std::exception& e) {
                send(ends[1], {{"error", e.what()}, {"blame", static_cast<int>(Blame::result)}});
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

    enum class Event { line, ended, silent, interrupted };
    /// The next line within `seconds`, or why there is none.
    Event next(std::string& line, double seconds) {
        for (double waited = 0;;) {
            const auto end = buffer_.find('\n');
            if (end != std::string::npos) {
                line = buffer_.substr(0, end);
                buffer_.erase(0, end + 1);
                return Event::line;
            }
            if (interrupted()) return Event::interrupted;
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
    throw Error(static_cast<Blame>(message.at("blame").get<int>()), message.at("error").get<std::string>());
}

using CellNumber = std::pair<std::size_t, std::size_t>;

/// One child's life. Returns true when the plan is finished on this device.
bool one_child(Job& job, const std::string& selector, const Events& events) {
    Child child([&](int fd) {
        const Events to_parent{
            [fd](std::size_t g, std::size_t i, const model::Record& record, const char* phase) {
                send(fd, {{"begin", {g, i}}, {"phase", phase}, {"record", Json::parse(report::to_json_line(record))}});
            },
            [fd](std::size_t g, std::size_t i, const model::Record& record) {
                send(fd, {{"done", {g, i}}, {"record", Json::parse(report::to_json_line(record))}});
            }};
        run_on(job, selector, to_parent);
        send(fd, {{"finished", true}});
    });
    model::Record current;
    CellNumber number{0, 0};
    std::string phase = "start";
    bool any = false;
    const auto lost = [&](model::Status status, const std::string& reason) {
        if (!any) {  // died before the first cell: nothing would change in a second try
            throw Error(Blame::environment, "device " + selector + ": " + reason + " before the first cell");
        }
        current.status = status;
        current.reason = reason + " in '" + phase + "'";
        current.samples.clear();
        current.metrics.clear();
        current.time.reset();
        job.options.skip.insert(number);
        events.done(number.first, number.second, current);
    };
    std::string line;
    for (;;) {
        switch (child.next(line, job.invocation.timeout_seconds)) {
            case Child::Event::line: {
                const auto message = Json::parse(line);
                if (message.contains("error")) rethrow(message);
                if (message.contains("finished")) return true;
                const bool done = message.contains("done");
                number = message.at(done ? "done" : "begin").get<CellNumber>();
                current = report::from_json(message.at("record").dump());
                any = true;
                if (done) {
                    job.options.skip.insert(number);
                    if (current.id == "bandwidth_copy" && number.first == 0) {
                        for (const auto& [name, metric] : current.metrics) {
                            if (name == "bandwidth") job.options.copy_bandwidth = metric.value;
                        }
                    }
                    events.done(number.first, number.second, current);
                } else {
                    phase = message.at("phase").get<std::string>();
                    events.begin(number.first, number.second, current, phase.c_str());
                }
                break;
            }
            case Child::Event::silent:
                child.kill_now();
                lost(model::Status::timed_out,
                     "no progress for " + format_significant(job.invocation.timeout_seconds, 3) + " s (--timeout)");
                return false;
            case Child::Event::ended: lost(model::Status::launch_failed, death(child.reap())); return false;
            case Child::Event::interrupted: child.kill_now(); throw run::Interrupted{};
        }
    }
}

}  // namespace

void run_isolated(const Job& job, const std::string& selector, const Events& events) {
    Job rest = job;
    rest.options.skip.clear();
    while (!one_child(rest, selector, events)) {
    }
}

std::vector<std::string> resolve_isolated(const Job& job) {
    Child child([&](int fd) { send(fd, {{"selectors", resolve_devices(job)}}); });
    std::string line;
    switch (child.next(line, job.invocation.timeout_seconds)) {
        case Child::Event::line: {
            const auto message = Json::parse(line);
            if (message.contains("error")) rethrow(message);
            return message.at("selectors").get<std::vector<std::string>>();
        }
        case Child::Event::interrupted: throw run::Interrupted{};
        case Child::Event::silent:
            throw Error(Blame::environment, "the OpenCL drivers here did not list their devices within the --timeout");
        case Child::Event::ended: break;
    }
    throw Error(Blame::environment, "while the devices were listed " + death(child.reap()));
}

}  // namespace cllab::app

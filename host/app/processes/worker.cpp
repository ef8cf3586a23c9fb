#include "app/processes/worker.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <utility>

#include "app/processes/runner.hpp"
#include "app/program.hpp"
#include "app/screen/streams.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "device/driver_settings.hpp"
#include "json/read.hpp"

namespace cllab::app {
namespace {

constexpr int slice_ms = 100;

Error failed(const std::string& what) {
    return {Blame::environment, "cannot " + what + " for a child process: " + std::strerror(errno)};
}

std::shared_ptr<Position> shared_position() {
    void* page = mmap(nullptr, sizeof(Position), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw failed("allocate shared memory");
    return {new (page) Position, [](Position* position) { munmap(position, sizeof(Position)); }};
}

/// Moves the first line out of the buffer; false if the buffer has no complete line.
bool take_line(std::string& buffer, std::string& line) {
    const auto end = buffer.find('\n');
    if (end == std::string::npos) return false;
    line = buffer.substr(0, end);
    buffer.erase(0, end + 1);
    return true;
}

/// Reads more bytes; false at the end of the stream or after an error.
bool read_more(int descriptor, std::string& buffer) {
    char chunk[65536];
    ssize_t n = -1;
    do n = ::read(descriptor, chunk, sizeof chunk);
    while (n < 0 && errno == EINTR);
    if (n > 0) buffer.append(chunk, static_cast<std::size_t>(n));
    return n > 0;
}

/// False if the other end is closed.
bool write_line(int descriptor, const std::string& text) {
    const auto line = text + "\n";
    for (std::size_t at = 0; at < line.size();) {
        const auto n = ::send(descriptor, line.data() + at, line.size() - at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += static_cast<std::size_t>(n);
    }
    return true;
}

[[noreturn]] void carry_out(const Worker::Work& work, int socket, Position& position) {
    note_interrupts();
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGQUIT, SIGHUP}) std::signal(signal, SIG_DFL);
    std::signal(SIGPIPE, SIG_IGN);
    drop_stdout();
    device::use_own_cache();
    Link parent(socket);
    try {
        work(parent, position);
    } catch (const run::Interrupted&) {
        parent.send({{"interrupted", true}});
    } catch (const std::exception& e) {
        const auto error = as_error(e);
        parent.send({{"error", error.what()}, {"blame", static_cast<int>(error.blame())}});
    }
    _exit(0);  // destructors of drivers sometimes hang; all messages are already sent
}

}  // namespace

std::filesystem::path this_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

std::filesystem::path own_library(const char* name) {
    std::error_code ignored;
    const auto folder = this_program().parent_path();
    for (const auto& path : {folder / name, folder.parent_path() / "lib" / "cllab" / name})
        if (std::filesystem::is_regular_file(path, ignored)) return path;
    return {};
}

void Link::send_line(const std::string& text) {
    if (!write_line(descriptor_, text)) _exit(3);
}

void Link::send(const Message& message) { send_line(json_text(message)); }

Message Link::receive() {
    std::string line;
    while (!take_line(buffer_, line))
        if (!read_more(descriptor_, buffer_)) _exit(0);
    return parse_json<Message>(line);
}

Worker::Worker(const Work& work) : position_(shared_position()) {
    SocketPair sockets;  // close-on-exec: tools that the worker starts may outlive it
    if (!sockets.ours) throw failed("open a socket");
    const auto parent = getpid();
    pid_ = fork();
    if (pid_ < 0) throw Error(Blame::environment, std::string("cannot start a child process: ") + std::strerror(errno));
    if (pid_ == 0) {
        sockets.ours.close();
        prctl(PR_SET_PDEATHSIG, SIGKILL);  // a killed parent takes a hanging child along
        if (getppid() != parent) _exit(3);
        carry_out(work, sockets.theirs.number(), *position_);
    }
    socket_ = std::move(sockets.ours);
}

bool Worker::tell(const Message& message) { return write_line(socket_.number(), json_text(message)); }

Worker::Event Worker::poll(std::string& line, double seconds) {
    if (interrupted() && !interrupted_) {
        kill(pid_, SIGINT);  // winds down: finishes cells that have samples
        interrupted_ = true;
        quiet_ = 0;
    }
    if (const std::uint64_t beat = position_->beat; beat != beat_) {
        beat_ = beat;
        quiet_ = 0;
    }
    pollfd wait{socket_.number(), POLLIN, 0};
    bool ended = false;
    while (!ended && buffer_.find('\n') == std::string::npos && ::poll(&wait, 1, 0) > 0)
        ended = !read_more(socket_.number(), buffer_);
    if (take_line(buffer_, line)) {
        quiet_ = 0;
        return Event::line;
    }
    constexpr double to_wind_down = 10;
    return ended ? Event::ended : quiet_ >= (interrupted_ ? to_wind_down : seconds) ? Event::silent : Event::nothing;
}

Worker::Event Worker::next(std::string& line, double seconds, const std::function<void()>& moved,
                           const std::function<void(double)>& quiet) {
    constexpr double long_quiet = 10;
    quiet_ = 0;
    for (double told = 0;; wait()) {
        if (const auto event = poll(line, seconds); event != Event::nothing) return event;
        if (has_moved() && moved) moved();
        told = std::min(told, quiet_);
        if (quiet && quiet_ >= told + long_quiet) quiet(told += long_quiet);
    }
}

/// Counts at most one slice: a longer wait means that this process was stopped too.
void Worker::wait() {
    if (buffer_.find('\n') != std::string::npos) return;
    pollfd wait{socket_.number(), POLLIN, 0};
    const auto start = Clock::now();
    ::poll(&wait, 1, slice_ms);
    quiet_ += std::min(seconds_since(start), slice_ms * 1e-3);
}

/// Whether the worker's position has changed since the last call.
bool Worker::has_moved() {
    const auto before = shown_;
    shown_ = position_->beat;
    return shown_ != before;
}

void Worker::kill_now() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    reap();
}

int Worker::reap() {
    int status = 0;
    while (pid_ > 0 && waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
}

std::string death(int status) {
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        const char* name = sigabbrev_np(signal);
        return std::string("the driver's process was killed by SIG") + (name ? name : std::to_string(signal)) + " (" +
               strsignal(signal) + ")";
    }
    return "the driver ended the process with exit status " + std::to_string(WEXITSTATUS(status));
}

std::string no_progress(double seconds) {
    return "no progress for " + format_significant(seconds, 3) + " s (--timeout)";
}

void rethrow(const Message& message) {
    if (message.contains("interrupted")) throw run::Interrupted{};
    if (!message.contains("error")) return;
    const auto blame = static_cast<Blame>(message.at("blame").get<int>());
    if (blame == Blame::environment) throw DeviceLost(message.at("error").get<std::string>());
    throw Error(blame, message.at("error").get<std::string>());
}

std::vector<std::string> in_child(const std::function<void(const HandOver&)>& work, const std::string& doing,
                                  double first_seconds, double seconds, const HandOver& taken) {
    Worker worker([&](Link& parent, Position&) {
        work([&](const std::string& line) { parent.send({{"line", line}}); });
        parent.send({{"finished", true}});
    });
    std::vector<std::string> out;
    for (std::string line;;) {
        const double limit = out.empty() ? first_seconds : seconds;
        const auto event = worker.next(line, limit);
        if (event == Worker::Event::ended) throw DeviceLost(doing + " " + death(worker.reap()));
        if (event == Worker::Event::silent) {
            if (interrupted()) throw run::Interrupted{};
            throw DeviceLost(doing + " no progress for " + format_significant(limit, 3) + " s");
        }
        const auto message = parse_json<Message>(line);
        rethrow(message);
        if (message.contains("finished")) return out;
        out.push_back(message.at("line").get<std::string>());
        if (taken) taken(out.back());
    }
}

void in_children(std::size_t parts, const std::function<void(std::size_t first, const HandOver&)>& work,
                 const std::string& doing, double first_seconds, double seconds,
                 const std::function<void(std::size_t part, const std::string& line)>& taken,
                 const std::function<std::string(const std::string& why)>& lost) {
    for (std::size_t part = 0; part < parts;) {
        bool is_ready = false;
        const auto take = [&](const std::string& line) {
            if (interrupted()) throw run::Interrupted{};
            if (std::exchange(is_ready, true)) taken(part++, line);
        };
        try {
            in_child([&](const HandOver& hand_over) { work(part, hand_over); }, doing, first_seconds, seconds, take);
        } catch (const DeviceLost& e) {
            if (!is_ready) throw;
            if (part < parts) taken(part++, lost(e.what()));  // a child may die after its last part
        }
    }
}

}  // namespace cllab::app

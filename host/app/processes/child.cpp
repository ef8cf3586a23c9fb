#include "app/processes/child.hpp"

#include <poll.h>
#include <sys/mman.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include "app/errors.hpp"
#include "app/processes/runner.hpp"
#include "app/screen/stdout_guard.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "device/driver_settings.hpp"

namespace cllab::app {

std::filesystem::path this_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

void send(int fd, const std::string& text) {
    const auto line = text + "\n";
    for (std::size_t at = 0; at < line.size();) {
        const auto n = write(fd, line.data() + at, line.size() - at);
        if (n <= 0) _exit(3);  // the parent is gone
        at += static_cast<std::size_t>(n);
    }
}

void send(int fd, const Message& message) { send(fd, message.dump(-1, ' ', false, Message::error_handler_t::replace)); }

SharedMemory::SharedMemory(std::size_t bytes)
    : page_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)), bytes_(bytes) {
    if (page_ == MAP_FAILED)
        throw Error(Blame::environment, std::string("no shared memory for a child process: ") + std::strerror(errno));
}

SharedMemory::~SharedMemory() { munmap(page_, bytes_); }

Child::Child(const std::function<void(int)>& work) {
    Pipe pipe;  // closed in the tools that the child starts: they may outlive it, and this end waits for the last one
    if (!pipe.read)
        throw Error(Blame::environment, std::string("no pipe for a child process: ") + std::strerror(errno));
    [[maybe_unused]] const auto parent = getpid();
    pid_ = fork();
    if (pid_ < 0) throw Error(Blame::environment, std::string("no child process: ") + std::strerror(errno));
    if (pid_ == 0) {
        pipe.read.close();
        const int parents = pipe.write.number();
#ifdef __linux__
        prctl(PR_SET_PDEATHSIG, SIGKILL);  // a parent that was killed takes a hanging child along
        if (getppid() != parent) _exit(3);
#endif
        note_interrupts();
        for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGQUIT, SIGHUP})
            std::signal(signal, SIG_DFL);
        std::signal(SIGPIPE, SIG_IGN);
        drop_stdout();
        device::use_own_cache();
        try {
            work(parents);
        } catch (const run::Interrupted&) {
            send(parents, Message{{"interrupted", true}});
        } catch (const std::exception& e) {
            const auto error = as_error(e);
            send(parents, Message{{"error", error.what()}, {"blame", static_cast<int>(error.blame())}});
        }
        _exit(0);  // destructors of drivers hang now and then; everything is on its way already
    }
    fd_ = std::move(pipe.read);
}

Child::~Child() { kill_now(); }

Child::Event Child::next(std::string& line, double seconds, const Position& position,
                         const std::function<void()>& moved) {
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
        pollfd wait{fd_.number(), POLLIN, 0};
        constexpr int slice_ms = 100;
        const int ready = poll(&wait, 1, slice_ms);
        if (ready == 0) {
            waited += slice_ms * 1e-3;
            if (waited >= seconds) return Event::silent;
            continue;
        }
        if (ready < 0) continue;  // a signal; looked at above
        char chunk[65536];
        const auto n = ::read(fd_.number(), chunk, sizeof chunk);
        if (n <= 0) return Event::ended;
        buffer_.append(chunk, static_cast<std::size_t>(n));
    }
}

void Child::kill_now() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    reap();
}

int Child::reap() {
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
    const auto blame = static_cast<Blame>(message.at("blame").get<int>());
    if (blame == Blame::environment) throw DeviceLost(message.at("error").get<std::string>());
    throw Error(blame, message.at("error").get<std::string>());
}

}  // namespace cllab::app

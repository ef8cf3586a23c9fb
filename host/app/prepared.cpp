#include "app/prepared.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "device/program.hpp"
#include "json/read.hpp"

namespace cllab::app {
namespace {

/// For a child: its job. Ends the process when the parent is gone.
Message read_job(int fd) {
    std::string text;
    char chunk[65536];
    while (text.empty() || text.back() != '\n') {
        const auto n = ::read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) _exit(0);
        text.append(chunk, static_cast<std::size_t>(n));
    }
    return parse_json<Message>(text);
}

/// False: nobody reads it.
bool write_job(int fd, const Message& job) {
    const auto text = job.dump(-1, ' ', false, Message::error_handler_t::replace) + "\n";
    for (std::size_t at = 0; at < text.size();) {
        const auto n = ::send(fd, text.data() + at, text.size() - at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += static_cast<std::size_t>(n);
    }
    return true;
}

/// What the first build of a process costs beside its own text (1.0 s for 0.2 s on PoCL 3.1, whose compiler reads its library): a program
/// that no cache of the driver's knows.
void warm_up_compiler(device::Session& session) {
    const auto own = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count()) ^ (static_cast<std::uint64_t>(getpid()) << 40);
    device::build(session, "kernel void warm_up(global float* out) { out[get_global_id(0)] = sin(out[0]) + " + std::to_string(own) + "ul; }\n", "");
}

/// Of those that wait so many have a warm compiler: one asks about the arguments, one builds what was saved, one the control.
constexpr std::size_t builders = 3;

}  // namespace

struct Prepared::Waiting {
    Waiting(const std::string& selector, const Rebuild& rebuild, bool builds) : is_builder(builds) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            throw Error(Blame::environment, std::string("no socket for a child process: ") + std::strerror(errno));
        job = ends[0];
        worker = std::make_unique<Worker>();
        auto& position = *worker->position;
        worker->child = std::make_unique<Child>([&, ends](int fd) {
            close(ends[0]);
            Here here;
            auto& session = here.make_ready(selector);
            if (builds) warm_up_compiler(session);
            send(fd, Message{{"ready", true}});
            const auto job = read_job(ends[1]);
            if (job.contains("ask")) {
                drop_stderr();
                const nlohmann::json found = introspect(session, nlohmann::json(job.at("ask")).get<std::vector<AskedBuild>>());
                return send(fd, found.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
            }
            session.note_use(Clock::time_point(Clock::duration(job.at("last_use").get<Clock::rep>())));
            const auto request = apply(rebuild(job.at("recipe"), session.facts()), job.at("difference"));
            carry_out(here, request, selector, {}, {}, position, fd);
        });
        close(ends[1]);
    }
    ~Waiting() { close(job); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    bool has_news() const {
        pollfd wait{worker->child->descriptor(), POLLIN, 0};
        return poll(&wait, 1, 0) > 0;
    }

    bool is_builder;
    int job = -1;
    std::unique_ptr<Worker> worker;
};

Prepared::Prepared(double timeout_seconds, std::size_t waiting, Rebuild rebuild)
    : timeout_seconds_(timeout_seconds), wanted_(waiting), rebuild_(std::move(rebuild)), at_once_(in_child_processes(timeout_seconds)) {}

Prepared::~Prepared() = default;

void Prepared::tend() {
    if (devices_.size() != 1 || !devices_.front().is_cpu() || devices_.front().implementation == model::Implementation::oclgrind) return;
    if (starting_) {
        if (!starting_->has_news()) return;
        std::string line;
        const Position nowhere;
        // A driver that does not start here, or not so often, is not asked again.
        if (starting_->worker->child->next(line, timeout_seconds_, nowhere) == Child::Event::line && parse_json<Message>(line).contains("ready")) {
            if (starting_->is_builder) ready_.push_front(std::move(starting_));
            else ready_.push_back(std::move(starting_));
        } else {
            wanted_ = 0;
        }
        starting_.reset();
    }
    if (ready_.size() >= wanted_) return;
    const auto can_build = static_cast<std::size_t>(std::count_if(ready_.begin(), ready_.end(), [](const auto& one) { return one->is_builder; }));
    starting_ = std::make_unique<Waiting>(devices_.front().selector, rebuild_, can_build < builders);
}

std::unique_ptr<Prepared::Waiting> Prepared::take() {
    starting_.reset();  // what starts now would disturb what is measured
    while (!ready_.empty()) {
        auto out = std::move(ready_.front());
        ready_.pop_front();
        if (!out->has_news()) return out;  // it has nothing to say unless it died
    }
    return nullptr;
}

std::vector<model::Introspection> Prepared::ask(const std::vector<AskedBuild>& builds) {
    const auto waiting = take();
    if (!waiting || !write_job(waiting->job, Message{{"ask", nlohmann::json(builds)}})) return {};
    std::string line;
    const Position nowhere;
    if (waiting->worker->child->next(line, std::max(timeout_seconds_, 60.0), nowhere) != Child::Event::line) return {};
    const auto said = parse_json<nlohmann::json>(line);
    if (!said.is_array()) return {};
    auto found = said.get<std::vector<model::Introspection>>();
    const bool whole = found.size() == builds.size() && std::all_of(found.begin(), found.end(), [](const auto& f) { return f.trouble.empty(); });
    return whole ? found : std::vector<model::Introspection>{};
}

std::vector<model::Device> Prepared::devices(const std::vector<std::string>& selectors, std::vector<std::string>* troubles) {
    if (devices_.empty()) devices_ = at_once_->devices(selectors, troubles);
    return devices_;
}

void Prepared::run(const run::RunRequest& request, const std::string& selector, const Events& events, const std::set<run::CellNumber>& already) {
    auto rest = request;
    auto finished = already;
    auto waiting = already.empty() && !request.yardstick && !recipe_.is_null() ? take() : nullptr;
    // The device is as warm as the process before has left it (method rule 4).
    const auto last_use = last_use_.time_since_epoch().count();
    bool over = false;
    if (waiting && write_job(waiting->job, Message{{"last_use", last_use}, {"recipe", recipe_}, {"difference", difference(request)}})) {
        try {
            over = Supervision(std::move(waiting->worker), rest, selector, timeout_seconds_, events, finished).watch();
        } catch (const DeviceLost&) {
            if (!finished.empty()) throw;  // else a process made now says what it was
        }
    }
    if (!over) at_once_->run(rest, selector, events, finished);
    last_use_ = Clock::now();
}

Message difference(const run::RunRequest& request) {
    const auto& settings = request.settings;
    auto cells = Message::array();
    for (const auto& group : request.comparisons) {
        cells.push_back(Message::array());
        for (const auto& cell : group) cells.back().push_back(Message{{"id", cell.id}, {"label", cell.label}, {"options", cell.options}});
    }
    return {{"cells", cells}, {"seed", settings.seed}, {"arrangement", settings.arrangement}, {"measure", settings.measure},
            {"sampling_seconds", settings.sampling_seconds}, {"hot_seconds", settings.hot_seconds}, {"dumps", settings.dumps.has_value()}};
}

run::RunRequest apply(run::RunRequest base, const Message& difference) {
    std::vector<model::Group> comparisons;
    for (const auto& cells : difference.at("cells")) {
        comparisons.emplace_back();
        for (const auto& wanted : cells) {
            const auto id = wanted.at("id").get<std::string>(), label = wanted.at("label").get<std::string>();
            const model::Cell* found = nullptr;
            for (const auto& group : base.comparisons)
                for (const auto& cell : group)
                    if (cell.id == id && cell.label == label) found = &cell;
            if (!found) throw Error(Blame::usage, "the files have changed, and '" + id + "' is no longer there");
            comparisons.back().push_back(*found);
            comparisons.back().back().options = wanted.at("options").get<std::string>();
        }
    }
    base.comparisons = std::move(comparisons);
    auto& settings = base.settings;
    settings.seed = difference.at("seed").get<std::uint64_t>();
    settings.arrangement = difference.at("arrangement").get<bool>();
    settings.measure = difference.at("measure").get<bool>();
    settings.sampling_seconds = difference.at("sampling_seconds").get<double>();
    settings.hot_seconds = difference.at("hot_seconds").get<double>();
    if (!difference.at("dumps").get<bool>()) settings.dumps.reset();
    return base;
}

}  // namespace cllab::app

#include "app/processes/simulation.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <utility>

#include "app/processes/worker.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "device/driver_settings.hpp"
#include "explain/advice.hpp"
#include "inspect/cuda/ncu_counters.hpp"
#include "inspect/cuda/replay.hpp"
#include "inspect/tools/tool.hpp"
#include "json/read.hpp"
#include "model/params.hpp"
#include "report/table/verdict.hpp"
#include "run/launch_once.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// A GPU as the launch's target: typical sizes, no particular caches or units.
model::Device some_gpu(const model::Device& simulator, unsigned wave) {
    auto out = simulator;
    out.type = model::DeviceType::gpu;
    out.implementation = model::Implementation::other;
    out.compute_units = 16;
    out.max_group = out.max_group_promised = 1024;
    out.max_items = {1024, 1024, 64};
    out.preferred_multiple = wave;
    out.local_is_dedicated = true;
    out.local_bytes = 48 << 10;
    out.last_level_bytes = 4 << 20;
    return out;
}

/// Files that the simulator writes: its log, its errors on loading, and the plugin's counts.
struct SimulatorFiles {
    fs::path folder, log = folder / "log", errors = folder / "errors", counts = folder / "counts";

    std::string fatal() const {
        const auto text = cllab::read_file(log).value_or("");
        const auto at = text.find("OCLGRIND FATAL ERROR");
        if (at != std::string::npos) {
            const auto lines = split(text.substr(at), '\n');
            return "the simulator gave up: " + (lines.size() > 1 ? trim(lines[1]) : "without a reason");
        }
        const auto loading = cllab::read_file(errors).value_or("");
        const auto failed = loading.find("Loading Oclgrind plugin failed");
        return failed == std::string::npos
                   ? ""
                   : "the simulator did not load the plugin: " + one_line(loading.substr(failed));
    }
    /// Adds what the simulator's log says about errors of the kernel. `command`: shows their lines.
    void add_faults(std::vector<model::NotCounted>& out, const std::string& command) const {
        const auto text = cllab::read_file(log).value_or("");
        const auto says = [&](const char* what) { return text.find(what) != std::string::npos; };
        const auto where = "the kernel is wrong there; " + command + " says where";
        if (says("Invalid read of size") || says("Invalid write of size"))
            out.push_back({"what lies outside of buffers", where});
        if (says("divergence detected (barrier)")) out.push_back({"waiting at a barrier that some never reach", where});
    }
};

/// In the child process.
void launch(const model::Cell& cell, const CountSettings& settings, double seconds, unsigned groups,
            const SimulatorFiles& said, Link& parent) {
    if (const Descriptor errors(open(said.errors.c_str(), O_WRONLY | O_CREAT, 0600)); errors)
        dup2(errors.number(), STDERR_FILENO);
    use_oclgrind(settings.simulator, {{"OCLGRIND_QUICK", "1"},
                                      {"OCLGRIND_LOG", said.log},
                                      {"CLLAB_COUNT_WAVE", std::to_string(settings.wave)},
                                      {"CLLAB_COUNT_GROUPS", std::to_string(groups)}});
    // The plugin stops in time by itself. This limit counts ticks of the system clock. Under load, the ticks differ by
    // some percent from the time that the plugin reads.
    constexpr double slack = 1.1;
    const auto most_seconds = static_cast<rlim_t>(std::ceil(slack * seconds));
    const rlimit limit{most_seconds, most_seconds + 1};
    setrlimit(RLIMIT_CPU, &limit);
    LocalDevices here;
    auto& session = open_oclgrind(here);
    const auto as = some_gpu(session.facts(), settings.wave);
    const auto before = [&](const run::LaunchedOnce& known) {
        const auto point =
            model::resolve(*cell.experiment, {*cell.variant, cell.point, as, settings.run.seed, settings.run.files});
        parent.send({{"point", point.values()}, {"launches", known.launches}, {"assumed", known.assumed}});
        const double left = std::max(0.1, seconds - processor_seconds());
        setenv("CLLAB_COUNT_FILE", said.counts.c_str(), 1);
        setenv("CLLAB_COUNT_SECONDS", std::to_string(left).c_str(), 1);
        setenv("CLLAB_COUNT_LAUNCHES", std::to_string(known.launches).c_str(), 1);
    };
    const auto done = run::launch_once(session, settings.run, cell, as, before);
    parent.send({{"status", static_cast<int>(done.status)}, {"reason", done.reason}});
}

struct WorkerReply {
    Message said = Message::object();
    bool silent = false;
    int end = 0;  ///< wait status
    bool has_no_time_left() const { return WIFSIGNALED(end) && (WTERMSIG(end) == SIGXCPU || WTERMSIG(end) == SIGKILL); }
};

WorkerReply listen(Worker& worker, double seconds) {
    WorkerReply out;
    const double patience = 60 + 10 * seconds;  // other processes may use most of the CPU
    std::string line;
    for (;; worker.wait()) {
        if (interrupted()) throw run::Interrupted{};
        const auto event = worker.poll(line, patience);
        if (event == Worker::Event::nothing) continue;
        if (event == Worker::Event::silent) {
            out.silent = true;
            return out;
        }
        if (event == Worker::Event::ended) {
            out.end = worker.reap();
            return out;
        }
        const auto said = parse_json<Message>(line);
        rethrow(said);
        out.said.update(said);
    }
}

void judge(const WorkerReply& heard, const SimulatorFiles& said, double budget, Simulated& out) {
    using model::Status;
    const auto fail = [&](Status status, const std::string& why) {
        out.status = status;
        out.trouble = why;
    };
    if (heard.silent) return fail(Status::timed_out, "the simulator made no progress and was stopped");
    if (heard.has_no_time_left()) {
        if (!out.launches.empty()) return;  // keep the groups that were done when the budget ended
        out.too_long = true;
        return fail(Status::timed_out,
                    "simulating one work-group takes longer than --count-budget, " + format_exact(budget) + " s");
    }
    if (WIFSIGNALED(heard.end))
        return fail(Status::launch_failed,
                    "the simulator crashed; it may lack a function that the source uses, or need more than " +
                        format_bytes(most_simulator_bytes) + " of memory");
    if (heard.said.contains("status")) {
        if (const auto status = static_cast<Status>(heard.said.at("status").get<int>()); status != Status::ok)
            return fail(status, heard.said.at("reason"));
    }
    if (!out.launches.empty()) return;
    const auto fatal = said.fatal();
    fail(Status::launch_failed, fatal.empty() ? "the simulator ran no kernel of the operation" : fatal);
}

/// Adds the facts that concern all launches of the operation. `argv`: the command line.
void complete(const model::Cell& cell, const std::vector<std::string>& argv, const WorkerReply& heard,
              const SimulatorFiles& said, Simulated& out) {
    model::Record record{.variant = cell.variant->name, .point = out.point, .argv = argv};
    const auto file = cell.variant->own ? cell.variant->own->path : cell.id;
    bool in_part = false;  // an earlier launch was simulated in part
    double counted = 0;
    for (auto& counts : out.launches) {
        counts.id = cell.id;
        counts.point = out.point;
        counted += counts.launches;
        if (in_part && counts.by_data) {
            counts.not_counted.push_back(
                {"what depends on the data of launches before this one", "they were simulated in part"});
            forget_means(counts);
        }
        in_part = in_part || counts.counted_groups < counts.groups || counts.launches > 1;
        counts.assumed = heard.said.value("assumed", std::vector<std::string>{});
        said.add_faults(counts.not_counted, report::check_command(record, file));
    }
    out.left = out.count_of_launches > counted ? out.count_of_launches - counted : 0;
    if (!out.launches.empty() && out.left > 0)
        out.launches.back().not_counted.push_back(
            {format_exact(out.left) + " more launches of the operation", "the budget ended before them"});
}

/// nullopt if the launch does not fit the point, for example with fewer work-items than a group has.
std::optional<Simulated> simulate_if_it_fits(const model::Cell& cell, const CountSettings& settings, double seconds,
                                             unsigned groups) {
    try {
        return simulate(cell, settings, seconds, groups);
    } catch (const Error& e) {
        if (e.blame() != Blame::usage) throw;
        return std::nullopt;
    }
}

model::CountGrowth growth_of(const model::Counts& c) {
    return {c.point, c.instructions.mean, flops(c), asked_bytes(c)};
}

constexpr std::uint64_t most_buffer_bytes = 2ull << 30;  ///< total of all buffers
constexpr std::uint64_t most_local_bytes = 228 << 10;    ///< per work-group; the largest of any GPU

/// Empty if Oclgrind is not installed.
fs::path find_library() {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/etc/OpenCL/vendors", ignored)) {
        const auto text = trim(cllab::read_file(entry.path()).value_or(""));
        if (text.find("oclgrind") != std::string::npos && fs::exists(text, ignored)) return text;
    }
    for (const char* path : {"/usr/lib/oclgrind/liboclgrind-rt-icd.so", "/usr/lib/liboclgrind-rt-icd.so",
                             "/usr/local/lib/liboclgrind-rt-icd.so"})
        if (fs::exists(path, ignored)) return path;
    return {};
}

/// Empty if this program was built without the plugin.
fs::path find_plugin() {
    const char* given = std::getenv("CLLAB_COUNT_PLUGIN");
    if (!given) return own_library("cllab-count-plugin.so");
    std::error_code ignored;
    if (fs::is_regular_file(given, ignored)) return given;
    throw Error(Blame::environment, "file '" + excerpt(given) + "' (CLLAB_COUNT_PLUGIN) not found");
}

std::string key_of(const model::Cell& cell) {
    std::string out = cell.id + "\n" + cell.options;
    for (const auto& [axis, value] : cell.point.values()) out += "\n" + axis + "=" + value;
    return out;
}

}  // namespace

Choice chosen_in_simulator(const CellOptions& invocation) {
    try {
        return Choice(invocation);
    } catch (const DeviceLost&) {
        throw Error(Blame::result,
                    "the simulator crashed while it built the kernel file; it may lack a function or an extension that "
                    "the source uses");
    }
}

Simulated simulate(const model::Cell& cell, const CountSettings& settings, double seconds, unsigned groups) {
    const inspect::TempFolder folder;
    const SimulatorFiles said{folder.path()};
    Worker worker([&](Link& parent, Position&) { launch(cell, settings, seconds, groups, said, parent); });
    const auto heard = listen(worker, seconds);
    Simulated out;
    out.point = heard.said.value("point", model::PointValues{});
    out.count_of_launches = heard.said.value("launches", 1.0);
    try {
        out.launches = count::read_launches(said.counts, static_cast<std::size_t>(out.count_of_launches));
    } catch (const Error& e) {
        out.status = model::Status::launch_failed;
        out.trouble = e.what();
        return out;
    }
    judge(heard, said, settings.budget_seconds, out);
    complete(cell, settings.run.argv, heard, said, out);
    return out;
}

std::optional<model::Cell> smaller(const model::Cell& cell, const model::PointValues& point, std::int64_t divisor) {
    constexpr std::int64_t large = 1024, least = 256;
    auto out = cell;
    bool any = false;
    for (const auto& [name, text] : point) {
        const auto& axes = cell.experiment->axes;
        const auto axis = std::ranges::find(axes, name, &model::Axis::name);
        const auto value = parse_integer(text);
        const bool is_size = axis != axes.end() && axis->kind == model::Axis::Kind::integer && axis->tune.empty();
        if (!is_size || !value || *value < large || *value / divisor < least) continue;
        out.point.set(name, std::to_string(*value / divisor / axis->multiple_of * axis->multiple_of));
        any = true;
    }
    return any ? std::optional(out) : std::nullopt;
}

Simulated count_cell(const model::Cell& cell, const CountSettings& settings) {
    constexpr unsigned few_groups = 11;
    constexpr double least_seconds = 0.3;  // start-up time of the simulator
    constexpr double first_share = 0.6;    // of the budget; the rest is for smaller points
    const bool has_axes = !cell.point.values().empty();
    auto out = simulate(cell, settings, settings.budget_seconds * (has_axes ? first_share : 1));
    if (!out.too_long) return out;
    std::vector<Simulated> found;
    double left = settings.budget_seconds * (1 - first_share);
    for (const std::int64_t divisor : {1024, 256, 64, 16, 4}) {
        const auto other = smaller(cell, out.point, divisor);
        if (!other || left < least_seconds) continue;
        auto one = simulate_if_it_fits(*other, settings, left, few_groups);
        if (!one) continue;
        if (one->status != model::Status::ok) break;
        for (const auto& c : one->launches) left -= c.seconds;
        found.push_back(*std::move(one));
    }
    if (found.empty()) return out;
    auto largest = std::move(found.back());
    found.pop_back();
    for (auto& counts : largest.launches) {
        counts.asked_point = out.point;
        for (const auto& one : found)
            for (const auto& c : one.launches)
                if (c.kernel == counts.kernel) counts.growth.push_back(growth_of(c));
        counts.growth.push_back(growth_of(counts));
    }
    return largest;
}

Oclgrind find_oclgrind(const std::string& for_what, bool needs_plugin) {
    Oclgrind out{find_library(), find_plugin()};
    if (out.library.empty())
        throw Error(Blame::environment,
                    for_what + " needs Oclgrind, which is not installed; on Debian: apt-get install oclgrind");
    if (needs_plugin && out.plugin.empty())
        throw Error(Blame::environment,
                    "this cllab was built without the counting plugin; on Debian: apt-get install liboclgrind-dev "
                    "llvm-14-dev, then rebuild cllab");
    return out;
}

void use_oclgrind(const Oclgrind& simulator, const std::map<std::string, std::string>& settings) {
    auto variables = settings;
    if (!simulator.plugin.empty()) variables.emplace("OCLGRIND_PLUGINS", simulator.plugin);
    variables.emplace("OCLGRIND_GLOBAL_MEM_SIZE", std::to_string(most_buffer_bytes));
    // Some devices limit constant memory only by global memory.
    variables.emplace("OCLGRIND_CONSTANT_MEM_SIZE", std::to_string(most_buffer_bytes));
    variables.emplace("OCLGRIND_LOCAL_MEM_SIZE", std::to_string(most_local_bytes));
    device::use_only_drivers({{"oclgrind.icd", simulator.library}}, variables);
}

device::Session& open_oclgrind(LocalDevices& devices) {
    const rlimit limit{most_simulator_bytes, most_simulator_bytes};
    setrlimit(RLIMIT_AS, &limit);
    auto& session = devices.open(devices.devices({"oclgrind"}, nullptr).front().selector);
    session.set_guards(false);  // the simulator reports accesses outside of buffers; guards would be inside
    return session;
}

unsigned wave_of(const model::Limits& limits) {
    const auto* width = limits.find("divergence.width.full");
    return width && width->value >= 1 && width->value <= count::widest_wave
               ? static_cast<unsigned>(std::lround(width->value))
               : CountSettings().wave;
}

CellCounts::CellCounts(const run::RunRequest& request, double budget_seconds, unsigned wave,
                       const std::function<void(const std::string&)>& progress) {
    if (budget_seconds <= 0) return;
    CountSettings settings;
    try {
        settings.simulator = find_oclgrind("cllab why");
    } catch (const Error& e) {
        none_ = e.what();
        return;
    }
    settings.run = request.settings;
    settings.run.dumps.reset();
    settings.budget_seconds = budget_seconds;
    settings.wave = wave;
    for (const auto& cell : request.comparisons | std::views::join) {
        progress("counting what " + cell.id + " executes");
        auto& found = found_[key_of(cell)];
        try {
            auto simulated = simulate(cell, settings, budget_seconds);
            if (simulated.status != model::Status::ok)
                found.why_not = simulated.trouble;
            else if (simulated.left > 0)
                found.why_not = "the budget ended before its last launch";
            else
                found.launches = std::move(simulated.launches);
            for (const auto& counts : found.launches)
                if (!counts.bounded)
                    found.why_not = counts.not_counted.front().what + ": " + counts.not_counted.front().why;
            if (!found.why_not.empty()) found.launches.clear();
            if (found.launches.size() > 1) found.why_not = "an operation has several launches";
        } catch (const Error& e) {
            found.why_not = e.what();
        }
    }
}

std::string CellCounts::Found::unlike(double items) const {
    if (!why_not.empty() || launches.size() != 1 || items <= 0) return why_not;
    const auto& counted = launches.front();
    if (!counted.asked_point.empty() || counted.items == items) return {};
    return "it was counted as a GPU runs it, with " + format_exact(counted.items) + " work-items, and has " +
           format_exact(items) + " here";
}

void CellCounts::add_to(const model::Cell& cell, model::Record& record, std::string& why_not) const {
    const auto found = found_.find(key_of(cell));
    why_not = found == found_.end() ? none_ : found->second.unlike(record.work.groups * record.work.group);
    if (found != found_.end() && why_not.empty() && found->second.launches.size() == 1)
        record.counts = std::make_shared<const model::Counts>(found->second.launches.front());
}

std::string CellCounts::difference(const Launched& a, const Launched& b, double as_long, bool waves,
                                   double named_ratio) const {
    const auto unknown = [](const std::string& why) {
        return "What they execute differently was not counted: " + why + ".";
    };
    if (found_.empty()) return none_.empty() ? "" : unknown(none_);
    for (const auto& [cell, items] : {a, b}) {
        const auto& found = found_.at(key_of(cell));
        const auto why_not = found.unlike(items);
        if (found.launches.empty() || (found.launches.size() == 1 && !why_not.empty()))
            return unknown(cell.id + ": " + why_not);
    }
    return explain::difference(found_.at(key_of(a.cell)).launches, found_.at(key_of(b.cell)).launches, as_long, waves,
                               named_ratio);
}

std::string count_by_ncu(const model::Cell& cell, const model::Device& device, std::uint64_t seed,
                         double timeout_seconds, model::Record& record) {
    const auto ncu = inspect::find_tool({"ncu"});
    if (!ncu) return "Nsight Compute's ncu is not installed";
    try {
        const auto replay = inspect::replay_of(cell, device, record, seed);
        const inspect::TempFolder folder;
        inspect::write_cuda_launch(folder.path(), replay.setup, replay.entry, replay.ptx, device.identity, seed);
        const auto limit = std::chrono::milliseconds(static_cast<long>(1000 * timeout_seconds));
        auto found = inspect::profile_replay(*ncu, replay, folder.path(), inspect::Count::everything, limit);
        if (!found.trouble.empty()) return found.trouble;
        if (const auto wrong = inspect::check_cuda_launch(folder.path(), replay.setup, seed))
            return "the launch through the CUDA driver is wrong: " + *wrong;
        // Profiling uses other clocks and cold caches, so the launch may take longer. A larger difference means another
        // kernel.
        const auto seconds = inspect::counter(found.counters, "gpu__time_duration.sum");
        constexpr double most = 4;
        if (!seconds || *seconds > most * record.time->median + 1e-5 || most * *seconds < record.time->median - 1e-5)
            return "the launch through the CUDA driver takes another time";
        record.counters = std::move(found.counters);
    } catch (const std::runtime_error& e) {  // Unsupported, or Error
        return e.what();
    }
    return "";
}

}  // namespace cllab::app

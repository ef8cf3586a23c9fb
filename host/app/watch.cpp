// `run --watch`: each save of a kernel file, or of a family's file below --cl-dir, is built, verified, and compared with the version before.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

#include "app/choice.hpp"
#include "app/commands.hpp"
#include "app/runner.hpp"
#include "app/say.hpp"
#include "app/watch.hpp"
#include "core/error.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "inspect/tool.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;

constexpr auto look_every = std::chrono::milliseconds(50);

/// The texts of the files looked at.
using Version = std::vector<std::string>;

Version version_of(const std::vector<fs::path>& files) {
    Version out;
    for (const auto& file : files) out.push_back(inspect::read_file(file).value_or(""));
    return out;
}

/// Waits until the files have another content that stays for a moment; nothing when interrupted. The first `needed` of them are
/// never empty: one that is being replaced is for a moment.
std::optional<Version> next_version(const std::vector<fs::path>& files, std::size_t needed, const Version& known) {
    for (auto last = known;;) {
        if (interrupted()) return std::nullopt;
        std::this_thread::sleep_for(look_every);
        const auto now = version_of(files);
        const bool whole = std::none_of(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(needed), [](const auto& text) { return text.empty(); });
        if (now != known && now == last && whole) return now;
        last = now;
    }
}

/// What `f` returns, the exit status, or 1 when what stands in the file cannot be run; never throws for the file's content.
template <typename F>
int attempt(F f) {
    try {
        return f();
    } catch (const Error& e) {
        if (e.blame() == Blame::environment) throw;
        say(e.what());
        return 1;
    }
}

void say_watching(const std::string& what) { say("watching " + what + "; save it to compare, Ctrl-C ends"); }

/// One of the runs that watching is made of: the first.
Invocation single_run(Invocation invocation) {
    invocation.watch = false;
    invocation.no_yardstick = true;
    return invocation;
}

/// One that follows a save: somebody waits for it.
Invocation quick(Invocation invocation) {
    invocation.append = true;
    invocation.comparison_seconds = invocation.comparison_seconds < 10 ? invocation.comparison_seconds : 1;
    invocation.sampling_seconds = std::min(invocation.sampling_seconds, 0.1);
    return invocation;
}

int watch_file(const Invocation& asked) {
    auto invocation = single_run(asked);
    const auto& pattern = asked.patterns.front();
    const auto path = fs::path(pattern.substr(0, pattern.rfind(".cl") + 3));
    const auto before = (path.parent_path() / (path.stem().string() + ".before.cl")).string();
    auto beside = path;
    const std::vector<fs::path> files{path, beside.replace_extension(".cllab")};
    auto now = version_of(files);
    std::optional<Version> right;  // the last version that was
    if (attempt([&] { return command_run(invocation); }) == 0) right = now;
    invocation.append = true;
    for (;;) {
        if (interrupted()) return 130;
        say_watching("'" + path.string() + "'");
        const auto next = next_version(files, 1, now);
        if (!next) return 130;
        now = *next;
        if (!right) {
            if (attempt([&] { return command_run(invocation); }) == 0) right = now;
            continue;
        }
        std::vector<std::string> kernels;
        const auto read = [&] {
            for (const auto& s : Choice(invocation).selected()) kernels.push_back(s.variant->name);
            return 0;
        };
        if (attempt(read) != 0) continue;
        bool fine = true;
        for (const auto& kernel : kernels) {
            auto pair = quick(invocation);
            pair.patterns = {path.string() + ":" + kernel};
            pair.versus = before + ":" + kernel;
            Watched watched;
            watched.files = {{before, {path.string(), right->front()}}};
            fine = attempt([&] { return command_run(pair, &watched); }) == 0 && fine;
            if (interrupted()) return 130;
        }
        // A version that leaves another result may be the one that is right: it is the one to compare with from now on.
        if (!fine) {
            auto alone = invocation;
            alone.verify_only = true;
            fine = attempt([&] { return command_run(alone); }) == 0;
        }
        if (fine) right = now;
    }
}

/// Families read from --cl-dir. A variant that was not right keeps the version that was.
int watch_families(const Invocation& asked) {
    const auto invocation = single_run(asked);
    const fs::path folder = asked.cl_dir;
    std::vector<model::Selected> selected = Choice(invocation).selected();
    std::vector<std::string> families;
    for (const auto& s : selected)
        if (std::find(families.begin(), families.end(), s.experiment->family) == families.end()) families.push_back(s.experiment->family);
    std::vector<fs::path> files;
    for (const auto& family : families) files.push_back(folder / (family + ".cl"));
    const auto needed = files.size();
    files.push_back(folder / "include" / "lab.h");

    Watched watched;
    std::map<std::string, std::string> texts;  // of the families, as they are built
    const auto run = [&](const Invocation& one) {
        texts.clear();
        for (const auto& family : families) texts[family] = run::kernel_source(family, folder).text;
        watched.built.clear();
        const int status = command_run(one, &watched);
        // A file that was saved meanwhile is the next version.
        for (const auto& [cell, built] : watched.built)
            if (const auto& text = texts.at(built.family); built.sha256 == sha256_hex(text)) watched.before[cell] = std::make_shared<const model::StoredBuild>(model::StoredBuild{text, built.options});
        return status;
    };
    auto now = version_of(files);
    attempt([&] { return run(invocation); });
    for (;;) {
        if (interrupted()) return 130;
        std::vector<std::string> names;
        for (std::size_t i = 0; i < needed; ++i) names.push_back("'" + files[i].string() + "'");
        say_watching(join(names, ", "));
        const auto next = next_version(files, needed, now);
        if (!next) return 130;
        auto changed = quick(invocation);
        changed.patterns.clear();
        for (const auto& s : selected) {
            const auto family = static_cast<std::size_t>(std::find(families.begin(), families.end(), s.experiment->family) - families.begin());
            if ((*next)[family] != now[family] || next->back() != now.back()) changed.patterns.push_back(s.id);
        }
        now = *next;
        attempt([&] { return run(changed); });
    }
}

}  // namespace

int watch(const Invocation& asked) {
    const bool own = std::any_of(asked.patterns.begin(), asked.patterns.end(), names_kernel_file);
    if (!asked.versus.empty() || (own ? asked.patterns.size() != 1 : asked.cl_dir.empty()))
        throw Error(Blame::usage, "--watch takes one kernel file, as in `cllab run my.cl --watch` or my.cl:kernel, or kernels of this program with "
                                  "--cl-dir DIR, and no --vs");
    catch_interrupts();
    return own ? watch_file(asked) : watch_families(asked);
}

}  // namespace cllab::app

// `cllab run FILE.cl --watch`: each save is built, verified, and compared with the version before.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>

#include "app/choice.hpp"
#include "app/commands.hpp"
#include "app/runner.hpp"
#include "app/say.hpp"
#include "core/error.hpp"
#include "inspect/tool.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;

constexpr auto look_every = std::chrono::milliseconds(50);

/// What is looked at: the text and what is said beside it. A file that is being replaced is empty for a moment.
struct Version {
    std::string text, beside;
    bool operator==(const Version&) const = default;
};

Version version_of(const fs::path& path) {
    auto beside = path;
    beside.replace_extension(".cllab");
    return {inspect::read_file(path).value_or(""), inspect::read_file(beside).value_or("")};
}

/// Waits until the file has another content that stays for a moment; nothing when interrupted.
std::optional<Version> next_version(const fs::path& path, const Version& known) {
    for (auto last = known;;) {
        if (interrupted()) return std::nullopt;
        std::this_thread::sleep_for(look_every);
        const auto now = version_of(path);
        if (now != known && now == last && !now.text.empty()) return now;
        last = now;
    }
}

}  // namespace

int watch(const Invocation& asked) {
    if (asked.patterns.size() != 1 || !names_kernel_file(asked.patterns.front()) || !asked.versus.empty())
        throw Error(Blame::usage, "--watch takes one kernel file, as in `cllab run my.cl --watch` or my.cl:kernel, and no --vs");
    auto invocation = asked;
    invocation.watch = false;
    invocation.no_yardstick = true;
    const auto& pattern = asked.patterns.front();
    const auto path = fs::path(pattern.substr(0, pattern.rfind(".cl") + 3));
    const auto before = (path.parent_path() / (path.stem().string() + ".before.cl")).string();
    catch_interrupts();
    // The exit status, or 1 when what stands in the file cannot be run; never throws for the file's content.
    const auto attempt = [](const Invocation& one, const std::map<std::string, Earlier>& earlier) {
        try {
            return command_run(one, earlier);
        } catch (const Error& e) {
            if (e.blame() == Blame::environment) throw;
            say(e.what());
            return 1;
        }
    };
    auto now = version_of(path);
    std::optional<Version> right;  // the last version that was
    if (attempt(invocation, {}) == 0) right = now;
    invocation.append = true;
    for (;;) {
        if (interrupted()) return 130;
        say("watching '" + path.string() + "'; save it to compare, Ctrl-C ends");
        const auto next = next_version(path, now);
        if (!next) return 130;
        now = *next;
        if (!right) {
            if (attempt(invocation, {}) == 0) right = now;
            continue;
        }
        std::vector<std::string> kernels;
        try {
            for (const auto& s : Choice(invocation).selected()) kernels.push_back(s.variant->name);
        } catch (const Error& e) {
            if (e.blame() == Blame::environment) throw;
            say(e.what());
            continue;
        }
        bool fine = true;
        for (const auto& kernel : kernels) {
            auto pair = invocation;
            pair.patterns = {path.string() + ":" + kernel};
            pair.versus = before + ":" + kernel;
            pair.comparison_seconds = asked.comparison_seconds < 10 ? asked.comparison_seconds : 1;
            pair.sampling_seconds = std::min(asked.sampling_seconds, 0.1);
            fine = attempt(pair, {{before, {path.string(), right->text}}}) == 0 && fine;
            if (interrupted()) return 130;
        }
        // A version that leaves another result may be the one that is right: it is the one to compare with from now on.
        if (!fine) {
            auto alone = invocation;
            alone.verify_only = true;
            fine = attempt(alone, {}) == 0;
        }
        if (fine) right = now;
    }
}

}  // namespace cllab::app

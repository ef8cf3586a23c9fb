// `run --watch`: each save of a kernel file, or of a family's file below --cl-dir, is built, verified, and compared
// with the version before.
#include "app/commands/watch.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

#include "app/choose/choice.hpp"
#include "app/choose/request.hpp"
#include "app/commands.hpp"
#include "app/comparing/versus.hpp"
#include "app/processes/runner.hpp"
#include "app/screen/say.hpp"
#include "core/error.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "inspect/tools/tool.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;

constexpr auto look_every = std::chrono::milliseconds(20);

/// The texts of the files looked at.
using Version = std::vector<std::string>;

Version version_of(const std::vector<fs::path>& files) {
    Version out;
    for (const auto& file : files) out.push_back(inspect::read_file(file).value_or(""));
    return out;
}

/// Waits until the files have another content that stays for a moment; nothing when interrupted. The first `needed` of
/// them are never empty: one that is being replaced is for a moment. The time is used to make processes for what will
/// be saved.
std::optional<Version> next_version(const std::vector<fs::path>& files, std::size_t needed, const Version& known,
                                    Prepared& prepared) {
    for (auto last = known;;) {
        if (interrupted()) return std::nullopt;
        std::this_thread::sleep_for(look_every);
        const auto now = version_of(files);
        const bool whole = std::none_of(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(needed),
                                        [](const auto& text) { return text.empty(); });
        if (now != known && now == last && whole) return now;
        if (now == known) prepared.tend();
        last = now;
    }
}

/// What `f` returns, the exit status, or 1 when what stands in the file cannot be run; never throws for the file's
/// content.
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
    invocation.comparison_seconds = invocation.comparison_seconds < 10 ? invocation.comparison_seconds : 0.7;
    invocation.sampling_seconds = std::min(invocation.sampling_seconds, 0.1);
    return invocation;
}

/// Processes for one save: one asks for the arguments, one runs both versions, one rehearses, the others are
/// arrangements.
constexpr std::size_t prepared_processes = 12;
/// Kernels whose builds every process has ready, so that its memory stays that of a few programs.
constexpr std::size_t most_rehearsed = 4;

Prepared prepared_for(const Invocation& invocation) {
    run_info(invocation);  // the run has one name in all of them
    return Prepared(invocation.timeout_seconds, prepared_processes,
                    [invocation](const Message& recipe, const model::Device& device) {
                        return request_of_recipe(recipe, invocation, device);
                    });
}

/// What the next save will run, as far as it is known before: the version that it will be compared with, and that one's
/// control.
Message rehearsal_of(const Choice& choice, const Invocation& invocation, const Watched& watched) {
    auto request = watched_request(choice, invocation, watched.before);
    std::erase_if(request.comparisons, [](const auto& group) { return group.size() < 2; });
    for (auto& group : request.comparisons) group = {group.back(), control_of(group.back())};
    request.settings.measure = false;
    request.settings.hot_seconds = 0;
    request.settings.dumps.reset();
    return {{"recipe", recipe_of(invocation, watched)}, {"difference", difference(request)}};
}

/// Who asks the device about builds: one that was answered is not asked about again, unless it includes files that may
/// have changed.
AskDevice asking(const Invocation& invocation, Watched& watched) {
    auto known = std::make_shared<std::map<std::string, model::Introspection>>();
    return [&, known](const std::vector<AskedBuild>& builds) {
        constexpr std::size_t most = 64;
        if (known->size() > most) known->clear();
        const auto key = [](const AskedBuild& build) { return build.options + std::string(1, '\0') + build.text; };
        std::vector<AskedBuild> unknown;
        for (const auto& build : builds)
            if (known->count(key(build)) == 0) unknown.push_back(build);
        auto answers = unknown.empty() ? std::vector<model::Introspection>{} : watched.prepared.ask(unknown);
        if (!unknown.empty() && answers.empty()) answers = ask_in_child(invocation, unknown);
        watched.found.clear();
        auto answer = answers.begin();
        for (const auto& build : builds) {
            const auto found = known->find(key(build));
            watched.found.push_back(found != known->end() ? found->second : *answer++);
        }
        for (std::size_t i = 0; i < builds.size(); ++i)
            if (watched.found[i].built && watched.found[i].trouble.empty() &&
                builds[i].text.find("#include") == std::string::npos)
                known->emplace(key(builds[i]), watched.found[i]);
        return watched.found;
    };
}

int watch_file(const Invocation& asked) {
    auto invocation = single_run(asked);
    auto prepared = prepared_for(invocation);
    const auto& pattern = asked.patterns.front();
    const auto named = file_and_glob(pattern).first;
    const fs::path path = named;
    const auto before = (path.parent_path() / (path.stem().string() + ".before" + path.extension().string())).string();
    auto beside = path;
    const std::vector<fs::path> files{path, beside.replace_extension(".cllab")};
    auto now = version_of(files);
    Watched watched{prepared};
    watched.ask = asking(invocation, watched);
    watched.superseded = [&] { return version_of(files) != now; };
    std::optional<Version> right;  // the last version that was
    const auto pair_of = [&](const std::string& kernel) {
        auto out = quick(invocation);
        out.patterns = {named + ":" + kernel};
        out.versus = before + ":" + kernel;
        return out;
    };
    // The version that is right is compared with itself, as far as its builds go. An included file may have changed
    // when they are wanted.
    std::vector<Message> rehearsals;
    const auto rehearse = [&] {
        rehearsals.clear();
        if (right->front().find("#include") == std::string::npos) {
            watched.files = {{named, {named, right->front()}}, {before, {named, right->front()}}};
            const auto selected = Choice(invocation, watched.files, watched.ask).selected();
            for (std::size_t i = 0; i < selected.size() && i < most_rehearsed; ++i) {
                const auto pair = pair_of(selected[i].variant->name);
                rehearsals.push_back(rehearsal_of(Choice(pair, watched.files, watched.ask), pair, watched));
            }
        }
        prepared.rehearse(rehearsals);
        return 0;
    };
    const auto begin_building = [&] {
        std::vector<Message> recipes;
        for (const auto& one : rehearsals) {
            recipes.push_back(one.at("recipe"));
            recipes.back()["files"][named]["text"] = now.front();
        }
        prepared.begin_building(recipes);
    };
    const auto run = [&](const Invocation& one) {
        return attempt([&] {
            watched.files[named] = {named, now.front()};
            return command_run(one, &watched);
        });
    };
    if (!now.front().empty() && run(invocation) == 0) right = now;
    invocation.append = true;
    std::optional<Version> rehearsed;
    for (;;) {
        if (interrupted()) return 130;
        if (right && right != rehearsed) {
            attempt(rehearse);
            rehearsed = right;
        }
        say_watching("'" + path.string() + "'");
        const auto next = next_version(files, 1, now, prepared);
        if (!next) return 130;
        now = *next;
        if (!right) {
            if (run(invocation) == 0) right = now;
            continue;
        }
        begin_building();
        watched.files = {{named, {named, now.front()}}, {before, {named, right->front()}}};
        std::vector<std::string> kernels;
        const auto read = [&] {
            for (const auto& s : Choice(invocation, watched.files, watched.ask).selected())
                kernels.push_back(s.variant->name);
            return 0;
        };
        if (attempt(read) != 0) continue;
        bool fine = true;
        for (const auto& kernel : kernels) {
            fine = run(pair_of(kernel)) == 0 && fine;
            if (interrupted()) return 130;
        }
        // A version that leaves another result may be the one that is right: it is the one to compare with from now on.
        if (!fine) {
            auto alone = invocation;
            alone.verify_only = true;
            fine = run(alone) == 0;
        }
        if (fine) right = now;
    }
}

/// Families read from --cl-dir. A variant that was not right keeps the version that was.
int watch_families(const Invocation& asked) {
    const auto invocation = single_run(asked);
    auto prepared = prepared_for(invocation);
    const fs::path folder = asked.cl_dir;
    std::vector<model::Selected> selected = Choice(invocation).selected();
    const auto text_of = [&](const model::Selected& s) {
        return folder / (run::text_name(*s.experiment, *s.variant, folder) + ".cl");
    };
    const auto header_of = [&](const model::Selected& s) { return folder / "include" / (s.experiment->family + ".h"); };
    std::vector<fs::path> files;
    const auto add = [&](const fs::path& file) {
        if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
    };
    for (const auto& s : selected) add(text_of(s));
    const auto needed = files.size();
    // Each family's own header, which most have not, and last the one of all.
    for (const auto& s : selected) add(header_of(s));
    files.push_back(folder / "include" / "lab.h");

    Watched watched{prepared};
    std::map<std::string, std::string> texts;  // of the cells, as they are built, by their SHA-256
    const auto run = [&](const Invocation& one) {
        texts.clear();
        for (const auto& s : selected) {
            auto text = run::kernel_source(*s.experiment, *s.variant, folder).text;
            texts[sha256_hex(text)] = std::move(text);
        }
        watched.built.clear();
        const int status = command_run(one, &watched);
        // A file that was saved meanwhile is the next version.
        for (const auto& [cell, built] : watched.built)
            if (const auto text = texts.find(built.sha256); text != texts.end())
                watched.before[cell] =
                    std::make_shared<const model::StoredBuild>(model::StoredBuild{text->second, built.options});
        return status;
    };
    auto now = version_of(files);
    watched.superseded = [&] { return version_of(files) != now; };
    attempt([&] { return run(invocation); });
    for (;;) {
        if (interrupted()) return 130;
        attempt([&] {
            auto all = quick(invocation);
            all.patterns.clear();
            for (const auto& s : selected) all.patterns.push_back(s.id);
            const bool few = selected.size() <= most_rehearsed && !watched.before.empty();
            prepared.rehearse(few ? std::vector{rehearsal_of(Choice(all), all, watched)} : std::vector<Message>{});
            return 0;
        });
        std::vector<std::string> names;
        for (std::size_t i = 0; i < needed; ++i) names.push_back("'" + files[i].string() + "'");
        say_watching(join(names, ", "));
        const auto next = next_version(files, needed, now, prepared);
        if (!next) return 130;
        auto changed = quick(invocation);
        changed.patterns.clear();
        for (const auto& s : selected) {
            const auto differs = [&](const fs::path& file) {
                const auto i = static_cast<std::size_t>(std::find(files.begin(), files.end(), file) - files.begin());
                return (*next)[i] != now[i];
            };
            if (differs(text_of(s)) || differs(header_of(s)) || differs(files.back())) changed.patterns.push_back(s.id);
        }
        now = *next;
        attempt([&] { return run(changed); });
    }
}

}  // namespace

int watch(const Invocation& asked) {
    const bool own = std::any_of(asked.patterns.begin(), asked.patterns.end(), names_kernel_file);
    if (!asked.versus.empty() || (own ? asked.patterns.size() != 1 : asked.cl_dir.empty()))
        throw Error(Blame::usage,
                    "--watch takes one kernel file, as in `cllab run my.cl --watch` or my.cl:kernel, or kernels of "
                    "this program with "
                    "--cl-dir DIR, and no --vs");
    catch_interrupts();
    return own ? watch_file(asked) : watch_families(asked);
}

}  // namespace cllab::app

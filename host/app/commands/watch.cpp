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
#include "app/commands/run.hpp"
#include "app/comparing/versus.hpp"
#include "app/processes/runner.hpp"
#include "app/screen/say.hpp"
#include "core/error.hpp"
#include "core/hash.hpp"
#include "core/includes.hpp"
#include "core/text.hpp"
#include "inspect/tools/tool.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;

constexpr auto look_every = std::chrono::milliseconds(20);

/// The texts of the files looked at; empty: there is no such file.
using Version = kernelfile::Contents;

Version look_again(const Version& known) {
    Version out;
    for (const auto& [file, text] : known) out[file] = inspect::read_file(file).value_or("");
    return out;
}

/// Waits until the files have another content that stays for a moment; nothing when interrupted. Those `needed` are
/// never empty: one that is being replaced is for a moment. The time is used to make processes for what will be saved.
std::optional<Version> next_version(const std::vector<std::string>& needed, const Version& known, Prepared& prepared) {
    for (auto last = known;;) {
        if (interrupted()) return std::nullopt;
        std::this_thread::sleep_for(look_every);
        const auto now = look_again(known);
        const bool whole =
            std::none_of(needed.begin(), needed.end(), [&](const auto& file) { return now.at(file).empty(); });
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
RunOptions single_run(RunOptions invocation) {
    invocation.watch = false;
    invocation.no_yardstick = true;
    return invocation;
}

/// One that follows a save: somebody waits for it.
RunOptions quick(RunOptions invocation) {
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

Prepared prepared_for(const RunOptions& invocation) {
    run_info(invocation.label);  // the run has one name in all of them
    return Prepared(invocation.timeout_seconds, prepared_processes,
                    [invocation](const Message& recipe, const model::Device& device) {
                        return request_of_recipe(recipe, invocation, device);
                    });
}

/// What the next save will run, as far as it is known before: the version that it will be compared with, and that one's
/// control.
Message rehearsal_of(const Choice& choice, const RunOptions& invocation, const Watched& watched) {
    auto request = watched_request(choice, invocation, watched.before);
    std::erase_if(request.comparisons, [](const auto& group) { return group.size() < 2; });
    for (auto& group : request.comparisons) group = {group.back(), control_of(group.back())};
    request.settings.measure = false;
    request.settings.hot_seconds = 0;
    request.settings.dumps.reset();
    return {{"recipe", recipe_of(invocation, watched)}, {"difference", difference(request)}};
}

/// Who asks the device about builds: one that was answered is not asked about again, unless it includes files that only
/// the driver finds. What the version `now` of the file `named` includes is part of it from then on.
AskDevice asking(const RunOptions& invocation, Watched& watched, const std::string& named, Version& now) {
    auto known = std::make_shared<std::map<std::string, model::Introspection>>();
    return [&, known](const std::vector<AskedBuild>& builds) {
        for (const auto& build : builds)
            if (build.read->contains(named) && build.read->at(named) == now.at(named))
                now.insert(build.read->begin(), build.read->end());
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
            if (watched.found[i].built && watched.found[i].trouble.empty() && includes_of(builds[i].text).empty())
                known->emplace(key(builds[i]), watched.found[i]);
        return watched.found;
    };
}

int watch_file(const RunOptions& asked) {
    auto invocation = single_run(asked);
    auto prepared = prepared_for(invocation);
    const auto& pattern = asked.patterns.front();
    const auto named = file_and_glob(pattern).first;
    const fs::path path = named;
    const auto before = (path.parent_path() / (path.stem().string() + ".before" + path.extension().string())).string();
    auto beside = path;
    auto now = look_again({{named, ""}, {beside.replace_extension(".cllab").string(), ""}});
    Watched watched{prepared};
    watched.ask = asking(invocation, watched, named, now);
    watched.superseded = [&] { return look_again(now) != now; };
    std::optional<Version> right;  // the last version that was
    // A file that is empty is none to read.
    const auto snapshot = [&](Version version) {
        std::erase_if(version, [&](const auto& file) { return file.second.empty() && file.first != named; });
        return kernelfile::Snapshot{named, std::move(version)};
    };
    const auto pair_of = [&](const std::string& kernel) {
        auto out = quick(invocation);
        out.patterns = {named + ":" + kernel};
        out.versus = before + ":" + kernel;
        return out;
    };
    // The version that is right is compared with itself, as far as its builds go. A file that only the driver finds may
    // have changed when they are wanted.
    std::vector<Message> rehearsals;
    const auto rehearse = [&] {
        rehearsals.clear();
        watched.files = {{named, snapshot(*right)}, {before, snapshot(*right)}};
        const auto selected = Choice(invocation, watched.files, watched.ask).selected();
        const bool closed = std::all_of(selected.begin(), selected.end(),
                                        [](const auto& s) { return includes_of(s.variant->own->text).empty(); });
        for (std::size_t i = 0; closed && i < selected.size() && i < most_rehearsed; ++i) {
            const auto pair = pair_of(selected[i].variant->name);
            rehearsals.push_back(rehearsal_of(Choice(pair, watched.files, watched.ask), pair, watched));
        }
        prepared.rehearse(rehearsals);
        return 0;
    };
    const auto begin_building = [&] {
        std::vector<Message> recipes;
        for (const auto& one : rehearsals) {
            recipes.push_back(one.at("recipe"));
            recipes.back()["files"][named] = nlohmann::json(snapshot(now));
        }
        prepared.begin_building(recipes);
    };
    const auto run = [&](const RunOptions& one) {
        return attempt([&] {
            watched.files[named] = snapshot(now);
            return run_cells(one, &watched);
        });
    };
    if (!now.at(named).empty() && run(invocation) == 0) right = now;
    invocation.append = true;
    std::optional<Version> rehearsed;
    for (;;) {
        if (interrupted()) return 130;
        if (right && right != rehearsed) {
            attempt(rehearse);
            rehearsed = right;
        }
        say_watching("'" + path.string() + "'");
        const auto next = next_version({named}, now, prepared);
        if (!next) return 130;
        now = *next;
        if (!right) {
            if (run(invocation) == 0) right = now;
            continue;
        }
        begin_building();
        watched.files = {{named, snapshot(now)}, {before, snapshot(*right)}};
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
int watch_families(const RunOptions& asked) {
    const auto invocation = single_run(asked);
    auto prepared = prepared_for(invocation);
    const fs::path folder = asked.cl_dir;
    std::vector<model::Selected> selected = Choice(invocation).selected();
    // Of each variant its text, and its family's own header, which most have not; and the one of all.
    const auto text_of = [&](const model::Selected& s) {
        return (folder / (run::text_name(*s.experiment, *s.variant) + ".cl")).string();
    };
    const auto header_of = [&](const std::string& family) { return (folder / "include" / (family + ".h")).string(); };
    const auto header_of_all = header_of("lab");
    std::vector<std::string> needed, names;
    Version now{{header_of_all, ""}};
    for (const auto& s : selected) {
        now[header_of(s.experiment->family)] = "";
        if (!now.emplace(text_of(s), "").second) continue;
        needed.push_back(text_of(s));
        names.push_back("'" + needed.back() + "'");
    }
    now = look_again(now);

    Watched watched{prepared};
    std::map<std::string, std::string> texts;  // of the cells, as they are built, by their SHA-256
    const auto run = [&](const RunOptions& one) {
        texts.clear();
        for (const auto& s : selected) {
            auto text = run::kernel_source(*s.experiment, *s.variant, folder).text;
            texts[sha256_hex(text)] = std::move(text);
        }
        watched.built.clear();
        const int status = run_cells(one, &watched);
        // A file that was saved meanwhile is the next version.
        for (const auto& [cell, built] : watched.built)
            if (const auto text = texts.find(built.sha256); text != texts.end())
                watched.before[cell] =
                    std::make_shared<const model::StoredBuild>(model::StoredBuild{text->second, built.options});
        return status;
    };
    watched.superseded = [&] { return look_again(now) != now; };
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
        say_watching(join(names, ", "));
        const auto next = next_version(needed, now, prepared);
        if (!next) return 130;
        auto changed = quick(invocation);
        changed.patterns.clear();
        for (const auto& s : selected) {
            const auto differs = [&](const std::string& file) { return next->at(file) != now.at(file); };
            if (differs(text_of(s)) || differs(header_of(s.experiment->family)) || differs(header_of_all))
                changed.patterns.push_back(s.id);
        }
        now = *next;
        attempt([&] { return run(changed); });
    }
}

}  // namespace

int watch(const RunOptions& asked) {
    const bool own = std::any_of(asked.patterns.begin(), asked.patterns.end(), names_kernel_file);
    if (!asked.versus.empty() || (own ? asked.patterns.size() != 1 : asked.cl_dir.empty()))
        throw Error(Blame::usage,
                    "--watch takes one kernel file (`cllab run my.cl --watch`, or my.cl:kernel) or cllab's own kernels "
                    "with --cl-dir DIR, and no --vs");
    catch_interrupts();
    return own ? watch_file(asked) : watch_families(asked);
}

}  // namespace cllab::app

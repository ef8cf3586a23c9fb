// `run --watch`: each save of a kernel file, or of a family's file below --cl-dir, is built, verified, and compared
// with the version before.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

#include "app/choose/choice.hpp"
#include "app/commands.hpp"
#include "app/comparing/versus.hpp"
#include "app/processes/runner.hpp"
#include "app/running/watched.hpp"
#include "app/screen/streams.hpp"
#include "core/error.hpp"
#include "core/hash.hpp"
#include "core/includes.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;

constexpr auto look_every = std::chrono::milliseconds(20);

/// The texts of the files looked at; empty: there is no such file.
using Version = kernelfile::Contents;

Version look_again(const Version& known) {
    Version out;
    for (const auto& [file, text] : known) out[file] = cllab::read_file(file).value_or("");
    return out;
}

/// Waits until the files have another content that stays for a moment; nothing when interrupted. Those `needed` are
/// never empty: one that is being replaced is for a moment. The time is used to make processes for what will be saved.
std::optional<Version> next_version(const std::vector<std::string>& needed, const Version& known, WarmPool& pool) {
    for (auto last = known;;) {
        if (interrupted()) return std::nullopt;
        std::this_thread::sleep_for(look_every);
        const auto now = look_again(known);
        const bool whole = std::ranges::none_of(needed, [&](const auto& file) { return now.at(file).empty(); });
        if (now != known && now == last && whole) return now;
        if (now == known) pool.refill();
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
        auto answers = unknown.empty() ? std::vector<model::Introspection>{} : watched.pool.ask(unknown);
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

/// The versions of one kernel file, each compared with the last right one.
class FileWatch {
public:
    explicit FileWatch(const RunOptions& asked)
        : invocation_(single_run(asked)),
          named_(file_and_glob(asked.patterns.front()).first),
          pool_(warm_pool_for(invocation_)) {
        fs::path path = named_;
        before_ = (path.parent_path() / (path.stem().string() + ".before" + path.extension().string())).string();
        now_ = look_again({{named_, ""}, {path.replace_extension(".cllab").string(), ""}});
        watched_.ask = asking(invocation_, watched_, named_, now_);
        watched_.superseded = [this] { return look_again(now_) != now_; };
    }
    FileWatch(const FileWatch&) = delete;
    FileWatch& operator=(const FileWatch&) = delete;

    /// Returns when interrupted.
    void watch() {
        if (!now_.at(named_).empty()) take_first();
        invocation_.append = true;
        std::optional<Version> rehearsed;
        while (!interrupted()) {
            if (right_ && right_ != rehearsed) {
                attempt([&] { return rehearse(); });
                rehearsed = right_;
            }
            say_watching("'" + named_ + "'");
            const auto next = next_version({named_}, now_, pool_);
            if (!next) return;
            now_ = *next;
            right_ ? take_next() : take_first();
        }
    }

private:
    /// A file that is empty is none to read.
    kernelfile::Snapshot snapshot(Version version) const {
        std::erase_if(version, [&](const auto& file) { return file.second.empty() && file.first != named_; });
        return {named_, std::move(version)};
    }
    RunOptions pair_of(const std::string& kernel) const {
        auto out = quick(invocation_);
        out.patterns = {named_ + ":" + kernel};
        out.versus = before_ + ":" + kernel;
        return out;
    }
    int run(const RunOptions& one) {
        return attempt([&] {
            watched_.files[named_] = snapshot(now_);
            return run_watched(one, watched_, pool_);
        });
    }
    std::vector<model::Selected> selected() {
        chosen_.emplace(invocation_, watched_.files, watched_.ask);
        return chosen_->selected();
    }

    void take_first() {
        if (run(invocation_) == 0) right_ = now_;
    }

    void take_next() {
        begin_building();
        watched_.files = {{named_, snapshot(now_)}, {before_, snapshot(*right_)}};
        std::vector<std::string> kernels;
        const auto read = [&] {
            for (const auto& s : selected()) kernels.push_back(s.variant->name);
            return 0;
        };
        if (attempt(read) != 0) return;
        bool fine = true;
        for (const auto& kernel : kernels) {
            fine = run(pair_of(kernel)) == 0 && fine;
            if (interrupted()) return;
        }
        // A version that leaves another result may be the one that is right: it is the one to compare with from now on.
        if (!fine) {
            auto alone = invocation_;
            alone.verify_only = true;
            fine = run(alone) == 0;
        }
        if (fine) right_ = now_;
    }

    /// The version that is right is compared with itself, as far as its builds go. A file that only the driver finds
    /// may have changed when they are wanted.
    int rehearse() {
        rehearsals_.clear();
        watched_.files = {{named_, snapshot(*right_)}, {before_, snapshot(*right_)}};
        const auto all = selected();
        const bool closed =
            std::ranges::all_of(all, [](const auto& s) { return includes_of(s.variant->own->text).empty(); });
        for (std::size_t i = 0; closed && i < all.size() && i < most_rehearsed; ++i) {
            const auto pair = pair_of(all[i].variant->name);
            rehearsals_.push_back(rehearsal_of(Choice(pair, watched_.files, watched_.ask), pair, watched_));
        }
        pool_.rehearse(rehearsals_);
        return 0;
    }

    void begin_building() {
        std::vector<Message> recipes;
        for (const auto& one : rehearsals_) {
            recipes.push_back(one.at("recipe"));
            recipes.back()["files"][named_] = nlohmann::json(snapshot(now_));
        }
        pool_.begin_building(recipes);
    }

    RunOptions invocation_;
    std::string named_, before_;  ///< the file, and its version before
    WarmPool pool_;
    std::optional<Choice> chosen_;
    Watched watched_{pool_};
    Version now_;
    std::optional<Version> right_;  ///< the last one that was
    std::vector<Message> rehearsals_;
};

/// Families read from --cl-dir. A variant that was not right keeps the version that was.
class FamiliesWatch {
public:
    explicit FamiliesWatch(const RunOptions& asked)
        : invocation_(single_run(asked)),
          folder_(asked.cl_dir),
          pool_(warm_pool_for(invocation_)),
          selected_(Choice(invocation_).selected()) {
        for (const auto& s : selected_) {
            for (const auto& header : headers_of(s)) now_[header] = "";
            if (now_.emplace(text_of(s), "").second) needed_.push_back(text_of(s));
        }
        now_ = look_again(now_);
        watched_.superseded = [this] { return look_again(now_) != now_; };
    }
    FamiliesWatch(const FamiliesWatch&) = delete;
    FamiliesWatch& operator=(const FamiliesWatch&) = delete;

    /// Returns when interrupted.
    void watch() {
        attempt([&] { return run(invocation_); });
        while (!interrupted()) {
            attempt([&] { return rehearse(); });
            say_watching("'" + join(needed_, "', '") + "'");
            const auto next = next_version(needed_, now_, pool_);
            if (!next) return;
            auto changed = quick(invocation_);
            changed.patterns.clear();
            for (const auto& s : selected_) {
                const auto differs = [&](const std::string& file) { return next->at(file) != now_.at(file); };
                const auto headers = headers_of(s);
                if (differs(text_of(s)) || std::ranges::any_of(headers, differs)) changed.patterns.push_back(s.id);
            }
            now_ = *next;
            attempt([&] { return run(changed); });
        }
    }

private:
    std::string text_of(const model::Selected& s) const { return (folder_ / (s.experiment->family + ".cl")).string(); }
    /// Those that may be there; most are not.
    std::vector<std::string> headers_of(const model::Selected& s) const {
        auto out = run::header_names(*s.experiment, *s.variant);
        for (auto& header : out) header = (folder_ / "include" / header).string();
        return out;
    }

    int run(const RunOptions& one) {
        std::map<std::string, std::string> texts;  // of the cells, as they are built, by their SHA-256
        for (const auto& s : selected_) {
            auto text = run::kernel_source(*s.experiment, *s.variant, folder_).text;
            texts[sha256_hex(text)] = std::move(text);
        }
        watched_.right.clear();
        const int status = run_watched(one, watched_, pool_);
        // A file that was saved meanwhile is the next version.
        for (const auto& [cell, build] : watched_.right)
            if (const auto text = texts.find(build.source_sha256); text != texts.end())
                watched_.before[cell] =
                    std::make_shared<const model::StoredBuild>(model::StoredBuild{text->second, build.options});
        return status;
    }

    int rehearse() {
        auto all = quick(invocation_);
        all.patterns.clear();
        for (const auto& s : selected_) all.patterns.push_back(s.id);
        const bool few = selected_.size() <= most_rehearsed && !watched_.before.empty();
        pool_.rehearse(few ? std::vector{rehearsal_of(Choice(all), all, watched_)} : std::vector<Message>{});
        return 0;
    }

    RunOptions invocation_;
    fs::path folder_;
    WarmPool pool_;
    Watched watched_{pool_};
    std::vector<model::Selected> selected_;
    std::vector<std::string> needed_;
    Version now_;
};

}  // namespace

int watch(const RunOptions& asked) {
    const bool own = std::ranges::any_of(asked.patterns, names_kernel_file);
    if (!asked.versus.empty() || (own ? asked.patterns.size() != 1 : asked.cl_dir.empty()))
        throw Error(Blame::usage,
                    "--watch takes one kernel file (`cllab run my.cl --watch`, or my.cl:kernel) or cllab's own kernels "
                    "with --cl-dir DIR, and no --vs");
    catch_interrupts();
    if (own)
        FileWatch(asked).watch();
    else
        FamiliesWatch(asked).watch();
    return 130;
}

}  // namespace cllab::app

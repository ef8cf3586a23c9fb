// `run --watch`: a loop. Each time a kernel file, or a family's file below --cl-dir, is saved, runs `run --vs` with the
// new text and the last correct one.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <ranges>
#include <thread>

#include "app/choose/request.hpp"
#include "app/commands.hpp"
#include "app/running/run_cells.hpp"
#include "app/screen/streams.hpp"
#include "core/error.hpp"
#include "core/grouped.hpp"
#include "core/hash.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;

using Version = kernelfile::Contents;  ///< texts by file; empty: no such file

Version read_again(const Version& known) {
    Version out;
    for (const auto& [file, text] : known) out[file] = cllab::read_file(file).value_or("");
    return out;
}

/// Ends the comparison if the file is saved again, and collects the builds of cells that were correct.
class Listener : public RunListener {
public:
    explicit Listener(const Version& now) : now_(now) {}
    void done(const model::Cell& cell, std::size_t index, const model::Record& record) override {
        if (index == 0 && record.status == model::Status::ok) right.emplace_back(cell, record.build);
    }
    void compared(const model::Comparison&) override {
        if (read_again(now_) != now_) throw ComparisonEnded{"saved again"};
    }
    std::vector<std::pair<model::Cell, model::BuildInfo>> right;

private:
    const Version& now_;
};

class Watch {
public:
    explicit Watch(const RunOptions& asked) : options_(asked), runner_(in_child_processes(asked.timeout_seconds)) {
        options_.watch = false;
        options_.no_yardstick = true;
        options_.comparison_seconds = asked.max_time.value_or(1);
        options_.sampling_seconds = std::min(asked.sampling_seconds, 0.1);
    }
    virtual ~Watch() = default;

    /// Returns when interrupted.
    void watch() {
        for (;;) {
            attempt([this] { return take(); });
            options_.append = true;
            say("watching '" + join(needed_, "', '") + "'; save it to compare, Ctrl-C ends");
            const auto next = next_version();
            if (!next) return;
            now_ = *next;
        }
    }

protected:
    /// Runs the current version. Returns the exit status.
    virtual int take() = 0;

    /// Returns the result of `f`, an exit status, or 1 if the file's content cannot be run. Throws only Errors of the
    /// environment.
    template <typename F>
    static int attempt(F f) {
        try {
            return f();
        } catch (const Error& e) {
            if (e.blame() == Blame::environment) throw;
            say(e.what());
            return 1;
        }
    }

    RunOptions options_;
    std::unique_ptr<Runner> runner_;
    Strings needed_;  ///< files that are never empty, except for a moment while they are replaced
    Version now_;     ///< `needed_` and the other watched files

private:
    /// Waits until the files change and then stay the same for a moment; nullopt when interrupted.
    std::optional<Version> next_version() const {
        constexpr auto look_every = std::chrono::milliseconds(50);
        for (auto last = now_;;) {
            if (interrupted()) return std::nullopt;
            std::this_thread::sleep_for(look_every);
            const auto now = read_again(now_);
            const bool whole = std::ranges::none_of(needed_, [&](const auto& file) { return now.at(file).empty(); });
            if (now != now_ && now == last && whole) return now;
            last = now;
        }
    }
};

/// Watches one kernel file. Compares each version with the last correct one.
class FileWatch : public Watch {
public:
    explicit FileWatch(const RunOptions& asked) : Watch(asked), named_(file_and_glob(asked.patterns.front()).first) {
        fs::path path = named_;
        before_ = (path.parent_path() / (path.stem().string() + ".before" + path.extension().string())).string();
        needed_ = {named_};
        now_ = read_again({{named_, ""}, {path.replace_extension(".cllab").string(), ""}});
    }

private:
    int take() override {
        const Choice choice(options_, snapshots());
        const bool compares = right_ && choice.not_built().empty();
        bool fine = compares || run(options_) == 0;
        for (const auto& kernel : compares ? choice.selected() : std::vector<model::Selected>()) {
            auto pair = options_;
            pair.patterns = {named_ + ":" + kernel.variant->name};
            pair.versus = before_ + ":" + kernel.variant->name;
            fine = attempt([&] { return run(pair); }) == 0 && fine;
            if (interrupted()) return 130;
        }
        // If the results changed, the new version may be the correct one. If it verifies alone, later versions compare
        // with it.
        if (!fine && compares) {
            auto alone = options_;
            alone.verify_only = true;
            fine = run(alone) == 0;
        }
        if (fine) right_ = now_;
        return fine ? 0 : 1;
    }

    /// Both versions of the file, by the names that patterns use for them.
    Snapshots snapshots() const {
        Snapshots out{{named_, {named_, now_}}};
        if (right_) out[before_] = {named_, *right_};
        for (auto& [pattern, snapshot] : out)  // an empty text means no such file
            std::erase_if(snapshot.files,
                          [&](const auto& file) { return file.second.empty() && file.first != named_; });
        return out;
    }

    int run(const RunOptions& one) {
        RunPlan plan(one, snapshots());
        for (const auto& file : plan.choice.files())  // included files are part of the version
            if (file != before_) now_.emplace(file, cllab::read_file(file).value_or(""));
        plan.request = request_of(plan.choice, one);
        plan.paired = !one.versus.empty();
        Listener listener(now_);
        return carry_out(std::move(plan), *runner_, listener);
    }

    std::string named_, before_;  ///< the file, and the name of its earlier version
    std::optional<Version> right_;
};

/// Watches families read from --cl-dir. A variant that fails keeps its last correct version.
class FamiliesWatch : public Watch {
public:
    explicit FamiliesWatch(const RunOptions& asked) : Watch(asked), selected_(Choice(options_).selected()) {
        const fs::path folder = asked.cl_dir;
        for (const auto& s : selected_) {
            for (const auto& header : run::header_names(*s.experiment, *s.variant))
                now_[(folder / "include" / header).string()] = "";
            add_once(needed_, (folder / (s.experiment->family + ".cl")).string());
        }
        for (const auto& file : needed_) now_[file] = "";
        now_ = read_again(now_);
    }

private:
    int take() override {
        auto one = options_;
        one.patterns.clear();
        for (const auto& s : selected_) {
            auto text = run::kernel_source(*s.experiment, *s.variant, options_.cl_dir).text;
            if (std::exchange(texts_[s.id], text) != text) one.patterns.push_back(s.id);
        }
        if (one.patterns.empty()) return 0;
        RunPlan plan(one);
        plan.request = request_of(plan.choice, one);
        plan.request.comparisons = with_versions_before(plan.request);
        plan.paired = !before_.empty();
        Listener listener(now_);
        const int status = carry_out(std::move(plan), *runner_, listener);
        for (const auto& [cell, build] : listener.right)
            if (const auto& text = texts_.at(cell.id); sha256_hex(text) == build.source_sha256)
                before_[{cell.id, cell.label}] =
                    std::make_shared<const model::StoredBuild>(model::StoredBuild{text, build.options});
        return status;
    }

    /// One group per cell: the cell, followed by its last correct version if it has one.
    std::vector<model::Group> with_versions_before(const run::RunRequest& request) const {
        std::vector<model::Group> out;
        for (const auto& cell : request.comparisons | std::views::join) {
            out.push_back({cell});
            const auto known = before_.find({cell.id, cell.label});
            if (known == before_.end()) continue;
            out.back().push_back(cell);
            out.back().back().id += "_before";
            out.back().back().stored = known->second;
        }
        return out;
    }

    std::vector<model::Selected> selected_;
    std::map<std::string, std::string> texts_;  ///< source text of each variant, as built
    std::map<std::pair<std::string, std::string>, std::shared_ptr<const model::StoredBuild>> before_;  ///< id, label
};

}  // namespace

int watch(const RunOptions& asked) {
    const bool own = std::ranges::any_of(asked.patterns, names_kernel_file);
    if (!asked.versus.empty() || asked.devices.size() > 1 || (own ? asked.patterns.size() != 1 : asked.cl_dir.empty()))
        throw Error(Blame::usage,
                    "--watch takes one kernel file, as in `cllab run my.cl --watch`, or built-in families with "
                    "--cl-dir DIR; it needs one device and cannot be combined with --vs");
    catch_interrupts();
    own ? FileWatch(asked).watch() : FamiliesWatch(asked).watch();
    return 130;
}

}  // namespace cllab::app

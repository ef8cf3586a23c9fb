#include <algorithm>
#include <filesystem>
#include <map>
#include <ranges>
#include <set>
#include <tuple>

#include "app/choose/choice.hpp"
#include "app/choose/request.hpp"
#include "app/commands.hpp"
#include "app/comparing/regress.hpp"
#include "app/screen/streams.hpp"
#include "core/text.hpp"
#include "model/params.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;
using model::CellChange;
using model::Record;
using StoredPoint = std::vector<std::pair<std::string, std::string>>;

bool same_device(const model::DeviceInfo& a, const model::DeviceInfo& b) {
    return a.platform == b.platform && a.name == b.name &&
           (a.identity.empty() || b.identity.empty() || a.identity == b.identity);
}

bool same_kind(const model::DeviceInfo& a, const model::DeviceInfo& b) {
    return a.platform == b.platform && a.type == b.type;
}

/// Resolves links. Either file may be missing.
bool is_one_file(const fs::path& a, const fs::path& b) {
    std::error_code ignored;
    return fs::weakly_canonical(fs::absolute(a), ignored) == fs::weakly_canonical(fs::absolute(b), ignored);
}

class Collector {
public:
    Collector(const RegressOptions& invocation, const Baseline& baseline, Runner& runner)
        : invocation_(invocation), baseline_(baseline), runner_(runner) {}

    RegressCells collect() {
        read_command_lines();
        for (const auto& device : devices()) collect(device);
        collect_absent();
        for (auto& item : out_.items) complete(item);
        if (out_.items.empty())
            throw Error(Blame::usage, "no cell of the baseline or of today's kernels matches " +
                                          join({invocation_.patterns.begin() + 1, invocation_.patterns.end()}, ", "));
        return std::move(out_);
    }

private:
    /// The command line's options as of today, with the changes of this invocation.
    RunOptions again(const std::vector<std::string>& command_line) const {
        auto out = run_options_of(command_line);
        if (!invocation_.cl_dir.empty()) out.cl_dir = invocation_.cl_dir;
        if (!invocation_.build_options.empty()) out.build_options = invocation_.build_options;
        out.outputs.clear();
        out.no_dumps = out.no_yardstick = true;
        out.verify_only = false;
        out.label = invocation_.label;
        out.seed = invocation_.seed;
        out.timeout_seconds = invocation_.timeout_seconds;
        out.argv = invocation_.argv;
        out.sampling_seconds = std::min(out.sampling_seconds, 0.1);
        return out;
    }

    /// Reads the command lines of the baseline's runs. If one cannot run, its records have no cell today.
    void read_command_lines() {
        std::set<std::vector<std::string>> seen;
        for (const auto& record : baseline_.records) {
            if (!seen.insert(record.argv).second) continue;
            try {
                auto then = again(record.argv);
                leave_out_missing(then.patterns);
                if (then.patterns.empty()) continue;
                const Choice choice(then);
                for (const auto& [path, log] : choice.not_built())
                    lost_[path] = {CellChange::newly_failing,
                                   "'" + path + "' does not build: " + run::distinct_errors(log)};
                out_.asked.push_back(request_of(choice, then));
            } catch (const Error& e) {
                if (e.blame() == Blame::environment) throw;
                refused_[record.argv] =
                    std::string("this cllab does not understand the command line that made it: ") + e.what();
            }
        }
    }

    void leave_out_missing(std::vector<std::string>& patterns) {
        std::erase_if(patterns, [&](const auto& pattern) {
            const auto path = file_and_glob(pattern).first;
            const bool missing = names_kernel_file(pattern) && !fs::exists(path);
            if (missing) lost_[path] = {CellChange::incomparable, "'" + path + "', a file of the baseline, is missing"};
            return missing;
        });
    }

    std::vector<model::Device> devices() {
        const bool named = !invocation_.devices.empty();
        const auto here = named_devices(runner_, named ? invocation_.devices : std::vector<std::string>{"all"});
        std::vector<model::Device> out;
        std::vector<std::string> wanted;
        for (const auto& device : here) {
            const auto info = run::device_info(device);
            const auto of = std::ranges::find_if(baseline_.records, [&](const auto& r) {
                return same_device(r.device, info) || (named && same_kind(r.device, info));
            });
            if (of == baseline_.records.end()) continue;
            if (of->device.name != info.name)
                say("the baseline was made on '" + of->device.name + "'; both sides run on '" + info.name + "'");
            if (of->device.driver != info.driver)
                say("the baseline was made with driver " + of->device.driver + "; " +
                    (invocation_.recorded ? "today's is " + info.driver
                                          : "both sides are built by today's, " + info.driver));
            out.push_back(device);
        }
        if (!out.empty()) return out;
        std::set<std::string> of;
        for (const auto& r : baseline_.records) of.insert("'" + r.device.name + "' of " + r.device.platform);
        throw Error(Blame::environment,
                    "the baseline was made on " + join({of.begin(), of.end()}, " and ") +
                        (named ? ", but --device selects another platform or type"
                               : ", which is not available; use --device D for another device of the platform"));
    }

    /// Whether a pattern matches. A pattern is a glob over cells, a family, a kernel file, or kernels of a file.
    /// `source`: path of the kernel file; if empty, `family` is compared with the name of the pattern's file.
    bool wanted(const std::string& id, const std::string& family, const std::string& variant,
                const std::string& source) const {
        const auto& all = invocation_.patterns;
        return all.size() == 1 || std::any_of(all.begin() + 1, all.end(), [&](const auto& pattern) {
                   if (!names_kernel_file(pattern)) return pattern == family || glob_match(pattern, id);
                   const auto [file, glob] = file_and_glob(pattern);
                   const bool of_file =
                       source.empty() ? fs::path(file).stem().string() == family : is_one_file(file, source);
                   return of_file && (glob.empty() || glob_match(glob, variant));
               });
    }
    bool wanted(const Record& record) const {
        return wanted(record.id, record.family, record.variant,
                      names_kernel_file(record.build.source) ? record.build.source : "");
    }
    bool wanted(const model::Cell& cell) const {
        const auto& own = cell.variant->own;
        return wanted(cell.id, cell.experiment->family, cell.variant->name, own ? own->path : "");
    }

    RegressItem& item_of(const std::string& id, const StoredPoint& point, const model::DeviceInfo& device) {
        const auto [found, is_new] =
            at_.emplace(std::tuple(device.selector + device.name, id, point), out_.items.size());
        if (is_new) {
            auto& item = out_.items.emplace_back();
            item.out.id = id;
            item.out.point = point;
            item.out.device = device;
        }
        return out_.items[found->second];
    }

    /// The point as in a record of the cell; the requested point if the cell is unsupported.
    StoredPoint point_of(const model::Cell& cell, const model::Device& device, const run::Settings& settings) const {
        const auto asked = cell.point.values();
        // The record of a cell that failed before its axes were read has the requested point.
        if (at_.count({device.selector + device.name, cell.id, asked})) return asked;
        try {
            return model::resolve(*cell.experiment, {*cell.variant, cell.point, device, settings.seed, settings.files})
                .values();
        } catch (const Unsupported&) {
            return asked;
        }
    }

    /// Collects the cells of both sides on one device, joined by id and point.
    void collect(const model::Device& device) {
        const auto info = run::device_info(device);
        const bool own =
            std::ranges::any_of(baseline_.records, [&](const auto& r) { return same_device(r.device, info); });
        for (const auto& record : baseline_.records) {
            if (!wanted(record)) continue;
            if (own ? !same_device(record.device, info) : !same_kind(record.device, info)) continue;
            item_of(record.id, record.point, info).before.push_back(&record);
            taken_.insert(&record);
        }
        for (const auto& asked : out_.asked)
            for (const auto& cell : asked.comparisons | std::views::join) {
                if (!wanted(cell) || (cell.variant->own && lost_.count(cell.variant->own->path))) continue;
                auto& item = item_of(cell.id, point_of(cell, device, asked.settings), info);
                if (item.cell) continue;
                item.cell = cell;
                item.asked = &asked;
            }
    }

    /// Makes records of absent devices incomparable cells, unless the invocation names a device.
    void collect_absent() {
        if (!invocation_.devices.empty()) return;
        for (const auto& record : baseline_.records) {
            if (!wanted(record) || taken_.count(&record)) continue;
            auto& item = item_of(record.id, record.point, record.device);
            item.before.push_back(&record);
            item.out.change = CellChange::incomparable;
            item.out.reason = "its device '" + record.device.name + "' of " + record.device.platform + " is absent";
        }
    }

    /// Fetches the baseline's text of a cell, if the record names one.
    void fetch(RegressItem& item) const {
        const auto& last = *item.before.back();
        if (last.build.source_sha256.empty()) return;
        item.stored =
            std::make_shared<const model::StoredBuild>(model::StoredBuild{baseline_.text_of(last), last.build.options});
        const auto& own = item.cell->variant->own;
        if (!own) return;
        auto variant = *item.cell->variant;
        variant.own = std::make_shared<const model::Text>(
            model::Text{"the baseline's text", item.stored->text, own->includes_lab});
        item.variant = std::make_shared<const model::Variant>(std::move(variant));
    }

    void complete(RegressItem& item) const {
        if (item.before.empty()) return;
        const auto& last = *item.before.back();
        item.out.before = last.time ? last.time->median : 0;
        item.out.before_text = last.build.source_sha256;
        if (item.cell && !invocation_.recorded) return fetch(item);
        if (item.cell) return;
        if (const auto lost = lost_.find(last.build.source); lost != lost_.end()) {
            std::tie(item.out.change, item.out.reason) = lost->second;
            if (item.out.change == CellChange::newly_failing && last.status != model::Status::ok)
                item.out.change = CellChange::still_failing;
        } else if (const auto refused = refused_.find(last.argv); refused != refused_.end()) {
            item.end(CellChange::incomparable, refused->second);
        }
    }

    const RegressOptions& invocation_;
    const Baseline& baseline_;
    Runner& runner_;
    RegressCells out_;
    std::map<std::tuple<std::string, std::string, StoredPoint>, std::size_t> at_;  ///< items by device, id and point
    std::map<std::vector<std::string>, std::string> refused_;                      ///< reasons by command line
    std::map<std::string, std::pair<CellChange, std::string>> lost_;  ///< kernel files that are missing or do not build
    std::set<const Record*> taken_;
};

}  // namespace

model::Cell RegressItem::stored_cell() const {
    auto copy = *cell;
    copy.stored = stored;
    if (variant) copy.variant = variant.get();
    return copy;
}

void RegressItem::end(CellChange change, const std::string& reason) {
    out.change = change;
    out.reason = reason;
    out.test.reset();
}

CellChange failure_since(model::Status today) {
    return today == model::Status::unsupported    ? CellChange::vanished
           : today == model::Status::wrong_result ? CellChange::newly_wrong
                                                  : CellChange::newly_failing;
}

void RegressItem::judge_without_times(bool ended) {
    if (before.empty()) return end(CellChange::added, "");
    if (!cell) return end(CellChange::vanished, "today's program does not have it");
    if (!today) return end(CellChange::undecided, out.reason.empty() && ended ? "not reached" : out.reason);
    const auto then = before.back()->status, now = today->status;
    const bool was_ok = then == model::Status::ok;
    if (now == model::Status::ok) {
        const auto why = before.back()->time ? "not reached" : "the baseline has no time of it";
        return was_ok ? end(CellChange::undecided, out.reason.empty() ? why : out.reason)
                      : end(CellChange::fixed, out.reason);
    }
    end(was_ok                               ? failure_since(now)
        : now != model::Status::unsupported  ? CellChange::still_failing
        : then == model::Status::unsupported ? CellChange::unsupported
                                             : CellChange::vanished,
        std::string(model::name(now)) + ": " + today->reason);
}

RegressCells regress_cells(const RegressOptions& invocation, const Baseline& baseline, Runner& runner) {
    return Collector(invocation, baseline, runner).collect();
}

}  // namespace cllab::app

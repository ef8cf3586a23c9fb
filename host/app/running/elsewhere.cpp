// --check: each kernel on another implementation with the same data, whether the results agree, and what Oclgrind
// finds.
#include <algorithm>
#include <ranges>
#include <set>

#include "app/choose/request.hpp"
#include "app/commands.hpp"
#include "app/running/oclgrind.hpp"
#include "app/running/opinions.hpp"
#include "app/running/recording.hpp"
#include "app/running/tried.hpp"
#include "app/screen/streams.hpp"
#include "core/phases.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "count/oclgrind.hpp"
#include "kernelfile/proof/opinions.hpp"
#include "model/params.hpp"
#include "model/work.hpp"

namespace cllab::app {
namespace {

using model::Status;

/// Work-items that a simulator is given: few first, then more unless that would take long.
constexpr std::size_t few_items = 64, simulated_items = 1024;
constexpr double simulated_seconds = 30;  ///< of a cell, where only results are asked for

/// Who is asked.
struct Other {
    std::string selector;
    std::optional<std::filesystem::path> oclgrind;  ///< its library; nothing: a device like any other
    std::string name;
};

Other other_than(const model::Device& device, const RunOptions& options) {
    const auto wanted = options.check.substr(options.check.find('=') + 1);
    if (device.implementation != model::Implementation::oclgrind && (lower(wanted) == "oclgrind" || wanted.empty()))
        try {
            return {"oclgrind", count::oclgrind_library("--check device=oclgrind"), "Oclgrind"};
        } catch (const Error&) {  // alone --check takes what is there
            if (!wanted.empty()) throw;
        }
    auto found = in_child_processes(options.timeout_seconds)->devices({wanted.empty() ? "all" : wanted});
    if (wanted.empty()) {
        std::erase_if(found, [&](const auto& d) { return !d.is_cpu() || d.implementation == device.implementation; });
        if (found.empty())
            throw Error(Blame::environment, "--check needs another implementation than that of " +
                                                quoted_name(device.name) +
                                                ", and no other one of a CPU is here; on Debian: apt-get install "
                                                "oclgrind");
    } else if (found.size() != 1) {
        throw Error(Blame::usage,
                    "--check takes one device; 'device=" + wanted + "' selects " + std::to_string(found.size()));
    }
    if (found.front().selector == device.selector)
        throw Error(Blame::usage, "--check 'device=" + wanted + "' selects the device that is checked, " +
                                      quoted_name(device.name) + "; `cllab devices` shows what else is here");
    return {found.front().selector, std::nullopt, found.front().name};
}

const model::Record& failed_or_last(const std::vector<model::Record>& records) {
    const auto failed = std::ranges::find_if(records, [](const auto& r) { return r.status != Status::ok; });
    return failed == records.end() ? records.back() : *failed;
}

class Elsewhere {
public:
    Elsewhere(const RunOptions& options, const Choice& choice, const model::Device& device, Other other)
        : options_(options), choice_(choice), device_(device), other_(std::move(other)) {}

    const std::string& other() const { return other_.name; }

    /// Each of the cells, in order; in a simulator at smaller sizes.
    std::vector<Tried> tried(const std::vector<model::Cell>& cells) const {
        if (!other_.oclgrind) return try_all(cells);
        std::vector<model::Cell> first;
        for (const auto& cell : cells) first.push_back(smaller(cell, few_items));
        auto out = try_all(first);
        again(out, [&](std::size_t i) { return larger(out[i], smaller(cells[i], simulated_items)); });
        // A smaller size than the file's may itself be what is wrong, as 16 bins for 256 grey levels.
        const auto is_done = [](const Tried& one) { return one.too_long || !one.limit.empty() || one.is_fine(); };
        const auto own = [&](std::size_t i) { return finds_ ? cells[i] : larger(out[i], cells[i]); };
        again(
            out, [&](std::size_t i) { return is_done(out[i]) ? out[i].cell : own(i); }, finds_);
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i].stays_small = !is_done(out[i]) && out[i].cell.point != cells[i].point;
        if (finds_ && std::ranges::any_of(out, &Tried::stays_small))
            say("they take too long or do not run, so the findings may come from the smaller sizes; --axis chooses "
                "others");
        return out;
    }

private:
    using Records = std::vector<std::vector<model::Record>>;  ///< by cell and seed
    using Seeds = std::vector<std::vector<std::uint64_t>>;

    model::Setup setup_of(const model::Cell& cell) const {
        return model::set_up(*cell.experiment, {*cell.variant, cell.point, device_, options_.seed, model::no_files});
    }
    kernelfile::CellArguments arguments_of(const model::Cell& cell, std::uint64_t seed) const {
        return choice_.arguments_of({*cell.variant, cell.point, device_, seed, model::no_files});
    }
    std::size_t items_of(const model::Cell& cell) const { return setup_of(cell).global.count(); }

    /// The cell, with its largest axis halved that can be and has fewer work-items then. Where findings are asked for,
    /// axes that are given stay.
    std::optional<model::Cell> halved(const model::Cell& cell) const {
        std::vector<std::pair<std::int64_t, std::string>> sizes;
        for (const auto& [name, text] : cell.point.values()) {
            const auto axis = std::ranges::find(cell.experiment->axes, name, &model::Axis::name);
            const auto size = parse_integer(text);
            const bool stays =
                finds_ && std::ranges::any_of(options_.axes, [&, &n = name](const auto& a) { return a.first == n; });
            if (axis != cell.experiment->axes.end() && axis->tune.empty() && size && *size > 1 && !stays)
                sizes.emplace_back(*size, name);
        }
        std::ranges::sort(sizes, std::greater<>());
        for (const auto& [size, name] : sizes) {
            auto out = cell;
            out.point.set(name, std::to_string(size / 2));
            try {
                if (items_of(out) < items_of(cell)) return out;
            } catch (const std::exception&) {  // such a point cannot be
            }
        }
        return std::nullopt;
    }

    /// The cell, halved while it has more work-items than `most`.
    model::Cell smaller(model::Cell cell, std::size_t most) const try {
        while (items_of(cell) > most) {
            auto next = halved(cell);
            if (!next) break;
            cell = std::move(*next);
        }
        return cell;
    } catch (const Unsupported&) {  // its record says so
        return cell;
    }

    /// `cell`, unless it would take long: what a work-item does may grow with their number.
    model::Cell larger(const Tried& tried, const model::Cell& cell) const {
        const auto seconds = tried.there.phases.find(Phase::verify);
        if (tried.too_long || seconds == tried.there.phases.end()) return tried.cell;
        const auto more = static_cast<double>(items_of(cell)) / static_cast<double>(items_of(tried.cell));
        return seconds->second * more * more > simulated_seconds / 4 ? tried.cell : cell;
    }

    /// Those for which `next` gives another point than they were tried at become what they are there, if they run.
    void again(std::vector<Tried>& all, const std::function<model::Cell(std::size_t)>& next, bool says = false) const {
        std::vector<std::size_t> which;
        std::vector<model::Cell> cells;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (auto cell = next(i); cell.point != all[i].cell.point) {
                which.push_back(i);
                cells.push_back(std::move(cell));
            }
        if (cells.empty()) return;
        if (says)
            say("something was found" + all[which.front()].at() +
                ", which is smaller than the file says; so its own sizes are simulated, up to " +
                format_significant(options_.timeout_seconds, 3) + " s per kernel");
        auto found = try_all(cells);
        for (std::size_t n = 0; n < which.size(); ++n)
            if (found[n].ran()) all[which[n]] = std::move(found[n]);
    }

    /// Where looking for values that nobody wrote is what Oclgrind cannot do, as behind sincos(x, &c), without it.
    std::vector<Tried> try_all(const std::vector<model::Cell>& cells) const {
        auto out = try_looking(cells, true);
        for (auto& one : out)
            if (!one.limit.empty()) one = try_looking({one.cell}, false).front();
        return out;
    }

    std::vector<Tried> try_looking(const std::vector<model::Cell>& cells, bool for_unwritten) const {
        const inspect::TempFolder folder;
        Recording here(folder.path() / "here", OwnCheck::left_out);
        Recording there(folder.path() / "there", finds_ ? OwnCheck::asked : OwnCheck::left_out);
        Seeds seeds;
        for (const auto& cell : cells) {
            seeds.push_back({options_.seed});
            if (!finds_ && arguments_of(cell, options_.seed).random_inputs) seeds.back().push_back(options_.seed + 1);
        }
        std::optional<OnlyOclgrind> only;
        if (other_.oclgrind) only.emplace(*other_.oclgrind, for_unwritten);
        const auto others = launch(other_.selector, there, cells, seeds, only.has_value());
        const auto findings = only ? only->findings() : OclgrindFindings{};
        const bool by_one = only && only->left_some_out() && cells.size() > 1;
        only.reset();
        std::vector<Tried> out;
        if (by_one) {
            for (const auto& cell : cells) out.push_back(try_looking({cell}, for_unwritten).front());
            return out;
        }
        for (std::size_t i = 0; i < cells.size(); ++i)
            out.push_back(judged(cells[i], others[i], findings, for_unwritten));
        // Whoever asks for findings may have a kernel that does harm, so it runs here only where there are none.
        if (finds_ &&
            (device_.implementation == model::Implementation::oclgrind || !std::ranges::all_of(out, &Tried::is_fine)))
            return out;
        const auto own = launch(device_.selector, here, cells, seeds, false);
        for (std::size_t i = 0; i < cells.size(); ++i) compare(out[i], seeds[i], own[i], here, there);
        return out;
    }

    Records launch(const std::string& selector, Recording& recording, const std::vector<model::Cell>& cells,
                   const Seeds& seeds, bool simulates) const {
        run::RunRequest request{std::nullopt, {}, settings_of(options_)};
        Records out;
        std::vector<model::Record*> records;  // by comparison
        for (std::size_t i = 0; i < cells.size(); ++i) {
            for (auto& record : out.emplace_back(seeds[i].size())) records.push_back(&record);
            for (const auto seed : seeds[i]) request.comparisons.push_back({recording.cell(cells[i], seed)});
        }
        request.settings.measure = false;
        request.settings.guards = !simulates;  // the simulator sees what is outside; guards would be inside
        if (simulates) request.settings.build_options += " -cl-opt-disable";  // the optimizer takes faults away
        const auto runner = in_child_processes(
            simulates && !finds_ ? std::min(simulated_seconds, options_.timeout_seconds) : options_.timeout_seconds);
        try {
            runner->run(request, runner->devices({selector}).front().selector,
                        {.done = [&](std::size_t comparison, std::size_t, const model::Record& record) {
                            *records[comparison] = record;
                        }});
        } catch (const DeviceLost& e) {
            for (std::size_t i = 0; i < records.size(); ++i)
                if (auto& record = *records[i]; record.id.empty()) {
                    record.id = request.comparisons[i].front().id;
                    record.status = Status::launch_failed;
                    record.reason = e.what();
                }
        }
        return out;
    }

    void take_failure(Tried& tried, const model::Record& record, const std::string& whose) const {
        tried.too_long = record.status == Status::timed_out;
        tried.is_not_compared(other_.name, whose + model::name(record.status) + ": " + record.reason);
    }

    Tried judged(const model::Cell& cell, const std::vector<model::Record>& records, const OclgrindFindings& findings,
                 bool for_unwritten) const {
        Tried out{cell, failed_or_last(records)};
        out.sees_unwritten = for_unwritten;
        if (out.there.status != Status::ok) take_failure(out, out.there, "");
        if (findings.empty()) return out;
        const auto setup = setup_of(cell);
        std::set<std::string> kernels{cell.variant->entry};
        if (cell.variant->entry.empty())  // a sequence
            for (const auto* launch : model::launches_of(setup)) kernels.insert(launch->entry);
        for (const auto& finding : findings)
            if (kernels.count(finding.first.kernel)) out.found.insert(finding);
        const auto is_image = [](const auto& argument) { return std::holds_alternative<model::Image>(argument); };
        // To Oclgrind every texel and every size of an image is a value that nobody wrote.
        if (std::ranges::any_of(setup.args, is_image) &&
            std::erase_if(out.found, [](const auto& f) { return f.first.is_unwritten(); }) > 0)
            out.sees_unwritten = false;
        const auto limit = std::ranges::find_if(out.found, [](const auto& f) { return f.first.is_limit; });
        if (limit == out.found.end()) return out;
        out.limit = "it cannot do what the kernel does, in its words '" + printable(limit->first.what) + "'";
        out.is_not_compared(other_.name, out.limit);
        out.found.clear();  // what a launch that was ended found is nothing
        return out;
    }

    void compare(Tried& tried, const std::vector<std::uint64_t>& seeds, const std::vector<model::Record>& own,
                 const Recording& here, const Recording& there) const {
        if (tried.there.status != Status::ok || !tried.limit.empty()) return;
        const auto& record = failed_or_last(own);
        if (record.status != Status::ok) return take_failure(tried, record, quoted_name(device_.name) + " gives ");
        tried.is_compared = true;
        for (const auto seed : seeds)
            if (const auto wrong = difference(arguments_of(tried.cell, seed), tried.cell, seed, here, there,
                                              "on " + quoted_name(other_.name))) {
                tried.difference = *wrong;
                return;
            }
    }

    const RunOptions& options_;
    const Choice& choice_;
    const model::Device& device_;
    Other other_;
    bool finds_ = options_.check == "oclgrind";  ///< what the simulator finds is asked for
};

}  // namespace

int check_oclgrind(const RunOptions& asked) {
    const auto library = count::oclgrind_library("--check oclgrind");
    const Choice choice(asked);
    if (!choice.own())
        throw Error(Blame::usage, "--check oclgrind is about kernel files, as in `cllab run my.cl --check oclgrind`");
    std::vector<model::Cell> cells;
    for (const auto& group : model::make_plan(choice.selected(), asked.axes, model::Points::first))
        cells.insert(cells.end(), group.begin(), group.end());
    catch_interrupts();
    const auto device = in_child_processes(asked.timeout_seconds)->devices(asked.devices).front();
    const Elsewhere elsewhere(asked, choice, device, {"oclgrind", library, "Oclgrind"});
    const auto tried = elsewhere.tried(cells);
    OclgrindFindings all;
    for (const auto& one : tried) {
        results() << one.there.id << " in Oclgrind" << one.at() << ": " << printable(words(one, device)) << '\n';
        all.insert(one.found.begin(), one.found.end());
    }
    print_findings(all, choice);
    return !std::ranges::all_of(tried, &Tried::is_fine);
}

void check_elsewhere(const RunOptions& options, const Choice& choice, const std::vector<model::Group>& groups,
                     const std::vector<model::Device>& devices) {
    const kernelfile::Opinions opinions(options.opinions);
    for (const auto& device : devices) {
        std::vector<model::Cell> cells;
        std::vector<std::string> keys;
        for (const auto& cell : groups | std::views::join) try {
                const model::Request asked{*cell.variant, cell.point, device, options.seed, model::no_files};
                keys.push_back(choice.arguments_of(asked).agreement_key);
                cells.push_back(cell);
            } catch (const Unsupported&) {  // the cell says so in its record
            }
        const Elsewhere elsewhere(options, choice, device, other_than(device, options));
        const auto tried = elsewhere.tried(cells);
        for (std::size_t i = 0; i < cells.size(); ++i)
            opinions.keep(keys[i], agreement(tried[i], device, elsewhere.other()));
    }
}

}  // namespace cllab::app

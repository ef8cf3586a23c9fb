// --check device=D: each kernel on another implementation with the same data, and whether the results agree.
#include <algorithm>
#include <set>

#include "app/choose/request.hpp"
#include "app/running/oclgrind.hpp"
#include "app/running/opinions.hpp"
#include "app/running/recording.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "count/oclgrind.hpp"
#include "kernelfile/opinions.hpp"
#include "model/params.hpp"

namespace cllab::app {
namespace {

using kernelfile::Agreement;
using model::Status;

/// Work-items that a simulator is given, and where that takes too long.
constexpr std::size_t simulated_items = 1024, fewer_items = 64;
constexpr double simulated_seconds = 30;  ///< of a cell

/// Who is asked.
struct Other {
    std::string selector;
    std::optional<std::filesystem::path> oclgrind;  ///< its library; nothing: a device like any other
    std::string name;
};

std::string quoted_name(const std::string& name) { return "'" + excerpt(name) + "'"; }

std::optional<std::filesystem::path> oclgrind_here() try {
    return count::oclgrind_library("--check");
} catch (const Error&) {
    return std::nullopt;
}

Other other_than(const model::Device& device, const std::string& wanted, double timeout_seconds) {
    using model::Implementation;
    const bool is_oclgrind = device.implementation == Implementation::oclgrind;
    if (!is_oclgrind && (lower(wanted) == "oclgrind" || (wanted.empty() && oclgrind_here())))
        return {"oclgrind", count::oclgrind_library("--check device=oclgrind"), "Oclgrind"};
    auto found = in_child_processes(timeout_seconds)->devices({wanted.empty() ? "all" : wanted});
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

/// The cell, with its largest axes halved while all that is left takes them and there are more work-items than `most`.
model::Cell smaller(model::Cell cell, const model::Device& device, std::uint64_t seed, std::size_t most) {
    const auto items = [&](const model::Cell& c) {
        const auto global = model::set_up(*c.experiment, {*c.variant, c.point, device, seed, model::no_files}).global;
        std::size_t out = 1;
        for (unsigned d = 0; d < global.dims; ++d) out *= global.size[d];
        return out;
    };
    const auto halved = [&]() -> std::optional<model::Cell> {
        std::vector<std::pair<std::int64_t, std::string>> sizes;
        for (const auto& [name, text] : cell.point.values()) {
            const auto axis = std::ranges::find(cell.experiment->axes, name, &model::Axis::name);
            const auto size = parse_integer(text);
            if (axis != cell.experiment->axes.end() && axis->tune.empty() && size && *size > 1)
                sizes.emplace_back(*size, name);
        }
        std::ranges::sort(sizes, std::greater<>());
        for (const auto& [size, name] : sizes) {
            auto out = cell;
            out.point.set(name, std::to_string(size / 2));
            try {
                if (items(out) < items(cell)) return out;
            } catch (const std::exception&) {  // such a point cannot be
            }
        }
        return std::nullopt;
    };
    while (items(cell) > most) {
        auto next = halved();
        if (!next) break;
        cell = std::move(*next);
    }
    return cell;
}

struct Tried {
    Agreement agreement;
    bool too_long = false;  ///< there
    bool outside = false;   ///< the simulator saw accesses outside of buffers
};

class Elsewhere {
public:
    Elsewhere(const RunOptions& options, const Choice& choice, const model::Device& device)
        : options_(options),
          choice_(choice),
          device_(device),
          other_(other_than(device, options.check.substr(options.check.find('=') + 1), options.timeout_seconds)) {}

    /// For each of the cells, in order.
    std::vector<Agreement> agreements(const std::vector<model::Cell>& cells) {
        std::vector<model::Cell> first;
        for (const auto& cell : cells)
            first.push_back(other_.oclgrind ? smaller(cell, device_, options_.seed, simulated_items) : cell);
        auto tried = try_all(first);
        for (std::size_t i = 0; other_.oclgrind && i < cells.size(); ++i) improve(cells[i], first[i], tried[i]);
        std::vector<Agreement> out;
        for (auto& one : tried) out.push_back(std::move(one.agreement));
        return out;
    }

private:
    using Statuses = std::map<std::size_t, model::Record>;  ///< by comparison

    /// A smaller size than the file's may itself be what is wrong, as 16 bins for 256 grey levels.
    void improve(const model::Cell& cell, const model::Cell& at, Tried& tried) {
        if (tried.too_long) {
            const auto fewer = smaller(at, device_, options_.seed, fewer_items);
            if (fewer.point != at.point) tried = try_all({fewer}).front();
        }
        const bool doubtful = tried.outside || tried.agreement.kind == Agreement::Kind::differs;
        if (!doubtful || at.point == cell.point) return;
        auto whole = try_all({cell}).front();
        if (!whole.too_long)
            tried = std::move(whole);
        else if (tried.outside)
            tried.agreement = {Agreement::Kind::unknown, "",
                               tried.agreement.sentence + "; its own size takes too long in Oclgrind"};
    }

    std::vector<Tried> try_all(const std::vector<model::Cell>& cells) {
        const inspect::TempFolder folder;
        std::vector<std::vector<std::uint64_t>> seeds;
        for (const auto& cell : cells) {
            const bool random = arguments_of(cell, options_.seed).random_inputs;
            seeds.push_back(random ? std::vector{options_.seed, options_.seed + 1} : std::vector{options_.seed});
        }
        Recording here(folder.path() / "here", OwnCheck::left_out), there(folder.path() / "there", OwnCheck::left_out);
        const auto [elsewhere, findings] = launch_there(there, cells, seeds);
        const auto own = launch(device_.selector, here, cells, seeds, false);
        std::vector<Tried> out;
        std::size_t number = 0;
        for (std::size_t i = 0; i < cells.size(); number += seeds[i++].size())
            out.push_back(judge(cells[i], seeds[i], number, {own, elsewhere}, here, there, findings));
        return out;
    }

    kernelfile::CellArguments arguments_of(const model::Cell& cell, std::uint64_t seed) const {
        return choice_.arguments_of({*cell.variant, cell.point, device_, seed, model::no_files});
    }

    std::pair<Statuses, OclgrindFindings> launch_there(Recording& recording, const std::vector<model::Cell>& cells,
                                                       const std::vector<std::vector<std::uint64_t>>& seeds) const {
        if (!other_.oclgrind) return {launch(other_.selector, recording, cells, seeds, false), {}};
        const OnlyOclgrind only(*other_.oclgrind);
        auto out = launch(other_.selector, recording, cells, seeds, true);
        return {std::move(out), only.findings()};
    }

    Statuses launch(const std::string& selector, Recording& recording, const std::vector<model::Cell>& cells,
                    const std::vector<std::vector<std::uint64_t>>& seeds, bool simulates) const {
        run::RunRequest request{std::nullopt, {}, settings_of(options_)};
        for (std::size_t i = 0; i < cells.size(); ++i)
            for (const auto seed : seeds[i]) request.comparisons.push_back({recording.cell(cells[i], seed)});
        request.settings.measure = false;
        request.settings.guards = !simulates;
        if (simulates) request.settings.build_options += " -cl-opt-disable";  // the optimizer takes faults away
        const auto runner = in_child_processes(simulates ? std::min(simulated_seconds, options_.timeout_seconds)
                                                         : options_.timeout_seconds);
        Statuses out;
        try {
            runner->run(request, runner->devices({selector}).front().selector,
                        {.done = [&](std::size_t comparison, std::size_t, const model::Record& record) {
                            out[comparison] = record;
                        }});
        } catch (const DeviceLost& e) {
            model::Record lost;
            lost.status = Status::launch_failed;
            lost.reason = e.what();
            for (std::size_t i = 0; i < request.comparisons.size(); ++i) out.try_emplace(i, lost);
        }
        return out;
    }

    struct Sides {
        const Statuses &here, &there;
    };
    Tried judge(const model::Cell& cell, const std::vector<std::uint64_t>& seeds, std::size_t number,
                const Sides& sides, const Recording& here, const Recording& there,
                const OclgrindFindings& findings) const {
        const auto at = point_text(cell.point).empty() ? std::string() : " at " + point_text(cell.point);
        Tried out;
        const auto unknown = [&](const model::Record& record, const std::string& name) {
            out.too_long = out.too_long || record.status == Status::timed_out;
            out.agreement.sentence = "no other device's results are compared, as " + quoted_name(name) + at +
                                     " gives " + model::name(record.status) + ": " + record.reason;
        };
        for (std::size_t i = 0; i < seeds.size(); ++i) {
            const auto &own = sides.here.at(number + i), &other = sides.there.at(number + i);
            if (other.status != Status::ok) return unknown(other, other_.name), out;
            if (own.status != Status::ok) return unknown(own, device_.name), out;
        }
        const auto seen = found_in(cell, findings, out.outside);
        out.agreement = {Agreement::Kind::agrees, other_.name + at, seen};
        for (const auto seed : seeds)
            if (const auto wrong =
                    difference(arguments_of(cell, seed), cell, seed, here, there, "on " + quoted_name(other_.name))) {
                out.agreement = {Agreement::Kind::differs, "",
                                 quoted_name(device_.name) + " and " + quoted_name(other_.name) +
                                     " leave different results" + at + ": " + *wrong +
                                     "; nothing says which of the two is right unless a reference does" +
                                     (seen.empty() ? "" : "; " + seen)};
                break;
            }
        return out;
    }

    /// What the simulator saw in the cell's kernel, in a clause; empty: nothing.
    static std::string found_in(const model::Cell& cell, const OclgrindFindings& findings, bool& outside) {
        std::size_t places = 0;
        std::string first;
        for (const auto& [place, times] : findings) {
            if (place.kernel != cell.variant->entry) continue;
            outside = outside || place.is_outside();
            if (places++ == 0) first = place.file + ":" + place.line + ": " + place.what;
        }
        if (places == 0) return {};
        return "Oclgrind finds in it '" + printable(first) + "'" +
               (places == 1 ? "" : " and " + std::to_string(places - 1) + " more") +
               "; `cllab run --check oclgrind` shows where";
    }

    const RunOptions& options_;
    const Choice& choice_;
    const model::Device& device_;
    Other other_;
};

}  // namespace

void check_elsewhere(const RunOptions& options, const Choice& choice, const std::vector<model::Group>& groups,
                     const std::vector<model::Device>& devices) {
    const kernelfile::Opinions opinions(options.opinions);
    for (const auto& device : devices) {
        std::vector<model::Cell> cells;
        std::vector<std::string> keys;
        for (const auto& group : groups)
            for (const auto& cell : group) try {
                    keys.push_back(
                        choice.arguments_of({*cell.variant, cell.point, device, options.seed, model::no_files})
                            .agreement_key);
                    cells.push_back(cell);
                } catch (const Unsupported&) {  // the cell says so in its record
                }
        const auto agreements = Elsewhere(options, choice, device).agreements(cells);
        for (std::size_t i = 0; i < cells.size(); ++i) opinions.keep(keys[i], agreements[i]);
    }
}

}  // namespace cllab::app

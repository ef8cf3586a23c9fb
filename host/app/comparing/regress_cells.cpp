#include "app/comparing/regress_cells.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "app/choose/request.hpp"
#include "app/commands/run.hpp"
#include "app/screen/say.hpp"
#include "core/text.hpp"
#include "model/params.hpp"

namespace cllab::app {
namespace {

using model::Record;
using StoredPoint = std::vector<std::pair<std::string, std::string>>;

model::DeviceInfo info_of(const model::Device& d) {
    return {d.platform, d.name, d.vendor, d.driver, model::name(d.type), d.selector, d.identity};
}

bool same_device(const model::DeviceInfo& a, const model::DeviceInfo& b) {
    return a.platform == b.platform && a.name == b.name &&
           (a.identity.empty() || b.identity.empty() || a.identity == b.identity);
}

class Collector {
public:
    Collector(const RegressOptions& invocation, const Baseline& baseline, Runner& runner)
        : invocation_(invocation), baseline_(baseline), runner_(runner) {}

    RegressCells collect() {
        read_command_lines();
        for (const auto& device : devices()) collect(device);
        if (out_.items.empty())
            throw Error(Blame::usage, "no cell of the baseline or of today matches " +
                                          join({invocation_.patterns.begin() + 1, invocation_.patterns.end()}, ", "));
        return std::move(out_);
    }

private:
    /// The command lines of the baseline's runs, as they would run today with what this invocation changes.
    void read_command_lines() {
        std::set<std::vector<std::string>> seen;
        for (const auto& record : baseline_.records) {
            if (record.argv.empty() || !seen.insert(record.argv).second) continue;
            try {
                auto then = run_options_of(record.argv);
                if (!invocation_.cl_dir.empty()) then.cl_dir = invocation_.cl_dir;
                if (!invocation_.build_options.empty()) then.build_options = invocation_.build_options;
                then.outputs.clear();
                then.no_dumps = then.no_yardstick = true;
                then.verify_only = false;
                then.label = invocation_.label;
                then.seed = invocation_.seed;
                then.timeout_seconds = invocation_.timeout_seconds;
                then.argv = invocation_.argv;
                then.sampling_seconds = std::min(then.sampling_seconds, 0.1);
                out_.asked.push_back(
                    std::make_unique<AskedAgain>(AskedAgain{record.argv, request_of(Choice(then), then)}));
            } catch (const Error& e) {
                say("the baseline's command line '" + join(record.argv, " ") +
                    "' is not understood today: " + e.what());
            }
        }
        if (out_.asked.empty())
            throw Error(Blame::usage,
                        "none of the baseline's command lines can be run today, so there is nothing to compare");
    }

    std::vector<model::Device> devices() {
        std::vector<std::string> troubles;
        const bool named = !invocation_.devices.empty();
        const auto here = runner_.devices(named ? invocation_.devices : std::vector<std::string>{"all"}, &troubles);
        for (const auto& trouble : troubles) say(trouble);
        std::vector<model::Device> out;
        std::vector<std::string> wanted;
        for (const auto& device : here) {
            const auto info = info_of(device);
            const auto of = std::find_if(baseline_.records.begin(), baseline_.records.end(), [&](const auto& r) {
                return same_device(r.device, info) ||
                       (named && r.device.platform == info.platform && r.device.type == info.type);
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
                        (named ? "; --device names another platform or type"
                               : ", which is not here; --device D names another device of the same platform"));
    }

    bool wanted(const std::string& id, const std::string& family) const {
        const auto& all = invocation_.patterns;
        return all.size() == 1 ||
               std::any_of(all.begin() + 1, all.end(), [&](const auto& p) { return p == family || glob_match(p, id); });
    }

    /// The cells of both sides on one device, joined by id and point.
    void collect(const model::Device& device) {
        const auto info = info_of(device);
        std::map<std::pair<std::string, StoredPoint>, std::size_t> at;
        const auto item_of = [&](const std::string& id, const StoredPoint& point) -> RegressItem& {
            const auto [found, is_new] = at.emplace(std::pair(id, point), out_.items.size());
            if (is_new) {
                auto& item = out_.items.emplace_back();
                item.out.id = id;
                item.out.point = point;
                item.out.device = info;
            }
            return out_.items[found->second];
        };
        const bool own = std::any_of(baseline_.records.begin(), baseline_.records.end(),
                                     [&](const auto& r) { return same_device(r.device, info); });
        for (const auto& record : baseline_.records) {
            if (!wanted(record.id, record.family)) continue;
            if (own ? !same_device(record.device, info)
                    : record.device.platform != info.platform || record.device.type != info.type)
                continue;
            item_of(record.id, record.point).before.push_back(&record);
        }
        for (const auto& asked : out_.asked) {
            const auto& settings = asked->request.settings;
            for (const auto& group : asked->request.comparisons) {
                for (const auto& cell : group) {
                    if (!wanted(cell.id, cell.experiment->family)) continue;
                    auto point = cell.point.values();
                    try {
                        point = model::resolve(*cell.experiment,
                                               {*cell.variant, cell.point, device, settings.seed, settings.files})
                                    .values();
                    } catch (const Unsupported&) {
                        // The point as it was asked for, as in the record of an unsupported cell.
                    }
                    // A cell that failed before its axes were read has the point as it was asked for in its record.
                    auto& item =
                        item_of(cell.id, at.count({cell.id, cell.point.values()}) ? cell.point.values() : point);
                    if (item.cell) continue;
                    item.cell = cell;
                    item.asked = asked.get();
                }
            }
        }
        for (auto& [key, index] : at) {
            auto& item = out_.items[index];
            if (item.before.empty()) continue;
            const auto& last = *item.before.back();
            item.out.before = last.time ? last.time->median : 0;
            item.out.before_text = last.build.source_sha256;
        }
    }

    const RegressOptions& invocation_;
    const Baseline& baseline_;
    Runner& runner_;
    RegressCells out_;
};

}  // namespace

RegressCells regress_cells(const RegressOptions& invocation, const Baseline& baseline, Runner& runner) {
    return Collector(invocation, baseline, runner).collect();
}

}  // namespace cllab::app

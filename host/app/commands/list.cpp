// `cllab list` and `cllab describe`: the contents of the registry; no device needed.

#include <functional>

#include "app/commands/command_file.hpp"
#include "model/registry.hpp"

namespace cllab::app {
namespace {

struct ListOptions : Call, FileOptions {};

int list(const ListOptions& invocation) {
    const auto& all = model::registry();
    const auto selected =
        model::select(all, invocation.patterns.empty() ? std::vector<std::string>{"*"} : invocation.patterns);
    if (!invocation.json.empty()) {
        auto out = nlohmann::ordered_json::array();
        for (const auto& s : selected)
            out.emplace_back(report::fact("variant"))
                .update({{"id", s.id},
                         {"family", s.experiment->family},
                         {"variant", s.variant->name},
                         {"meaning", s.variant->meaning},
                         {"question", s.experiment->question},
                         {"needs", s.variant->needs}});
        write_json(invocation.json, invocation.force, out.dump(2));
        return 0;
    }
    // Column width per family, so that long names in one family do not indent another.
    std::map<const model::Experiment*, std::size_t> widths;
    for (const auto& s : selected) widths[s.experiment] = std::max(widths[s.experiment], s.id.size());
    const model::Experiment* last = nullptr;
    std::string out;
    for (const auto& s : selected) {
        if (s.experiment != last)
            out += fmt::format("{}{}: {}\n", last ? "\n" : "", s.experiment->family, s.experiment->question);
        last = s.experiment;
        out += fmt::format("  {:<{}}  {}\n", s.id, widths[s.experiment], s.variant->meaning);
    }
    results() << report::fit(out, page_width());
    return 0;
}

/// The family with the wanted variants.
nlohmann::ordered_json json_of(const model::Experiment& e,
                               const std::function<bool(const model::Variant&)>& is_wanted) {
    auto out = report::fact("family");
    out.update({{"family", e.family}, {"question", e.question}, {"inputs", e.file_inputs}});
    for (const char* list : {"axes", "metrics", "variants", "native"}) out[list] = nlohmann::ordered_json::array();
    for (const auto& axis : e.axes)
        out["axes"].push_back({{"name", axis.name},
                               {"values", axis.values},
                               {"unit", axis.unit},
                               {"meaning", axis.meaning},
                               {"legal", legal_values(axis)},
                               {"only", axis.only}});
    for (const auto& metric : e.metrics) out["metrics"].push_back({{"name", metric.name}, {"unit", metric.unit}});
    for (const auto& v : e.variants)
        if (is_wanted(v)) out["variants"].push_back({{"id", e.id(v)}, {"meaning", v.meaning}, {"needs", v.needs}});
    for (const auto& v : e.native) out["native"].push_back({{"id", e.id(v)}, {"meaning", v.meaning}});
    return out;
}

int describe(const ListOptions& invocation) {
    if (invocation.patterns.size() != 1)
        throw Error(Blame::usage, "`cllab describe` takes one FAMILY or VARIANT; found " +
                                      std::to_string(invocation.patterns.size()));
    const auto& wanted = invocation.patterns.front();
    std::vector<std::string> known;
    for (const auto& e : model::registry()) {
        known.push_back(e.family);
        for (const auto& v : e.variants) known.push_back(e.id(v));
        const auto is_wanted = [&](const auto& v) { return e.family == wanted || e.id(v) == wanted; };
        if (std::ranges::none_of(e.variants, is_wanted)) continue;
        if (!invocation.json.empty()) {
            write_json(invocation.json, invocation.force, json_of(e, is_wanted).dump(2));
            return 0;
        }
        std::ostringstream out;
        out << fmt::format("{}: {}\n\nAxes (--axis NAME=VALUES)\n", e.family, e.question);
        for (const auto& axis : e.axes) {
            const auto has_it = [&](const auto& v) {
                return is_wanted(v) && (axis.only.empty() || std::ranges::count(axis.only, v.name) > 0);
            };
            if (std::ranges::none_of(e.variants, has_it)) continue;
            out << fmt::format("  {} = {}{}\n      {}; {}\n", axis.name, join(axis.values, ","),
                               axis.unit.empty() ? "" : " [" + axis.unit + "]", axis.meaning, legal_values(axis));
            if (!axis.only.empty()) out << fmt::format("      only {}\n", join(axis.only, ", "));
        }
        out << "\nMetrics\n  time, with the 95 % interval of its median; bandwidth, flops and step_time where the work "
               "is stated\n";
        for (const auto& metric : e.metrics) out << fmt::format("  {} [{}]\n", metric.name, metric.unit);
        if (!e.curve_over.empty()) out << fmt::format("  a curve over axis '{}'\n", e.curve_over);
        if (!e.file_inputs.empty())
            out << fmt::format("\nInput files (--input NAME=FILE): {}\n", join(e.file_inputs, ", "));
        out << "\nVariants\n";
        for (const auto& v : e.variants) {
            if (!is_wanted(v)) continue;
            out << fmt::format("  {}\n      {}{}\n", e.id(v), v.meaning,
                               v.needs.empty() ? "" : " Needs " + join(v.needs, ", ") + ".");
            for (const auto& [axis, values] : v.axes) out << fmt::format("      {} = {}\n", axis, values);
            if (!v.curve_over.empty()) out << fmt::format("      a curve over axis '{}'\n", v.curve_over);
        }
        if (!e.native.empty()) out << "\nLoops in C++ (--native, on CPU devices)\n";
        for (const auto& v : e.native) out << fmt::format("  {}\n      {}\n", e.id(v), v.meaning);
        results() << report::fit(out.str(), page_width());
        return 0;
    }
    throw Error(Blame::usage,
                "unknown family or variant '" + wanted + "'; " + did_you_mean(wanted, known, "see `cllab list`"));
}

void check_list(ListOptions&) {}

Rows<ListOptions> list_rows() { return Rows<ListOptions>().with(json_rows()); }

}  // namespace

Command list_command() { return make_command<ListOptions>(manual_of("list"), list_rows(), check_list, list); }

Command describe_command() {
    return make_command<ListOptions>(manual_of("describe"), list_rows(), check_list, describe);
}

}  // namespace cllab::app

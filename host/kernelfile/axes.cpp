// The axes of kernel files: those that their blocks state, and those that --axis gives to a name that something uses.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>

#include "core/error.hpp"
#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "kernelfile/experiment.hpp"
#include "model/plan.hpp"

namespace cllab::kernelfile {
namespace {

/// The kind of axis that all of the values fit.
model::Axis axis_from(const AxisLine& line) {
    model::Axis axis;
    axis.name = line.name;
    axis.least = std::numeric_limits<double>::lowest();
    axis.meaning = line.place.text();
    std::vector<std::string> values;
    for (const auto kind : {model::Axis::Kind::integer, model::Axis::Kind::real}) {
        axis.kind = kind;
        try {
            values = model::expand_axis(axis, line.values);
            break;
        } catch (const Error& e) {
            // What begins like a number is meant as one: its own sentence is the better one.
            const bool number = line.values.find_first_of("0123456789") == line.values.find_first_not_of(" +-.");
            const auto parts = split(line.values, ',');
            const bool numbers =
                std::ranges::all_of(parts, [](const auto& p) { return parse_real(trim(p)) || parse_integer(trim(p)); });
            if (kind == model::Axis::Kind::real && (number || numbers)) refuse(line.place, e.what());
        }
    }
    if (values.empty()) {
        axis.kind = model::Axis::Kind::choice;
        for (const auto& part : split(line.values, ',')) {
            const auto word = trim(part);
            if (word.empty() ||
                !std::ranges::all_of(word, [](unsigned char c) { return std::isalnum(c) || std::strchr("_.+-", c); }))
                refuse(line.place, "axis '", line.name, "' cannot be ", cllab::quoted(word),
                       "; its values are numbers, ranges such as 1Ki:1Mi:*2, or words");
            axis.choices.push_back(word);
        }
        try {
            values = model::expand_axis(axis, line.values);
        } catch (const Error& e) {
            refuse(line.place, e.what());
        }
    }
    axis.values = line.tune ? std::vector<std::string>{values.front()} : values;
    if (line.tune) axis.tune = values;
    return axis;
}

Place place_of_setting(const std::string& name, const std::string& values) {
    return {"option '--axis' is '" + name + "=" + excerpt(values) + "'", 0, 0};
}

}  // namespace

void KernelFiles::declare_axes(bool all_are_known) {
    const auto& settings = settings_;
    axes_.clear();
    std::map<std::string, Place> from;
    for (const auto& description : described_) {
        for (const auto& line : description.axes) {
            const auto axis = axis_from(line);
            const auto other = std::ranges::find_if(axes_, [&](const auto& a) { return a.name == axis.name; });
            const bool set = std::ranges::any_of(settings, [&](const auto& s) { return s.first == axis.name; });
            if (other == axes_.end()) {
                axes_.push_back(axis);
                from[axis.name] = line.place;
            } else if (!set && (other->values != axis.values || other->tune != axis.tune)) {
                refuse(line.place, "axis '", axis.name, "' has other values at ", from[axis.name].text(), "; --axis ",
                       axis.name, "=VALUES gives both the same");
            }
        }
    }
    for (const auto& [name, values] : settings) {
        if (std::ranges::any_of(axes_, [&, &n = name](const auto& a) { return a.name == n; })) continue;
        const auto place = place_of_setting(name, values);
        if (!mentions(name)) {
            // Every experiment has the first one, and every kernel file the other.
            if (name == model::build_options_axis().name || name == group_axis || !all_are_known) continue;
            const auto known = mapped(axes_, &model::Axis::name);
            refuse(place, "nothing in '", files_.front().path, "' or on the command line uses an axis '", name, "'",
                   known.empty() ? "" : "; " + did_you_mean(name, known, "its axes are " + join(known, ", ")));
        }
        axes_.push_back(axis_from({place, name, values}));
    }
    // An integer axis that the command line gives a fraction or a word becomes what that is.
    for (auto& axis : axes_)
        for (const auto& [name, values] : settings)
            if (name == axis.name && axis.kind != model::Axis::Kind::integer && axis.tune.empty())
                axis = axis_from({place_of_setting(name, values), name, values});
    const bool own = std::ranges::any_of(axes_, [](const auto& a) { return a.name == group_axis; });
    for (auto& description : described_) description.takes_group = !own;
}

void KernelFiles::add_group_axes(const std::vector<std::pair<std::string, std::vector<std::string>>>& tried,
                                 std::vector<model::Axis>& to) const {
    if (!described_.front().takes_group) return;
    std::map<std::vector<std::string>, std::vector<std::string>> by_groups;
    for (const auto& [variant, groups] : tried) by_groups[groups].push_back(variant);
    for (const auto& [groups, variants] : by_groups)
        to.push_back({.name = group_axis,
                      .unit = "",
                      .meaning = "work-group; auto: what the file says, else the driver's choice",
                      .kind = model::Axis::Kind::shape,
                      .values = {},
                      .least = 1,
                      .may_be_auto = true,
                      .tune = groups,
                      .only = variants});
}

bool KernelFiles::mentions(const std::string& name) const {
    const auto in = [&](const std::string& text) { return names_in(text).count(name) > 0; };
    const auto in_expression = [&](const Expression& e) { return in(e.text()); };
    const auto in_sizes = [&](const auto& sizes) { return sizes && std::ranges::any_of(sizes->second, in_expression); };
    const auto in_scope = [&](const Scope& scope) {
        return in_sizes(scope.global) || in_sizes(scope.local) || in_sizes(scope.offset) ||
               std::ranges::any_of(scope.arguments, [&](const auto& a) { return in(a.second.text); }) ||
               std::ranges::any_of(scope.work, [&](const auto& amount) { return in_expression(amount.second); }) ||
               std::ranges::any_of(scope.where, in_expression) ||
               std::ranges::any_of(scope.relations, [&](const auto& r) { return r.sum && in_expression(*r.sum); });
    };
    return std::ranges::any_of(described_, [&](const Description& said) {
        return in_scope(said.all) ||
               std::ranges::any_of(said.kernels, [&](const auto& kernel) { return in_scope(kernel.second.second); }) ||
               std::ranges::any_of(said.options, [&](const auto& line) { return in(line.second); }) ||
               std::ranges::any_of(said.variants, [&](const auto& line) { return in(line.options); }) ||
               std::ranges::any_of(said.sequences, [&](const auto& line) {
                   return in_scope(line.scope) || (line.repeat && in_expression(*line.repeat));
               });
    });
}

}  // namespace cllab::kernelfile

// The axes of kernel files: those that their blocks state, and those that --axis gives to a name that something uses.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>

#include "core/error.hpp"
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
        const Place place{"option '--axis' is '" + name + "=" + excerpt(values) + "'", 0, 0};
        if (!mentions(name)) {
            // Every experiment has the first one, and every kernel file the other.
            if (name == model::build_options_axis().name || name == group_axis || !all_are_known) continue;
            std::vector<std::string> known;
            for (const auto& axis : axes_) known.push_back(axis.name);
            refuse(place, "nothing in '", files_.front().path, "' or on the command line uses an axis '", name, "'",
                   known.empty() ? "" : "; " + did_you_mean(name, known, "its axes are " + join(known, ", ")));
        }
        axes_.push_back(axis_from({place, name, values}));
    }
    // An integer axis that the command line gives a fraction or a word becomes what that is.
    for (auto& axis : axes_)
        for (const auto& [name, values] : settings)
            if (name == axis.name && axis.kind != model::Axis::Kind::integer && axis.tune.empty())
                axis = axis_from({{"option '--axis' is '" + name + "=" + excerpt(values) + "'", 0, 0}, name, values});
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
    const auto in = [&](const std::string& text) {
        for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
            const auto inside = [&](std::size_t i) {
                return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
            };
            if (!inside(at - 1) && !inside(at + name.size())) return true;
        }
        return false;
    };
    const auto in_scope = [&](const Scope& scope) {
        for (const auto& [argument, spec] : scope.arguments)
            if (in(spec.text)) return true;
        for (const auto* list : {&scope.global, &scope.local, &scope.offset})
            if (*list && std::any_of((*list)->second.begin(), (*list)->second.end(),
                                     [&](const auto& e) { return in(e.text()); }))
                return true;
        return std::ranges::any_of(scope.work, [&](const auto& amount) { return in(amount.second.text()); });
    };
    for (const auto& description : described_) {
        if (in_scope(description.all)) return true;
        for (const auto& [kernel, scope] : description.kernels)
            if (in_scope(scope.second)) return true;
        for (const auto& [place, text] : description.options)
            if (in(text)) return true;
        for (const auto& line : description.variants)
            if (in(line.options)) return true;
    }
    return false;
}

}  // namespace cllab::kernelfile

#include "experiments/lib/describe.hpp"

#include "core/kernel_text.hpp"
#include "core/units.hpp"
#include "model/registry.hpp"

namespace cllab::model::lib {
namespace {

struct Line {
    std::string key, value;
    bool is_property;  ///< of the axis or variant above it
};

/// Skips empty lines and comments. A line indented by four blanks continues the one above.
std::vector<Line> lines_of(std::string_view text) {
    std::vector<Line> out;
    for (const auto& line : split(text, '\n')) {
        const auto words = trim(line);
        if (words.empty() || words.starts_with('#')) continue;
        if (line.starts_with("    ") && !out.empty()) {
            out.back().value += (out.back().value.empty() ? "" : " ") + words;
            continue;
        }
        const auto colon = std::min(words.find(':'), words.size());
        out.push_back(
            {words.substr(0, colon), trim(words.substr(std::min(colon + 1, words.size()))), line.starts_with("  ")});
    }
    return out;
}

Texts list_of(const std::string& value) {
    auto out = split(value, ',');
    for (auto& one : out) one = trim(one);
    return out;
}

double number_of(const std::string& text) {
    if (const auto whole = parse_integer(text)) return static_cast<double>(*whole);
    if (const auto real = parse_real(text)) return *real;
    throw Error(Blame::usage, "'", text, "' is not a number");
}

/// Parses "1 to 4Ki", optionally followed by "powers of two" or "multiples of 4".
void set_range(Axis& axis, const std::string& value) {
    constexpr std::string_view multiples = "multiples of ";
    for (const auto& part : list_of(value)) {
        if (part == "powers of two") {
            axis.power_of_two = true;
        } else if (part.starts_with(multiples)) {
            axis.multiple_of = static_cast<std::int64_t>(number_of(part.substr(multiples.size())));
        } else if (const auto to = part.find(" to "); to != std::string::npos) {
            axis.least = number_of(part.substr(0, to));
            axis.most = number_of(part.substr(to + 4));
        } else if (!part.empty()) {
            throw Error(Blame::usage, "'", part, "' is not a range");
        }
    }
}

bool set_property(Axis& axis, const std::string& key, const std::string& value) {
    constexpr std::pair<std::string_view, Axis::Kind> kinds[]{
        {"whole", Axis::Kind::integer}, {"real", Axis::Kind::real}, {"shape", Axis::Kind::shape}};
    for (const auto& [name, kind] : kinds) {
        if (key != name) continue;
        axis.kind = kind;
        axis.values = {"auto"};
        set_range(axis, value);
        return true;
    }
    if (key == "choice") {
        axis.kind = Axis::Kind::choice;
        if (value.empty()) return true;  // the family's file sets them
        axis.choices = list_of(value);
        axis.values = {axis.choices.front()};
    } else if (key == "unit") {
        axis.unit = value;
    } else if (key == "usual") {
        axis.values = list_of(value);
    } else if (key == "tune") {
        axis.tune = list_of(value);
    } else if (key == "only") {
        axis.only = list_of(value);
    } else {
        return false;
    }
    return true;
}

bool set_property(Variant& variant, const std::string& key, const std::string& value) {
    if (key == "defines")
        variant.defines = list_of(value);
    else if (key == "needs")
        variant.needs = list_of(value);
    else if (key == "over")
        variant.curve_over = value;
    else if (key == "header")
        variant.header = value;
    else if (key.starts_with("with "))
        variant.axes.emplace_back(key.substr(5), value);
    else
        return false;
    return true;
}

bool set_item(Experiment& out, const std::string& key, const std::string& value) {
    if (key == "question") {
        out.question = value;
    } else if (key == "over") {
        out.curve_over = value;
    } else if (key == "inputs") {
        out.file_inputs = list_of(value);
    } else if (key.starts_with("axis ")) {
        out.axes.push_back({.name = key.substr(5), .unit = {}, .meaning = value, .values = {}});
    } else if (key.starts_with("variant ")) {
        out.variants.push_back({key.substr(8), value});
    } else {
        return false;
    }
    return true;
}

}  // namespace

Experiment described(const std::string& family, std::string_view text) {
    Experiment out;
    out.family = family;
    for (const auto& [key, value, is_property] : lines_of(text)) {
        const bool known = !is_property            ? set_item(out, key, value)
                           : !out.variants.empty() ? set_property(out.variants.back(), key, value)
                           : !out.axes.empty()     ? set_property(out.axes.back(), key, value)
                                                   : false;
        if (!known) throw Error(Blame::usage, family, ".cl: '", key, "' is not a key of a family's description");
    }
    if (out.question.empty())
        throw Error(Blame::usage, "cl/", family, ".cl has no comment /* family */ with a question");
    for (auto& axis : out.axes) axis.may_be_auto = std::ranges::find(axis.values, "auto") != axis.values.end();
    return out;
}

Experiment family(const std::string& name, Setup (*setup)(const Request&, Params&), Results results) {
    auto out = described(name, family_parts(embedded_kernel(name)).second);
    out.setup = setup;
    out.metrics = std::move(results.metrics);
    out.conclude = std::move(results.conclude);
    return out;
}

}  // namespace cllab::model::lib

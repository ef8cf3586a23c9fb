#include "app/commandline/rows.hpp"

#include <algorithm>
#include <charconv>

#include "core/error.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "report/table/table.hpp"

namespace cllab::app {
namespace {

[[noreturn]] void refuse_value(const std::string& option, const std::string& found, const std::string& expected,
                               const std::string& hint = "") {
    throw Error(Blame::usage, "option '--", option, "': expected ", expected, ", found ", found, hint);
}

template <typename T>
T parsed(const std::string& option, const std::string& text, const std::string& possible) {
    T out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc{} || end != text.data() + text.size()) refuse_value(option, "'" + text + "'", possible);
    return out;
}

}  // namespace

double number_of(const std::string& option, const std::string& text, const Range& range) {
    const auto out = parsed<double>(option, text, range.possible);
    const bool inside = (range.above_low ? out > range.low : out >= range.low) && out <= range.high;
    if (!inside) refuse_value(option, format_exact(out), range.possible);
    return out;
}

unsigned whole_of(const std::string& option, const std::string& text, const Range& range) {
    const auto out = parsed<unsigned>(option, text, range.possible);
    if (out < range.low || out > range.high) refuse_value(option, std::to_string(out), range.possible);
    return out;
}

std::string word_of(const std::string& option, const std::string& text, const Strings& possible) {
    if (std::ranges::find(possible, text) != possible.end()) return text;
    const Strings first(possible.begin(), possible.end() - 1);
    refuse_value(option, "'" + text + "'",
                 first.empty() ? possible.back() : join(first, ", ") + " or " + possible.back(),
                 or_did_you_mean(text, possible));
}

void add_named(const std::string& option, const std::string& text, Pairs& to) {
    const auto at = text.find('=');
    if (at == 0 || at == std::string::npos || at + 1 == text.size())
        refuse_value(option, "'" + text + "'", "NAME=VALUE");
    const std::pair<std::string, std::string> added{text.substr(0, at), text.substr(at + 1)};
    for (const auto& [name, value] : to)
        if (name == added.first)
            throw Error(Blame::usage, "option '--", option, "' sets '", name, "' twice: to '", value, "' and to '",
                        added.second, "'");
    to.push_back(added);
}

Strings columns_of(const std::string& text) {
    auto out = mapped(split(text, ','), report::column_name);
    if (std::ranges::find(out, "") != out.end()) refuse_value("columns", "'" + text + "'", "names separated by commas");
    return out;
}

std::uint64_t seed_of(const std::string& text) {
    return parsed<std::uint64_t>("seed", text, "a whole number from 0 to 18446744073709551615");
}

void refuse_empty(const Strings& args) {
    for (std::size_t i = 0; i < args.size(); ++i)
        if (args[i].empty())
            throw Error(Blame::usage,
                        i == 0 ? "the first argument is empty" : "the argument after '" + args[i - 1] + "' is empty");
}

namespace {

/// Lines of a kernel file's block that are also options, with their values.
constexpr std::pair<const char*, const char*> statements[]{
    {"arg", "NAME=VALUE"},       {"global", "X[,Y[,Z]]"}, {"local", "X[,Y[,Z]]"}, {"offset", "X[,Y[,Z]]"},
    {"variant", "NAME=OPTIONS"}, {"extends,I", "FOLDER"}, {"include", "FILE"},    {"work", "bytes=N flops=N"},
    {"expect", "NAME=FILE"},     {"reference", "KERNEL"}, {"relation", "TEXT"},   {"where", "CONDITION"},
    {"tolerance", "KIND=X"}};

}  // namespace

Rows<CellOptions> choice_rows(bool devices) {
    Rows<CellOptions> out;
    out.list("kernel,k", "PATTERN", &CellOptions::patterns);
    if (devices) out.list("device,d", "D", &CellOptions::devices);
    out.named("axis,a", "NAME=VALUES", &CellOptions::axes);
    return out;
}

Rows<CellOptions> kernel_file_rows() {
    Rows<CellOptions> out;
    for (const auto& [name, value] : statements) {
        const std::string option = Row{name, value}.long_name();
        out.add({name, value, "", "", true},
                [option](CellOptions& to, const std::string& text) { to.statements.emplace_back(option, text); });
    }
    return out;
}

Rows<CellOptions> reference_command_rows() {
    Rows<CellOptions> out;
    out.text("reference-command", "COMMAND", &CellOptions::reference_command);
    return out;
}

Rows<CellOptions> text_rows() {
    Rows<CellOptions> out;
    out.text("cl-dir", "DIR", &CellOptions::cl_dir);
    out.text("build-options", "TEXT", &CellOptions::build_options);
    return out;
}

Rows<CellOptions> label_rows() {
    Rows<CellOptions> out;
    out.add({"label", "TEXT"}, [](CellOptions& to, const std::string& text) {
        constexpr std::size_t longest = 200;
        if (text.size() > longest)
            refuse_value("label", std::to_string(text.size()), "at most " + std::to_string(longest) + " bytes");
        to.label = text;
    });
    return out;
}

Rows<CellOptions> process_rows() {
    Rows<CellOptions> out;
    out.number("timeout", "SECONDS", any_seconds, &CellOptions::timeout_seconds, "60");
    out.seed();
    return out;
}

Rows<Call> timings_rows() {
    Rows<Call> out;
    out.flag("timings", &Call::timings);
    return out;
}

Rows<FileOptions> excerpt_rows() {
    Rows<FileOptions> out;
    out.text("markdown", "OUT", &FileOptions::markdown)
        .text("svg", "OUT", &FileOptions::svg)
        .text("png", "OUT", &FileOptions::png);
    return out;
}

Rows<FileOptions> replace_rows(const std::string& appendable) {
    Rows<FileOptions> out;
    out.flag("force", &FileOptions::force);
    if (!appendable.empty())
        out.flag("append", &FileOptions::append,
                 "Adds to an existing file of " + appendable + ". A CSV file gets no second header.");
    return out;
}

Rows<FileOptions> json_rows() {
    Rows<FileOptions> out;
    out.add({.name = "json", .value = "[FILE]", .alone = "-", .values = {"-", "*.*", "*/*"}},
            [](FileOptions& to, const std::string& text) { to.json = text; });
    return out.with(replace_rows());
}

std::string about_columns(const Strings& names) {
    return "Shows these columns, separated by commas; `all` shows every column, however wide: " + join(names, ", ") +
           ". Default: those that fit the terminal, or 80 columns without one. A line names the others.";
}

std::string about_columns() {
    return "Shows these columns, separated by commas, e.g. time,regs,dump; `all` shows every column. Name and status "
           "are always shown. The columns: " +
           join(report::column_names(), ", ") +
           ". Axes and metrics are columns too (`cllab describe`). Default: those that fit the terminal, or 80 columns "
           "without one. A line names the others.";
}

}  // namespace cllab::app

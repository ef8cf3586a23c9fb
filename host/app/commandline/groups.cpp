#include "app/commandline/groups.hpp"

#include "core/error.hpp"
#include "core/text.hpp"
#include "report/table/table.hpp"

namespace cllab::app {
namespace {

/// The lines of a kernel file's block that may stand on the command line, with their values.
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
            throw Error(Blame::usage, "option '--label' has ", text.size(), " bytes; at most ", longest,
                        " are possible");
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

Row json_row() {
    return {.name = "json", .value = "[=FILE]", .alone = "-"};
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

std::string about_columns(const Strings& names) {
    return "Shows these columns, separated by commas; all shows every one, however wide: " + join(names, ", ") +
           ". Default: those that fit the terminal, or 80 columns without one. A line names the others.";
}

std::string about_columns() {
    return "Shows these columns, separated by commas, e.g. time,regs,dump; all shows every one. Name and status are "
           "always shown. The columns: " +
           join(report::column_names(), ", ") +
           ". Axes and metrics are columns too (`cllab describe`). Default: those that fit the terminal, or 80 columns "
           "without one. A line names the others.";
}

}  // namespace cllab::app

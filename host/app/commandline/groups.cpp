#include "app/commandline/groups.hpp"

#include "core/error.hpp"
#include "core/text.hpp"
#include "report/table/table.hpp"

namespace cllab::app {
namespace {

/// A line of a kernel file's block that may stand on the command line.
struct Statement {
    const char *name, *value, *about = "";
};
const Statement statements[]{
    {"arg", "NAME=VALUE"},
    {"global", "X[,Y[,Z]]"},
    {"local", "X[,Y[,Z]]", "Kernel files: work-items per work-group. Default: the driver chooses."},
    {"offset", "X[,Y[,Z]]", "Kernel files: offset of the global ids."},
    {"variant", "NAME=OPTIONS"},
    {"extends,I", "FOLDER", "Kernel files: also looks for #include files in FOLDER."},
    {"include", "FILE"},
    {"work", "bytes=N flops=N", "Kernel files: what one launch must move and compute, for the rates."},
    {"expect", "NAME=FILE"},
    {"reference", "KERNEL", "Kernel files: results must equal those of this kernel or variant."},
    {"relation", "TEXT"},
    {"where", "CONDITION"},
    {"tolerance", "KIND=X"},
};

}  // namespace

Rows<CellOptions> choice_rows(bool devices) {
    Rows<CellOptions> out;
    out.list("kernel,k", "PATTERN", &CellOptions::patterns, "Selects variants, like a positional PATTERN. Repeats.");
    if (devices) out.list("device,d", "D", &CellOptions::devices);
    out.named("axis,a", "NAME=VALUES", &CellOptions::axes);
    return out;
}

Rows<CellOptions> kernel_file_rows() {
    Rows<CellOptions> out;
    for (const auto& [name, value, about] : statements) {
        const std::string option = Row{name, value, about}.long_name();
        out.add({name, value, about, "", true},
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
    out.text("build-options", "TEXT", &CellOptions::build_options,
             "Appends TEXT to the build options of every kernel, e.g. -cl-opt-disable.");
    return out;
}

Rows<CellOptions> label_rows() {
    Rows<CellOptions> out;
    out.add({"label", "TEXT",
             "Writes TEXT into every record, to tell runs apart later, e.g. 'before the change'. At most 200 bytes."},
            [](CellOptions& to, const std::string& text) {
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
    out.seed("Seeds the random inputs. Default: a fresh seed per run. The record holds it.");
    return out;
}

Rows<Call> timings_rows() {
    Rows<Call> out;
    out.flag("timings", &Call::timings, "Prints the command's own time on stderr, by phase.");
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
    out.flag("force", &FileOptions::force,
             "Replaces an output file that exists. Without --force the command refuses to run.");
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

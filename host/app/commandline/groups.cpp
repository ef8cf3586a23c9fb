#include "app/commandline/groups.hpp"

#include "core/error.hpp"
#include "core/text.hpp"
#include "report/table/table.hpp"

namespace cllab::app {
namespace {

/// A line of a kernel file's block that may stand on the command line.
struct Statement {
    const char *name, *value, *about;
};
const Statement statements[]{
    {"arg", "NAME=VALUE",
     "Kernel files: sets an argument, e.g. src=rand:n*n, or of one kernel, scale:src=rand:n*n. See `cllab help "
     "kernel-file`."},
    {"global", "X[,Y[,Z]]",
     "Kernel files: number of work-items, as expressions over axes and scalar arguments. Of one kernel: scale:n."},
    {"local", "X[,Y[,Z]]", "Kernel files: work-items per work-group. Default: the driver chooses."},
    {"offset", "X[,Y[,Z]]", "Kernel files: offset of the global ids."},
    {"variant", "NAME=OPTIONS", "Kernel files: adds a variant with these build options, e.g. fast=-DTILE=32."},
    {"extends,I", "FOLDER", "Kernel files: also looks for #include files in FOLDER."},
    {"include", "FILE", "Kernel files: #includes FILE in front of the text, as hosts do that join texts. Repeats."},
    {"work", "bytes=N flops=N", "Kernel files: what one launch must move and compute, for the rates."},
    {"expect", "NAME=FILE",
     "Kernel files: the argument must come out equal to FILE (.npy, raw, picture), or `unchanged`."},
    {"reference", "KERNEL", "Kernel files: results must equal those of this kernel or variant."},
    {"relation", "TEXT",
     "Kernel files: a relation that right results hold, e.g. 'linear in src'. See `cllab help kernel-file`."},
    {"where", "CONDITION",
     "Kernel files: leaves out points at which the condition over axes does not hold, e.g. 'tile % local == 0'. "
     "Repeats."},
    {"tolerance", "KIND=X",
     "Accepts results within absolute=X, relative=X or ulp=X of the expected ones. One bound that holds is enough. "
     "Adds the largest errors to the table."},
};

}  // namespace

Rows<CellOptions> choice_rows(bool devices) {
    Rows<CellOptions> out;
    out.list("kernel,k", "PATTERN", &CellOptions::patterns, "Selects variants, like a positional PATTERN. Repeats.");
    if (devices)
        out.list(
            "device,d", "D", &CellOptions::devices,
            "Selects a device: cpu, gpu, accelerator, all, P:D (clinfo's indices), or part of a name. A type selects "
            "the first device whose timer can be trusted; P selects a platform. Repeats. Default: the first GPU, else "
            "the first CPU.");
    out.named("axis,a", "NAME=VALUES", &CellOptions::axes,
              "Sets an axis to a list (width=1024,2048), a geometric range (size=1Ki:1Mi:*2) or a stepped range "
              "(items=1:9:+2). Repeats. `cllab describe FAMILY` names the axes. Every family has the axis `options`: "
              "options=,-cl-fast-relaxed-math builds each kernel without and with that build option.");
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
    out.text("reference-command", "COMMAND", &CellOptions::reference_command,
             "Kernel files: results must equal those of COMMAND, which sh runs in the current folder, once for each of "
             "two random inputs. The folder $CLLAB_REFERENCE_DIR, also $1, holds each argument that goes in as "
             "NAME.npy. COMMAND leaves each result there as NAME.npy, of the kernel's type, within --timeout.");
    return out;
}

Rows<CellOptions> text_rows() {
    Rows<CellOptions> out;
    out.text("cl-dir", "DIR", &CellOptions::cl_dir,
             "Reads kernel text from DIR/<family>.cl instead of the text built into cllab: edit and run, no rebuild. "
             "The kernels then run in a child process.");
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
    out.number("timeout", "SECONDS", any_seconds, &CellOptions::timeout_seconds, "60",
               "Ends a cell that makes no progress for SECONDS and records it as timed_out. With --isolate the run "
               "continues with the next cell. Without it the run stops, with all finished cells on disk.");
    out.seed("Seeds the random inputs. Default: a fresh seed per run. The record holds it.");
    return out;
}

Row json_row() {
    return {.name = "json",
            .value = "[=FILE]",
            .about = "Prints JSON instead of text, or writes it to FILE.",
            .alone = "-"};
}

Rows<Call> timings_rows() {
    Rows<Call> out;
    out.flag("timings", &Call::timings, "Prints the command's own time on stderr, by phase.");
    return out;
}

Rows<FileOptions> excerpt_rows() {
    Rows<FileOptions> out;
    out.text("markdown", "OUT", &FileOptions::markdown,
             "Also writes the tables to OUT as Markdown, for an issue or the summary of a pull request, with the chart "
             "of --svg or --png. - is standard output, instead of the tables.")
        .text("svg", "OUT", &FileOptions::svg,
              "Also writes the ranked chart to OUT as an SVG picture: the kernels at each point, fastest first, on one "
              "scale, with their intervals.")
        .text("png", "OUT", &FileOptions::png,
              "Also writes that chart to OUT as a PNG picture, for a slide or where no SVG is shown. Needs "
              "rsvg-convert.");
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

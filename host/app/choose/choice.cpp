#include "app/choose/choice.hpp"

#include <algorithm>
#include <filesystem>
#include <ranges>
#include <span>

#include "app/choose/capture.hpp"
#include "app/choose/request.hpp"
#include "app/commandline/rows.hpp"
#include "app/files/image_file.hpp"
#include "app/screen/streams.hpp"
#include "core/grouped.hpp"
#include "core/kernel_text.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "inspect/binary/binary.hpp"
#include "inspect/tools/tool.hpp"
#include "kernelfile/piece.hpp"
#include "model/warning.hpp"
#include "report/table/verdict.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {

std::pair<std::string, std::string> file_and_glob(const std::string& pattern) {
    const auto colon = pattern.rfind(':');
    const auto file = pattern.substr(0, colon);
    if (colon == std::string::npos || !names_kernel_file(file)) return {pattern, ""};
    return {file, pattern.substr(colon + 1)};
}

bool names_kernel_file(const std::string& pattern) {
    const auto file = pattern.substr(0, pattern.rfind(':'));
    return file.ends_with(".cl") || file.ends_with(".ocl") || names_program(file);
}

void refuse_file(const std::string& pattern, const std::string& command) {
    const auto colon = pattern.rfind(':');
    for (const auto& path : {pattern, pattern.substr(0, colon)}) {
        std::error_code ignored;
        const auto found = std::filesystem::status(path, ignored);
        if (std::filesystem::is_directory(found))
            throw Error(Blame::usage, "'", path, "' is a folder; `cllab ", command,
                        "` takes files and kernel names (see `cllab list`)");
        if (const auto fault = reading_fault(path); std::filesystem::exists(found) && !fault.empty())
            throw Error(Blame::usage, "file '", path, "' cannot be read: ", fault);
        if (std::filesystem::exists(found))
            throw Error(Blame::usage, "file '", path,
                        "' is not a kernel file; expected a name ending in .cl, .ocl, .spv, .ptx or another "
                        "program binary's extension");
    }
    // Names of kernels have no slash or dot.
    if (pattern.find_first_of("/.") != std::string::npos && pattern.find_first_of("*?[") == std::string::npos)
        throw Error(Blame::usage, "file '", pattern.substr(0, colon), "' not found");
}

model::Settings other_point(const std::string& versus) {
    if (versus.starts_with('-')) return {{model::build_options_axis().name, versus}};
    model::Settings out;
    const auto equals = versus.find('=');
    if (equals == versus.npos || names_kernel_file(versus) || !kernelfile::is_name(versus.substr(0, equals)))
        return out;
    for (const auto& part : split(versus, ',')) add_named("vs", part, out);
    return out;
}

bool names_best(const std::string& versus) { return versus == "best"; }
bool names_variant(const std::string& versus) {
    return !versus.empty() && other_point(versus).empty() && !names_best(versus);
}

namespace {

/// Checks a command whose patterns all name cllab's own kernels. Throws Error(usage).
void check_for_families(const CellOptions& invocation) {
    const auto refuse = [](const std::string& option) {
        throw Error(Blame::usage, "option '--", option,
                    "' applies to kernel files only, as in `cllab run my.cl`; no PATTERN is a kernel file");
    };
    for (const auto& [option, value] : invocation.statements)
        if (option != "tolerance") refuse(option);
    if (!invocation.reference_command.empty()) refuse("reference-command");
    tolerance_of(invocation);  // reports errors in it before a device is used
    if (names_kernel_file(invocation.versus))
        throw Error(Blame::usage, "--vs '", invocation.versus, "' is a kernel file, so PATTERN must be one too");
}

/// Checks a command that names kernel files. `built_in`: its other patterns. Throws Error(usage).
void check_for_files(const CellOptions& invocation, const std::vector<std::string>& built_in) {
    if (!built_in.empty())
        throw Error(Blame::usage, "kernel files and built-in families cannot be combined in one command; '",
                    built_in.front(), "' is not a kernel file");
    if (!invocation.cl_dir.empty())
        throw Error(Blame::usage,
                    "option '--cl-dir' applies to built-in families only; cllab always reads a kernel file from disk");
    if (!invocation.inputs.empty())
        throw Error(Blame::usage,
                    "option '--input' applies to built-in families only; for a kernel file use --arg NAME=image:FILE");
}

void say_guess(const GuessedBlock& block, bool whole) {
    if (block.kernels.empty()) return;
    if (!whole)
        return say("guessed " + (block.sizes.empty() ? "arguments" : block.sizes) + " (" + block.how +
                   "); `cllab run " + report::shell_word(block.file) + " --print-block` prints the guessed block");
    say("guessed (" + block.how + "); to keep or change it, put this into " + block.path() + ":");
    say_lines(block.text);
}

/// Some drivers end the process if a program binary is damaged.
void refuse_damaged(const kernelfile::KernelFiles& files) {
    for (const auto& file : files.files())
        if (const auto program = program_of_text(file.text()))
            if (const auto damage = inspect::damage_of(inspect::as_bytes(*program)); !damage.empty())
                throw Error(Blame::usage, "kernel file '", file.path, "' is damaged: ", damage);
}

}  // namespace

/// Kernel files on their way to an experiment: load() -> introspect() -> guess() -> make(). Each file is an experiment;
/// files that --vs compares share one.
struct Choice::FileSet {
    kernelfile::KernelFiles files;
    std::optional<Capture> capture{};
    std::vector<kernelfile::KernelPattern> wanted{};
    bool compared = false;  ///< the kernels must leave the same results
    std::vector<GuessedBlock> guessed{};
    std::vector<std::string> left_out{};  ///< sentences about skipped kernels, whose arguments cannot all be guessed
    model::Experiment experiment{};

    static std::vector<std::shared_ptr<FileSet>> load(CellOptions& invocation, const Snapshots& earlier);
    std::vector<AskedBuild> builds(const std::string& more_options);
    void introspect(std::span<const model::Introspection> found);
    void guess(const std::vector<AskedBuild>& builds);
    void make(kernelfile::Wants wants, std::set<std::string>& taken);
    bool has(const std::string& path) const;
    bool has(const model::Variant& variant) const;
};

/// Reads the files that the command line names; empty if it names none. Starts no process.
std::vector<std::shared_ptr<Choice::FileSet>> Choice::FileSet::load(CellOptions& invocation, const Snapshots& earlier) {
    std::optional<Capture> capture;
    if (!invocation.replay.empty()) {
        capture = read_capture(invocation.replay);
        invocation.patterns = {capture->text_path + ":" + capture->kernel};
    }
    auto patterns = invocation.patterns;
    std::vector<std::string> built_in;
    for (const auto& pattern : patterns)
        if (!names_kernel_file(pattern)) built_in.push_back(pattern);
    if (built_in.size() == patterns.size()) {
        check_for_families(invocation);
        return {};
    }
    check_for_files(invocation, built_in);
    const auto& versus = invocation.versus;
    if (!versus.empty() && names_kernel_file(versus)) patterns.push_back(versus);
    std::vector<std::string> paths;
    for (const auto& pattern : patterns) add_once(paths, file_and_glob(pattern).first);
    kernelfile::Description command_line;
    for (const auto& [option, value] : invocation.statements) kernelfile::parse_option(option, value, command_line);
    if (capture && !capture->options.empty()) kernelfile::parse_option("options", capture->options, command_line);
    // --vs may name a kernel of the same files without the file's name.
    if (names_variant(versus) && !names_kernel_file(versus)) patterns.push_back(paths.front() + ":" + versus);
    const bool compared = names_variant(versus) || names_best(versus);
    std::vector<std::shared_ptr<FileSet>> out;
    using Paths = std::vector<std::string>;
    for (const auto& together :
         compared ? std::vector<Paths>(1, paths) : mapped(paths, [](const auto& path) { return Paths{path}; })) {
        FileSet own{{together, command_line, invocation.axes, earlier, invocation.build_options}};
        refuse_damaged(own.files);
        for (const auto& pattern : patterns)
            if (const auto [path, glob] = file_and_glob(pattern); std::ranges::count(together, path))
                own.wanted.push_back({own.files.index_of(path), glob, pattern});
        own.compared = compared;
        out.push_back(std::make_shared<FileSet>(std::move(own)));
    }
    out.front()->capture = std::move(capture);
    return out;
}

bool Choice::FileSet::has(const std::string& path) const {
    return std::ranges::any_of(wanted, [&](const auto& one) { return files.files()[one.file].path == path; });
}

bool Choice::FileSet::has(const model::Variant& variant) const {
    return std::ranges::any_of(experiment.variants, [&](const auto& one) { return one.own == variant.own; });
}

/// The builds that a device or compiler is asked about.
std::vector<AskedBuild> Choice::FileSet::builds(const std::string& more_options) {
    std::vector<AskedBuild> out;
    for (const auto& build : files.builds()) {
        const auto& text = *build.text;
        out.push_back({line_directive(1, text.path) + "\n" + text.text,
                       build.options + (more_options.empty() ? "" : " " + more_options), text.includes_lab,
                       &files.files()[build.file].read.files, !build.setting.empty()});
    }
    return out;
}

/// Takes the result of each build.
void Choice::FileSet::introspect(std::span<const model::Introspection> found) {
    for (std::size_t i = 0; i < found.size(); ++i) files.builds()[i].found = found[i];
    if (!capture) return;
    for (const auto& build : files.builds())
        for (const auto& kernel : build.found.kernels)
            if (kernel.name == capture->kernel) files.describe(build.file, described(*capture, kernel));
}

/// Describes what the files leave open by guesses. If a whole file was requested, skips kernels that cannot be guessed
/// completely. Otherwise throws an Error that asks for the missing lines.
void Choice::FileSet::guess(const std::vector<AskedBuild>& builds) {
    guessed = guess_what_lacks(files, builds, wanted, compared);
    for (const auto& block : guessed) {
        if (block.open.empty()) continue;
        const auto file = files.index_of(block.file);
        std::vector<std::string> others;
        bool one_build = true, whole = false;
        for (const auto& build : files.builds()) {
            if (build.file != file) continue;
            one_build = one_build && others.empty();
            for (const auto& kernel : build.found.kernels)
                if (std::ranges::find(block.open, kernel.name, [](const auto& o) { return o.first; }) ==
                    block.open.end())
                    others.push_back(kernel.name);
        }
        for (const auto& one : wanted) whole = whole || (one.file == file && one.glob.empty());
        const auto is_named = [&](const auto& one) {
            return one.file == file && std::ranges::count(block.open, one.glob, [](const auto& o) { return o.first; });
        };
        if (!whole || !one_build || others.empty() || std::ranges::any_of(wanted, is_named)) {
            say_guess(block, true);
            throw Error(Blame::usage, block.open.front().second);
        }
        for (const auto& [kernel, sentence] : block.open) left_out.push_back(sentence + "; cllab skips it");
        std::erase_if(wanted, [&](const auto& one) { return one.file == file; });
        for (const auto& name : others) wanted.push_back({file, name, name});
    }
}

/// `taken`: names of families; the experiment's name is added.
void Choice::FileSet::make(kernelfile::Wants wants, std::set<std::string>& taken) {
    const auto load_picture = [](const std::string& path) { return load_grey(path); };
    experiment = files.experiment(wanted, load_picture, wants, taken, compared);
    taken.insert(experiment.family);
}

namespace {

/// Removes from each file the --axis settings that only other files use.
template <typename Owns>
void share_out_axes(const Owns& owns) {
    for (const auto& one : owns) {
        std::set<std::string> elsewhere;
        for (const auto& other : owns)
            if (other != one) elsewhere.merge(other->files.known_settings());
        one->files.leave_to_others(elsewhere);
    }
}

}  // namespace

Choice::Choice(const CellOptions& invocation, const Snapshots& earlier, const AskDevice& ask, kernelfile::Wants wants)
    : invocation_(invocation), own_(FileSet::load(invocation_, earlier)) {
    std::vector<std::vector<AskedBuild>> of_each;
    std::vector<AskedBuild> builds;
    for (const auto& one : own_) {
        of_each.push_back(one->builds(invocation.build_options));
        builds.insert(builds.end(), of_each.back().begin(), of_each.back().end());
    }
    if (builds.empty()) return;
    const auto found = ask ? ask(builds) : ask_in_child(invocation, builds);
    std::set<std::string> taken;
    for (const auto& family : model::registry()) taken.insert(family.family);
    auto rest = std::span(found);
    for (std::size_t i = 0; i < own_.size(); ++i) {
        own_[i]->introspect(rest.first(of_each[i].size()));
        rest = rest.subspan(of_each[i].size());
        // With another `ask`, this process may have called OpenCL already or must not use it.
        if (!ask && wants == kernelfile::Wants::launch) own_[i]->guess(of_each[i]);
        for (const auto& sentence : own_[i]->left_out) say(sentence);
        for (const auto& block : own_[i]->guessed) guessed_.push_back(block);
    }
    share_out_axes(own_);
    for (const auto& one : own_) one->make(wants, taken);
}

void Choice::say_defaults(bool whole, double left_out) const {
    if (!own()) return;
    if (left_out > 0) say(format_exact(left_out) + " cell(s) skipped by 'where' lines");
    for (const auto& one : own_) {
        if (one->guessed.empty())  // a guess states all defaults
            for (const auto& note : one->files.notes()) say(note);
        for (const auto& block : one->guessed) say_guess(block, whole);
    }
}

bool Choice::is_guessed(const model::Variant& variant) const {
    return variant.own && std::ranges::any_of(guessed(), [&](const auto& block) {
               return block.file == variant.own->path && block.kernels.count(variant.entry) > 0;
           });
}

void Choice::warn_of_sizes(const model::Cell& cell, model::Record& record) const {
    const auto& own = cell.variant->own;
    for (const auto& block : guessed())
        for (const auto& [kernel, sentence] : block.unlike)
            if (own && record.time && block.file == own->path && kernel == cell.variant->entry)
                record.warnings.push_back(model::warning(model::Warning::unlike_sizes, sentence));
}

Choice::FileSet& Choice::own_of(const model::Variant& variant) const {
    return **std::ranges::find_if(own_, [&](const auto& one) { return one->has(variant); });
}

kernelfile::CellArguments Choice::arguments_of(const model::Request& request) const {
    return own_of(request.variant).files.arguments_of(request);
}

kernelfile::Answers& Choice::answers(const model::Variant& variant) const { return own_of(variant).files.answers(); }

std::string Choice::source_line(const std::string& file, std::size_t number) const {
    using std::filesystem::path;
    for (const auto& own : files()) {
        if (path(own).filename() != path(file).filename()) continue;
        const auto lines = split(cllab::read_file(own).value_or(""), '\n');
        if (number >= 1 && number <= lines.size()) return lines[number - 1];
    }
    return {};
}

void Choice::require_built() const {
    for (const auto& [path, log] : not_built())
        throw Error(Blame::result, "'", path, "' does not build: ", run::first_error(log));
}

std::vector<kernelfile::KernelFiles::NotBuilt> Choice::not_built() const {
    std::vector<kernelfile::KernelFiles::NotBuilt> out;
    for (const auto& one : own_) std::ranges::copy(one->files.not_built(), std::back_inserter(out));
    return out;
}

std::vector<std::string> Choice::files() const {
    std::vector<std::string> out;
    for (const auto& one : own_)
        for (const auto& file : one->files.files())
            for (const auto& [path, text] : file.read.files) add_once(out, path);
    return out;
}

std::vector<model::Selected> Choice::select(const std::vector<std::string>& patterns) const {
    if (!own()) {
        for (const auto& pattern : patterns) {
            try {
                model::select(model::registry(), {pattern});
            } catch (const Error&) {
                refuse_file(pattern, invocation_.command);
                throw;
            }
        }
        return model::select(model::registry(), patterns);
    }
    std::vector<model::Selected> out;
    for (const auto& one : own_) {
        std::set<std::string> names;
        for (const auto& pattern : patterns) {
            const bool file = names_kernel_file(pattern);
            const auto [path, glob] =
                file ? file_and_glob(pattern) : std::pair(file_and_glob(invocation_.patterns.front()).first, pattern);
            if (!one->has(path)) continue;
            for (const auto& name : one->files.variants_of({one->files.index_of(path), glob, pattern}))
                names.insert(name);
        }
        const auto& experiment = one->experiment;
        for (const auto& variant : experiment.variants)
            if (names.count(variant.name))
                out.push_back({&experiment, &variant, one->files.id_of(experiment, variant)});
    }
    return out;
}

std::vector<model::Selected> Choice::selected() const {
    auto out = select(invocation_.patterns);
    if (!names_variant(invocation_.versus)) return out;
    const auto other = select({invocation_.versus});
    std::erase_if(out, [&](const auto& s) { return out.size() > 1 && s.variant == other.front().variant; });
    return out;
}

std::vector<model::Cell> first_cells(const Choice& choice, const std::vector<std::pair<std::string, std::string>>& axes,
                                     const std::vector<std::string>& patterns) {
    std::vector<model::Cell> cells;
    std::set<std::string> seen;
    for (auto& group : model::make_plan(choice.select(patterns), axes))
        for (auto& cell : group) {
            if (!seen.insert(cell.id).second && axes.empty()) continue;
            if (axes.empty()) cell.label.clear();
            cells.push_back(std::move(cell));
        }
    return cells;
}

std::vector<model::Cell> other_cells(const model::Cell& cell, const std::string& versus) {
    auto axes = cell.point.values();
    for (const auto& other : other_point(versus)) {
        std::erase_if(axes, [&](const auto& axis) { return axis.first == other.first; });
        axes.push_back(other);
    }
    std::vector<model::Cell> out;
    for (auto& other : model::make_plan({{cell.experiment, cell.variant, cell.id}}, axes) | std::views::join) {
        other.label = versus;
        out.push_back(std::move(other));
    }
    return out;
}

}  // namespace cllab::app

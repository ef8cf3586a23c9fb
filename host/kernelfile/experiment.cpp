#include "kernelfile/experiment.hpp"

#include <algorithm>
#include <cctype>

#include "core/error.hpp"
#include "core/includes.hpp"
#include "core/suggest.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "model/params.hpp"
#include "model/plan.hpp"

namespace cllab::kernelfile {
namespace {

namespace fs = std::filesystem;

std::string stem_of(const std::string& path) {
    auto out = fs::path(path).stem().string();
    std::ranges::replace_if(
        out, [](unsigned char c) { return !std::isalnum(c); }, '_');
    return out.empty() ? "kernel" : out;
}

constexpr std::size_t most_builds = 16;  // that a device is asked about

bool uses_integer_pixels(const model::Text& text) {
    return text.text.find("read_imageui") != std::string::npos || text.text.find("write_imageui") != std::string::npos;
}

std::string first_error(const std::string& log) {
    for (const auto& line : split(log, '\n'))
        if (lower(line).find("error") != std::string::npos) return trim(line);
    return one_line(log);
}

/// What the cells of the experiment share.
struct State {
    std::map<std::string, std::shared_ptr<const Bound>> bound;                ///< by variant
    std::map<std::string, std::shared_ptr<const model::Variant>> references;  ///< by variant that is held against it
    std::map<std::string, std::shared_ptr<const Bound>> reference_bound;      ///< likewise
    std::set<std::string> is_reference;                                       ///< variants that others are held against
    std::set<std::string> tuned;                                              ///< axes that must not change a result
    std::map<std::string, std::string> alike;                                 ///< by variant: Ledger::Question::alike
    Ledger ledger;
};

/// Equal for cells whose results may be held against each other: buffers of one name and size, at a point that differs
/// by tuned axes only.
std::string comparison_of(const model::Setup& setup, const model::Point& point, const std::set<std::string>& tuned) {
    std::vector<std::string> parts;
    for (const auto& argument : setup.args) {
        if (const auto* a = std::get_if<model::Input>(&argument))
            parts.push_back("i" + a->name + std::to_string(a->data.size()));
        if (const auto* a = std::get_if<model::InOut>(&argument))
            parts.push_back("b" + a->name + std::to_string(a->data.size()));
        if (const auto* a = std::get_if<model::Output>(&argument))
            parts.push_back("o" + a->name + std::to_string(a->size_bytes));
        if (const auto* a = std::get_if<model::Image>(&argument))
            parts.push_back("p" + a->name + std::to_string(a->width) + "x" + std::to_string(a->height) + "x" +
                            std::to_string(a->depth));
    }
    std::ranges::sort(parts);
    for (const auto& [axis, value] : point.values())
        if (!tuned.count(axis)) parts.push_back(axis + "=" + value);
    return join(parts, "\n");
}

model::Setup setup_of(const std::shared_ptr<State>& state, const model::Request& request, model::Params& params) {
    for (const auto& [axis, value] : request.point.values()) params.text(axis);
    const auto& bound = *state->bound.at(request.variant.name);
    auto out = bound.setup(request.point, bound.shape(request.point, request.device), request.seed);
    Ledger::Question question;
    question.comparison = comparison_of(out, request.point, state->tuned);
    question.variant = request.variant.name;
    question.alike = state->alike.at(question.variant);
    question.text = request.variant.own->path;
    for (const auto& [axis, value] : request.point.values()) question.point += axis + "=" + value + " ";
    question.results = bound.results(out);
    question.tolerance = bound.tolerance().value_or(Tolerance{});
    if (bound.tolerance()) out.errors = std::make_shared<model::Errors>(*bound.tolerance());
    question.seed = request.seed;
    question.random_inputs = bound.random_inputs();
    question.is_reference = state->is_reference.count(question.variant) != 0;
    const bool given = std::ranges::any_of(question.results, [](const auto& r) { return r.given != nullptr; });
    // A buffer that the kernel was seen to leave as it is accumulates nothing.
    question.accumulates = out.accumulates =
        given && (request.verification == 0 || state->ledger.changes_given_data(question));
    if (const auto reference = state->references.find(request.variant.name); reference != state->references.end()) {
        const auto& other = *state->reference_bound.at(request.variant.name);
        question.reference = reference->second->name;
        out.reference = model::Reference{reference->second.get(),
                                         std::make_shared<const model::Setup>(other.setup(
                                             request.point, other.shape(request.point, request.device), request.seed))};
    }
    const auto asked = std::make_shared<const Ledger::Question>(std::move(question));
    out.check = [state, asked](const model::Buffers& buffers) { return state->ledger.check(*asked, buffers); };
    out.proof = [state, asked] { return state->ledger.proof(*asked); };
    out.know_code = [state, asked](const std::string& code) { state->ledger.know_code(*asked, code); };
    return out;
}

}  // namespace

KernelFiles::KernelFiles(const std::vector<std::string>& paths, const Description& command_line,
                         const std::vector<std::pair<std::string, std::string>>& axes,
                         const std::map<std::string, Snapshot>& snapshots, std::string more_options)
    : more_options_(std::move(more_options)) {
    std::vector<std::string> wanted = paths;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto snapshot = snapshots.find(wanted[i]);
        files_.push_back(read_source(snapshot == snapshots.end() ? Snapshot{wanted[i], {}} : snapshot->second));
        files_.back().path = wanted[i];
        described_.push_back(files_.back().description);
        override_with(described_.back(), command_line);
        // A reference may be a kernel of another file.
        std::vector<const Scope*> scopes{&described_.back().all};
        for (const auto& [name, kernel] : described_.back().kernels) scopes.push_back(&kernel.second);
        for (const auto* scope : scopes) {
            if (!scope->reference) continue;
            const auto& [place, text] = *scope->reference;
            const auto at = text.rfind(".cl:");
            if (at == std::string::npos) continue;
            const auto path = place.line == 0 ? fs::path(text.substr(0, at + 3))
                                              : fs::path(wanted[i]).parent_path() / text.substr(0, at + 3);
            if (std::ranges::find(wanted, path.string()) == wanted.end()) wanted.push_back(path.string());
        }
    }
    declare_axes(axes);
    make_builds();
}

std::size_t KernelFiles::index_of(const std::string& path) const {
    for (std::size_t i = 0; i < files_.size(); ++i)
        if (files_[i].path == path) return i;
    throw Error(Blame::usage, "kernel file '" + path + "' is not among those that were read");
}

void KernelFiles::describe(std::size_t file, const Description& more) {
    Description both = more;
    override_with(both, described_[file]);
    described_[file] = both;
}

std::string KernelFiles::at_values(const std::string& options, const Place& place,
                                   const std::pair<std::string, std::string>& other) const {
    return substitute(options, [&](const std::string& inside) {
        for (const auto& axis : axes_)
            if (axis.name == inside) return axis.name == other.first ? other.second : axis.values.front();
        return std::to_string(
            Expression::parse(inside, place).evaluate([&](const std::string& name, const Place& at) -> std::int64_t {
                for (const auto& axis : axes_)
                    if (axis.name == name)
                        if (const auto value = parse_integer(axis.values.front())) return *value;
                refuse(at, "'" + name + "' is not an axis of whole numbers; options may use axes only");
            }));
    });
}

void KernelFiles::make_builds() {
    for (std::size_t f = 0; f < files_.size(); ++f) {
        std::vector<const VariantLine*> lines{nullptr};
        for (const auto& line : described_[f].variants) lines.push_back(&line);
        for (const auto* line : lines) {
            Build build{f, line ? line->name : "", {}};
            read_whole(build);
            for (const auto& [place, text] : described_[f].options)
                if (!text.starts_with("-"))
                    refuse(place, "a build option begins with '-', as in -DTILE=16; found " + cllab::quoted(text));
            if (line && !line->options.starts_with("-"))
                refuse(line->place, "the options of variant '" + line->name +
                                        "' begin with '-', as in -DTILE=32; found " + cllab::quoted(line->options));
            const Place place = line                            ? line->place
                                : described_[f].options.empty() ? Place{files_[f].path, 0, 0}
                                                                : described_[f].options.front().first;
            const auto at = [&](const std::pair<std::string, std::string>& other) {
                return join(options_of(build), " ", [&](const auto& one) { return at_values(one, place, other); });
            };
            build.options = at({});
            builds_.push_back(build);
            // A word may be a type; a number is none.
            for (const auto& axis : axes_)
                for (const auto& value : axis.values) {
                    if (parse_real(value) || builds_.size() >= most_builds) continue;
                    const auto options = at({axis.name, value});
                    const bool known = std::ranges::any_of(
                        builds_, [&](const auto& b) { return b.file == f && b.options == options; });
                    if (!known) builds_.push_back({f, build.variant, options, axis.name + "=" + value, build.text});
                }
        }
    }
}

/// Of lines `extends`. Throws Error(usage).
std::vector<fs::path> KernelFiles::folders_of(const Build& build) const {
    std::vector<fs::path> out;
    for (const auto& [place, path] : described_[build.file].folders) {
        out.push_back(place.line == 0 || fs::path(path).is_absolute() ? fs::path(path)
                                                                      : fs::path(place.file).parent_path() / path);
        std::error_code ignored;
        if (!fs::is_directory(out.back(), ignored))
            refuse(place, "there is no folder '" + out.back().string() + "' to include from");
    }
    return out;
}

/// An option may name a folder too; behind one that an axis names nobody knows what comes first.
void KernelFiles::read_whole(Build& build) {
    auto folders = folders_of(build);
    auto options = options_of(build);
    options.push_back(more_options_);
    bool alone = false;  // "-I folder"
    for (const auto& option : split(join(options, " "), ' ')) {
        if (!alone && !option.starts_with("-I")) continue;
        if (option.find('{') != std::string::npos) break;
        const auto folder = alone ? option : option.substr(2);
        alone = folder.empty();
        if (!alone) folders.emplace_back(folder);
    }
    build.text = std::make_shared<const model::Text>(whole_text(files_[build.file], folders));
}

std::vector<std::string> KernelFiles::options_of(const Build& build) const {
    std::vector<std::string> out;
    const auto& file = files_[build.file];
    const auto& description = described_[build.file];
    // The driver looks for what is not in the text.
    if (build.text && !includes_of(build.text->text).empty()) {
        auto folders = folders_of(build);
        folders.insert(folders.begin(), fs::path(file.path).parent_path());
        for (const auto& folder : folders) {
            const auto text = folder.empty() ? std::string(".") : folder.string();
            if (text.find(' ') != std::string::npos)
                refuse({"kernel file '" + file.path + "'", 0, 0},
                       "the folder '" + text + "' has a blank in its name, which build options cannot hold");
            out.push_back("-I" + text);
        }
    }
    for (const auto& [place, text] : description.options) out.push_back(text);
    for (const auto& line : description.variants)
        if (line.name == build.variant) out.push_back(line.options);
    return out;
}

void KernelFiles::check_names() const {
    std::vector<std::set<std::string>> arguments(files_.size()), kernels(files_.size());
    std::set<std::string> everywhere;
    for (const auto& build : builds_) {
        for (const auto& kernel : build.found.kernels) {
            kernels[build.file].insert(kernel.name);
            for (const auto& p : kernel.parameters) {
                arguments[build.file].insert(p.name);
                everywhere.insert(p.name);
            }
        }
    }
    const auto list = [](const std::set<std::string>& names) { return join({names.begin(), names.end()}, ", "); };
    for (std::size_t f = 0; f < files_.size(); ++f) {
        if (kernels[f].empty()) continue;
        for (const auto& [name, spec] : described_[f].all.arguments) {
            if ((spec.place.line == 0 ? everywhere : arguments[f]).count(name)) continue;
            refuse(spec.place,
                   "no kernel of '" + files_[f].path + "' has an argument '" + name + "'; " +
                       did_you_mean(name, {arguments[f].begin(), arguments[f].end()},
                                    "there are " + list(arguments[f]) +
                                        "; to name a size of your own, add an axis, as in 'axis " + name + " = 1024'"));
        }
        for (const auto& [name, kernel] : described_[f].kernels) {
            if (!kernels[f].count(name))
                refuse(kernel.first,
                       "there is no kernel '" + name + "' in '" + files_[f].path + "'; there are " + list(kernels[f]));
            for (const auto& [argument, spec] : kernel.second.arguments)
                if (spec.place.line > 0 && !arguments[f].count(argument))
                    refuse(spec.place,
                           "kernel '" + name + "' has no argument '" + argument + "'; there are " + list(arguments[f]));
        }
    }
}

/// Whoever sets an argument takes its type from the build at the first values.
void KernelFiles::check_types() const {
    for (const auto& build : builds_) {
        if (build.setting.empty() || !build.found.built) continue;
        const auto base = std::ranges::find_if(
            builds_, [&](const auto& b) { return b.file == build.file && b.variant == build.variant; });
        for (const auto& kernel : build.found.kernels)
            for (const auto& first : base->found.kernels) {
                if (kernel.name != first.name) continue;
                for (std::size_t i = 0; i < std::min(kernel.parameters.size(), first.parameters.size()); ++i) {
                    const auto &now = kernel.parameters[i], &then = first.parameters[i];
                    if (now.type.bytes == then.type.bytes && now.type.kind == then.type.kind && now.kind == then.kind)
                        continue;
                    const auto& lines = described_[build.file].options;
                    const auto word = build.setting.substr(build.setting.find('=') + 1);
                    refuse(lines.empty() ? Place{files_[build.file].path, 0, 0} : lines.front().first,
                           "argument '" + now.name + "' of kernel '" + kernel.name + "' has " +
                               std::to_string(now.type.bytes) + " bytes an element with " + build.setting + " and " +
                               std::to_string(then.type.bytes) +
                               " otherwise; what changes a type is a variant, as in 'variant " + word + " = " +
                               build.options + "', and not an axis");
                }
            }
    }
}

void KernelFiles::make_candidates() {
    check_types();
    for (std::size_t f = 0; f < files_.size(); ++f) {
        const model::Introspection* base = nullptr;
        for (const auto& build : builds_)
            if (build.file == f && (!base || !base->built)) base = &build.found;  // the first one that builds
        if (!base || !base->built) {
            const auto& log = builds_[static_cast<std::size_t>(
                                          std::ranges::find_if(builds_, [&](const auto& b) { return b.file == f; }) -
                                          builds_.begin())]
                                  .found.log;
            throw Error(Blame::result, "'" + files_[f].path + "' does not build: " + first_error(log));
        }
        if (base->kernels.empty()) {
            if (!base->trouble.empty())
                throw Error(Blame::environment,
                            "the driver tells nothing of the kernels in '" + files_[f].path + "': " + base->trouble);
            throw Error(Blame::usage, "there is no kernel in '" + files_[f].path + "': no function is __kernel");
        }
        for (std::size_t b = 0; b < builds_.size(); ++b) {
            const auto& build = builds_[b];
            if (build.file != f || !build.setting.empty()) continue;
            if (build.variant.empty() && !build.found.built) {
                notes_.push_back(files_[f].path + " builds only with the options of its variants");
                continue;
            }
            const auto& kernels = build.found.built ? build.found.kernels : base->kernels;
            for (const auto& kernel : kernels) {
                const auto name = build.variant.empty()       ? kernel.name
                                  : base->kernels.size() == 1 ? build.variant
                                                              : kernel.name + "_" + build.variant;
                candidates_.push_back({b, is_earlier(f) ? name + "_before" : name, kernel.name, name, &kernel});
            }
        }
    }
    std::set<std::string> names;
    const bool collide = std::ranges::any_of(candidates_, [&](const auto& c) { return !names.insert(c.name).second; });
    if (!collide) return;
    names.clear();
    for (auto& c : candidates_) {
        c.name = stem_of(files_[builds_[c.build].file].path) + "_" + c.name;
        if (!names.insert(c.name).second) throw Error(Blame::usage, "two variants have the name '" + c.name + "'");
    }
}

std::vector<const KernelFiles::Candidate*> KernelFiles::matching(const Wanted& wanted) const {
    std::vector<const Candidate*> out;
    for (const auto& c : candidates_)
        if (builds_[c.build].file == wanted.file &&
            (wanted.glob.empty() || glob_match(wanted.glob, c.name) || glob_match(wanted.glob, c.plain)))
            out.push_back(&c);
    if (!out.empty()) return out;
    std::vector<std::string> names;
    for (const auto& c : candidates_)
        if (builds_[c.build].file == wanted.file) names.push_back(c.name);
    throw Error(Blame::usage, "no kernel matches '" + wanted.as_written + "'; '" + files_[wanted.file].path + "' has " +
                                  join(names, ", "));
}

std::vector<std::string> KernelFiles::variants_of(const Wanted& wanted) const {
    std::vector<std::string> out;
    for (const auto* c : matching(wanted)) out.push_back(c->name);
    return out;
}

const KernelFiles::Candidate& KernelFiles::reference_of(const std::pair<Place, std::string>& named,
                                                        const Candidate& of) const {
    auto name = named.second;
    auto file = builds_[of.build].file;
    if (const auto at = name.rfind(".cl:"); at != std::string::npos) {
        const auto path = named.first.line == 0 ? fs::path(name.substr(0, at + 3))
                                                : fs::path(files_[file].path).parent_path() / name.substr(0, at + 3);
        file = index_of(path.string());
        name = name.substr(at + 4);
    }
    std::vector<std::string> names;
    for (const auto& c : candidates_) {
        if (builds_[c.build].file != file) continue;
        if (c.name == name || c.plain == name) return c;
        names.push_back(c.name);
    }
    // Of a file that builds only by its variants, a kernel is that of the same variant.
    for (const auto& c : candidates_)
        if (c.build == of.build && c.entry == name) return c;
    refuse(named.first,
           "there is no kernel or variant '" + name + "' to be the reference; there are " + join(names, ", "));
}

std::map<std::string, std::string> KernelFiles::alike(bool all) const {
    std::map<std::string, std::string> out;
    // A file's earlier text has the path of the file.
    for (const auto& c : candidates_)
        out[c.name] = all ? std::string() : files_[builds_[c.build].file].read.path + ":" + c.entry;
    for (std::size_t f = 0; f < files_.size(); ++f) {
        std::vector<std::string> known;
        for (const auto& c : candidates_)
            if (builds_[c.build].file == f) known.push_back(c.name);
        for (const auto& line : described_[f].same) {
            std::set<std::string> joined;
            for (const auto& name : line.names) {
                bool found = false;
                for (const auto& c : candidates_) {
                    if (builds_[c.build].file != f || (c.name != name && c.plain != name && c.entry != name)) continue;
                    joined.insert(out.at(c.name));
                    found = true;
                }
                if (!found)
                    refuse(line.place, "there is no kernel or variant '" + name + "' to leave the same; there are " +
                                           join(known, ", "));
            }
            for (auto& [variant, key] : out)
                if (joined.count(key)) key = *joined.begin();
        }
    }
    return out;
}

model::Experiment KernelFiles::experiment(const std::vector<Wanted>& wanted, const LoadPicture& load,
                                          Missing missing_values, const std::set<std::string>& taken_families,
                                          bool compared) {
    make_candidates();
    check_names();
    const auto state = std::make_shared<State>();
    state->alike = alike(compared);
    model::Experiment out;
    std::vector<std::string> stems, paths;
    std::vector<const Candidate*> chosen;
    for (const auto& one : wanted) {
        for (const auto* c : matching(one))
            if (std::ranges::find(chosen, c) == chosen.end()) chosen.push_back(c);
        if (is_earlier(one.file)) continue;
        const auto stem = stem_of(files_[one.file].path);
        if (std::ranges::find(stems, stem) == stems.end())
            stems.push_back(stem), paths.push_back(files_[one.file].path);
    }
    out.family = join(stems, "+");
    if (taken_families.count(out.family)) out.family += "_cl";
    out.question = "Which kernel of " + join(paths, " and ") + " is fastest?";
    out.axes = axes_;
    for (const auto& axis : axes_)
        if (!axis.tune.empty()) state->tuned.insert(axis.name);
    // Build options must not change a result either, where no axis of the file has their name.
    const auto build_options = model::build_options_axis().name;
    if (std::ranges::none_of(axes_, [&](const auto& a) { return a.name == build_options; }))
        state->tuned.insert(build_options);

    std::map<std::size_t, std::vector<std::string>> notes;  // by file
    const auto bind = [&](const Candidate& c, std::vector<std::string>& said) {
        const auto file = builds_[c.build].file;
        return std::make_shared<const Bound>(files_[file].path, described_[file], *c.signature,
                                             options_of(builds_[c.build]), uses_integer_pixels(*builds_[c.build].text),
                                             load, missing_values, said);
    };
    const auto variant_of = [&](const Candidate& c) {
        const auto& file = files_[builds_[c.build].file];
        model::Variant variant;
        variant.name = c.name;
        variant.meaning = "Kernel " + c.entry + " of " + file.path +
                          (builds_[c.build].variant.empty() ? "." : ", variant " + builds_[c.build].variant + ".");
        variant.own = builds_[c.build].text;
        variant.entry = c.entry;
        return variant;
    };
    for (const auto* c : chosen) {
        auto& said = notes[builds_[c->build].file];
        std::vector<std::string> new_notes;
        const auto bound = bind(*c, new_notes);
        for (const auto& note : new_notes)
            if (std::ranges::find(said, note) == said.end()) said.push_back(note);
        out.variants.push_back(variant_of(*c));
        state->bound[c->name] = bound;
        if (!bound->reference()) continue;
        const auto& reference = reference_of(*bound->reference(), *c);
        state->is_reference.insert(reference.name);
        if (&reference == c) continue;
        std::vector<std::string> unsaid;
        state->references[c->name] = std::make_shared<const model::Variant>(variant_of(reference));
        state->reference_bound[c->name] = bind(reference, unsaid);
    }
    for (const auto& [file, said] : notes)
        if (!said.empty() && !is_earlier(file))
            notes_.push_back(files_[file].path + " leaves out, and so gets: " + join(said, "; "));
    out.setup = [state](const model::Request& request, model::Params& params) {
        return setup_of(state, request, params);
    };
    out.resolve = [state](const model::Request& request, model::Params& params) {
        for (const auto& [axis, value] : request.point.values()) params.text(axis);
        state->bound.at(request.variant.name)->shape(request.point, request.device);
        if (const auto found = state->reference_bound.find(request.variant.name); found != state->reference_bound.end())
            found->second->shape(request.point, request.device);
    };
    return out;
}

}  // namespace cllab::kernelfile

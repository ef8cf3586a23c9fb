// The builds that a device is asked about, the kernels in them with the names that select them, and the statements
// about each kernel.
#include <algorithm>
#include <cctype>

#include "core/grouped.hpp"
#include "core/kernel_text.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "kernelfile/data/structs.hpp"
#include "kernelfile/experiment.hpp"
#include "kernelfile/names.hpp"
#include "kernelfile/piece.hpp"

namespace cllab::kernelfile {
namespace {

namespace fs = std::filesystem;

/// Whether Bound lacks a value: one that is not given and has no default.
bool lacks(const SaidOfKernel& said) {
    if (said.global.empty()) return true;
    return std::ranges::any_of(said.signature.parameters, [&](const auto& p) {
        // Random bytes are not valid contents of a struct.
        const bool is_struct = p.is_buffer() && p.type.is_opaque();
        const bool has_default = (has_extent(p) && !is_struct) || p.kind == model::Parameter::Kind::sampler;
        return !has_default && said.given.count(p.name) == 0;
    });
}

std::vector<std::string> texts_of(const std::optional<Sizes>& sizes) {
    return sizes ? mapped(sizes->second, [](const auto& one) { return one.text(); }) : std::vector<std::string>();
}

SaidOfKernel said_of(const Description& description, const model::KernelSignature& signature) {
    const auto said = scope_of(description, signature.name);
    return {signature, said.arguments, texts_of(said.global), texts_of(said.local), said.offset.has_value()};
}

}  // namespace

std::string KernelFiles::stem_of(std::size_t file) const {
    const auto stem = [](const fs::path& path) {
        // A compiled program keeps its extension, because its source often has the same stem.
        auto out = names_program(path.string()) ? path.filename().string() : path.stem().string();
        std::ranges::replace_if(
            out, [](unsigned char c) { return !std::isalnum(c); }, '_');
        return out;
    };
    const auto& own = files_[file];
    const auto out = stem(own.path), folder = stem(fs::path(own.path).parent_path());
    const bool shared = std::ranges::any_of(
        files_, [&](const auto& other) { return other.read.path != own.read.path && stem(other.path) == out; });
    if (out.empty()) return "kernel";
    return shared && !folder.empty() ? folder + "_" + out : out;
}

std::string KernelFiles::left_out(std::size_t file) const {
    std::set<std::string> names;
    for (const auto& build : builds_) {
        if (build.file != file || !build.text) continue;
        for (const auto& kernel : kernels_in(build.text->text)) names.insert(kernel.name);
    }
    for (const auto& build : builds_)
        for (const auto& kernel : build.found.kernels)
            if (build.file == file) names.erase(kernel.name);
    if (names.empty()) return {};
    return "an #if of the source excludes " + join({names.begin(), names.end()}, ", ") +
           "; define its macro, as in --build-options=-DWIDTH=4";
}

void KernelFiles::check_names() const {
    std::vector<std::set<std::string>> arguments(files_.size()), kernels(files_.size());
    for (const auto& build : builds_) {
        if (!build.found.built) continue;
        for (const auto& kernel : build.found.kernels) {
            kernels[build.file].insert(kernel.name);
            for (const auto& p : kernel.parameters) arguments[build.file].insert(p.name);
        }
    }
    std::set<std::string> everywhere, all_kernels;
    for (std::size_t f = 0; f < files_.size(); ++f) {
        for (const auto& name : buffers_named(described_[f])) arguments[f].insert(name);
        everywhere.insert(arguments[f].begin(), arguments[f].end());
        all_kernels.insert(kernels[f].begin(), kernels[f].end());
    }
    const auto list = [](const std::set<std::string>& names) {
        return names.empty() ? "none" : join({names.begin(), names.end()}, ", ");
    };
    for (std::size_t f = 0; f < files_.size(); ++f) {
        if (kernels[f].empty()) continue;
        check_sequences(described_[f], files_[f].path, kernels[f]);
        for (const auto& [name, spec] : described_[f].all.arguments) {
            if ((spec.place.line == 0 ? everywhere : arguments[f]).count(name)) continue;
            refuse(spec.place, "no kernel of '", files_[f].path, "' has an argument '", name, "'; ",
                   did_you_mean(name, {arguments[f].begin(), arguments[f].end()},
                                "their arguments are " + list(arguments[f]) +
                                    "; to define a size of your own, add an axis, as in 'axis " + name + " = 1024'"));
        }
        for (const auto& [name, kernel] : described_[f].kernels) {
            if (described_[f].aliases.count(name)) continue;
            // A command-line option may name a kernel of any file.
            if (!(kernel.first.line == 0 ? all_kernels : kernels[f]).count(name))
                refuse(kernel.first, "'", files_[f].path, "' has no kernel '", name, "'; its kernels are ",
                       list(kernels[f]));
            for (const auto& [argument, spec] : kernel.second.arguments)
                if (!(spec.place.line == 0 ? everywhere : arguments[f]).count(argument))
                    refuse(spec.place, "kernel '", name, "' has no argument '", argument, "'; its arguments are ",
                           list(arguments[f]));
        }
    }
}

/// Arguments are set with the types of the build at the first axis values. Throws Error(usage) if another value changes
/// the size or kind of a type.
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
                    refuse(lines.empty() ? Place{files_[build.file].path, 0, 0} : lines.front().first, "argument '",
                           now.name, "' of kernel '", kernel.name, "' has ", now.type.bytes, " bytes per element with ",
                           build.setting, " and ", then.type.bytes, " otherwise; use a variant, as in 'variant ", word,
                           " = ", build.options, "', instead of an axis");
                }
            }
    }
}

bool KernelFiles::is_built(std::size_t file) const {
    return std::ranges::any_of(builds_, [&](const auto& b) { return b.file == file && b.found.built; });
}

std::vector<KernelFiles::NotBuilt> KernelFiles::not_built() const {
    std::vector<NotBuilt> out;
    for (std::size_t f = 0; f < files_.size(); ++f)
        if (!is_built(f)) out.push_back({files_[f].path, std::ranges::find(builds_, f, &Build::file)->found.log});
    return out;
}

/// Gives a file that does not build the kernels that its text names. Their cells report the error.
const model::Introspection& KernelFiles::kernels_of_text(std::size_t file) {
    auto& first = *std::ranges::find(builds_, file, &Build::file);
    auto& kernels = first.found.kernels;
    for (const auto& kernel : kernels_in(first.text->text)) kernels.push_back({kernel.name, {}});
    if (kernels.empty()) kernels.push_back({"unknown", {}});
    return first.found;
}

void KernelFiles::make_candidates() {
    if (!candidates_.empty()) return;
    check_types();
    for (auto& build : builds_)
        if (build.text) name_members(build.found, build.text->text);
    for (std::size_t f = 0; f < files_.size(); ++f) {
        const model::Introspection* base = nullptr;
        for (const auto& build : builds_)
            if (build.file == f && (!base || !base->built)) base = &build.found;  // the first one that builds
        if (!is_built(f)) base = &kernels_of_text(f);
        if (base->kernels.empty()) {
            if (!base->trouble.empty())
                throw Error(Blame::environment, "the driver reports no kernels in '", files_[f].path,
                            "': ", base->trouble);
            throw Error(Blame::usage, "'", files_[f].path,
                        "' has no kernel: ", left_out(f).empty() ? "no function is __kernel" : left_out(f));
        }
        for (std::size_t b = 0; b < builds_.size(); ++b) {
            const auto& build = builds_[b];
            if (build.file != f || !build.setting.empty()) continue;
            if (build.variant.empty() && !build.found.built && base->built) {
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
            if (!code_only_ && base->built) add_sequences(b, kernels);
        }
    }
    std::set<std::string> names;
    const bool collide = std::ranges::any_of(candidates_, [&](const auto& c) { return !names.insert(c.name).second; });
    if (!collide) return cut_names();
    names.clear();
    for (auto& c : candidates_) {
        c.name = stem_of(builds_[c.build].file) + "_" + c.name;
        if (!names.insert(c.name).second)
            throw Error(Blame::usage, "two variants have the name '", c.name, "'; rename one");
    }
}

void KernelFiles::cut_names() {
    for (auto& c : candidates_) {
        const auto prefix = stem_of(builds_[c.build].file) + "_";
        if (!c.name.starts_with(prefix) || c.name.size() == prefix.size()) continue;
        const auto rest = c.name.substr(prefix.size());
        if (std::ranges::none_of(candidates_, [&](const auto& other) { return other.name == rest; })) c.name = rest;
    }
}

std::vector<const KernelFiles::Candidate*> KernelFiles::matching(const KernelPattern& wanted) const {
    std::vector<const Candidate*> out;
    for (const auto& c : candidates_)
        if (builds_[c.build].file == wanted.file && is_meant(c, wanted.glob)) out.push_back(&c);
    // Else by the name that rows and records show.
    const auto prefix = stem_of(wanted.file) + "_";
    if (out.empty())
        for (const auto& c : candidates_)
            if (builds_[c.build].file == wanted.file &&
                (glob_match(wanted.glob, prefix + c.name) || glob_match(wanted.glob, prefix + c.plain)))
                out.push_back(&c);
    // The glob may mean a sequence or a kernel that a macro makes.
    if (out.empty() && !is_built(wanted.file))
        for (const auto& c : candidates_)
            if (builds_[c.build].file == wanted.file) out.push_back(&c);
    if (!out.empty()) return out;
    std::vector<std::string> names;
    for (const auto& c : candidates_)
        if (builds_[c.build].file == wanted.file) names.push_back(c.plain);
    throw Error(Blame::usage, "no kernel matches '", wanted.as_written, "'; the kernels of '", files_[wanted.file].path,
                "' are ", join(names, ", "), left_out(wanted.file).empty() ? "" : "; " + left_out(wanted.file));
}

std::vector<std::string> KernelFiles::variants_of(const KernelPattern& wanted) const {
    return mapped(matching(wanted), [](const auto* c) { return c->name; });
}

std::string KernelFiles::id_of(const model::Experiment& experiment, const model::Variant& variant) const {
    const auto& path = variant.own->path;
    if (std::ranges::all_of(experiment.variants, [&](const auto& other) { return other.own->path == path; }))
        return experiment.id(variant);
    const auto file = std::ranges::find_if(files_, [&](const auto& one) { return one.read.path == path; });
    const auto prefix = stem_of(static_cast<std::size_t>(file - files_.begin())) + "_";
    return variant.name.starts_with(prefix) ? variant.name : prefix + variant.name;
}

const KernelFiles::Candidate& KernelFiles::reference_of(const Placed& named, const Candidate& of) const {
    auto name = named.second;
    auto file = builds_[of.build].file;
    if (const auto other = file_of_reference(named)) {
        file = index_of(other->first);
        name = other->second;
    }
    std::vector<std::string> names;
    for (const auto& c : candidates_) {
        if (builds_[c.build].file != file) continue;
        if (c.name == name || c.plain == name) return c;
        names.push_back(c.name);
    }
    // If the file builds only with the options of its variants, `name` means that kernel in the same variant.
    for (const auto& c : candidates_)
        if (c.build == of.build && c.entry == name) return c;
    refuse(named.first, "the reference '", name, "' is not a kernel or variant; expected one of ", join(names, ", "));
}

std::map<std::string, std::string> KernelFiles::alike(bool all) const {
    std::map<std::string, std::string> out;
    // An earlier version of a file has the same path in `read`.
    for (const auto& c : candidates_)
        out[c.name] = all ? std::string() : files_[builds_[c.build].file].read.path + ":" + c.entry;
    for (std::size_t f = 0; f < files_.size(); ++f)
        for (const auto& line : described_[f].same) {
            if (line.differ || !is_built(f)) continue;
            std::set<std::string> joined;
            for (const auto& variant : named_by(line, f)) joined.insert(out.at(variant));
            for (auto& [variant, key] : out)
                if (joined.count(key)) key = *joined.begin();
        }
    return out;
}

std::set<std::string> KernelFiles::named_by(const SameLine& line, std::size_t file) const {
    std::set<std::string> out;
    for (const auto& name : line.names) {
        std::vector<std::string> known;
        bool is_known = false;
        for (const auto& c : candidates_) {
            if (builds_[c.build].file != file) continue;
            known.push_back(c.name);
            if (c.name == name || c.plain == name || c.entry == name) out.insert(c.name), is_known = true;
        }
        if (!is_known)
            refuse(line.place, line.differ ? "'differ'" : "'same'", " names '", name,
                   "', which is not a kernel or variant; expected one of ", join(known, ", "));
    }
    return out;
}

std::map<std::string, std::set<std::string>> KernelFiles::differing() const {
    std::map<std::string, std::set<std::string>> out;
    for (std::size_t f = 0; f < files_.size(); ++f)
        for (const auto& line : described_[f].same) {
            if (!line.differ || !is_built(f)) continue;
            const auto all = named_by(line, f);
            for (const auto& variant : all) out[variant].insert(all.begin(), all.end());
        }
    return out;
}

std::vector<Stated> KernelFiles::stated(const std::vector<KernelPattern>& wanted) {
    make_candidates();
    std::vector<Stated> out;
    std::vector<std::pair<std::size_t, std::string>> known;  // variants of a kernel are guessed once
    const auto state = [&](const Candidate& c) {
        const auto file = builds_[c.build].file;
        if (c.is_sequence() || !is_built(file)) return;  // these are not guessed
        if (std::ranges::find(known, std::pair(file, c.entry)) != known.end()) return;
        known.emplace_back(file, c.entry);
        auto said = said_of(described_[file], *c.signature);
        for (const auto& axis : axes_)
            if (const auto value = parse_integer(axis.values.front())) said.axes.emplace_back(axis.name, *value);
        const bool is_enough = !lacks(said);
        out.push_back({c.build, std::move(said), is_enough});
    };
    for (const auto& one : wanted) {
        for (const auto* c : matching(one)) {
            state(*c);
            const auto file = builds_[c->build].file;
            const auto reference = scope_of(described_[file], c->entry).reference;
            if (reference && is_built(file)) state(reference_of(*reference, *c));
        }
    }
    return out;
}

// --- The builds that a device is asked about: each file with the options of each of its variants.

/// The point with the first value of each axis. If `where` lines exclude it, the first point that they allow.
model::Point KernelFiles::first_point(const Scope& said) const {
    auto axes = axes_;
    model::Point first;
    for (auto& axis : axes) {
        first.set(axis.name, axis.values.front());
        if (!axis.tune.empty()) axis.values = axis.tune;
    }
    std::vector<model::Constraint> constraints;
    for (const auto& line : said.where)
        constraints.push_back({line.text(), line.names(), [&](const model::Point& point) {
                                   return Names(point, said.arguments, {}).whole(line) != 0;
                               }});
    try {
        if (std::ranges::all_of(constraints, [&](const auto& c) { return c.holds(first); })) return first;
        const auto points = model::cross_if_few(axes, constraints);
        return points && !points->empty() ? points->front() : first;
    } catch (const Error&) {  // the plan reports it, when all names are known
        return first;
    }
}

std::string KernelFiles::at_values(const std::string& options, const Place& place, const model::Point& point) const {
    return substitute(options, [&](const std::string& inside) {
        if (point.has(inside)) return point.text(inside);
        return std::to_string(
            Expression::parse(inside, place).evaluate([&](const std::string& name, const Place& at) -> std::int64_t {
                if (point.has(name))
                    if (const auto value = parse_integer(point.text(name))) return *value;
                refuse(at, "'", name, "' is not an axis of whole numbers; build options can use only such axes");
            }));
    });
}

void KernelFiles::make_builds() {
    constexpr std::size_t most_builds = 16;  // limit for the builds of further axis words
    for (std::size_t f = 0; f < files_.size(); ++f) {
        const auto first = first_point(described_[f].all);
        std::vector<const VariantLine*> lines{nullptr};
        for (const auto& line : described_[f].variants) lines.push_back(&line);
        for (const auto* line : lines) {
            Build build{f, line ? line->name : "", {}};
            read_whole(build);
            for (const auto& [place, text] : described_[f].options)
                if (!text.starts_with("-"))
                    refuse(place, "a build option must begin with '-', as in -DTILE=16; found ", cllab::quoted(text));
            if (line && !line->options.starts_with("-"))
                refuse(line->place, "the options of variant '", line->name,
                       "' must begin with '-', as in -DTILE=32; found ", cllab::quoted(line->options));
            const Place place = line                            ? line->place
                                : described_[f].options.empty() ? Place{files_[f].path, 0, 0}
                                                                : described_[f].options.front().first;
            const auto at = [&](const model::Point& point) {
                return join(options_of(build), " ", [&](const auto& one) { return at_values(one, place, point); });
            };
            build.options = at(first);
            builds_.push_back(build);
            // A word may be a type, which changes the kernel's parameters. A number is not.
            for (const auto& axis : axes_)
                for (const auto& value : axis.values) {
                    if (parse_real(value) || builds_.size() >= most_builds) continue;
                    auto other = first;
                    other.set(axis.name, value);
                    const auto options = at(other);
                    const bool known = std::ranges::any_of(
                        builds_, [&](const auto& b) { return b.file == f && b.options == options; });
                    if (!known) builds_.push_back({f, build.variant, options, axis.name + "=" + value, build.text});
                }
        }
    }
}

/// The folders of `extends` lines. Throws Error(usage) if one does not exist.
std::vector<fs::path> KernelFiles::folders_of(const Build& build) const {
    std::vector<fs::path> out;
    for (const auto& [place, path] : described_[build.file].folders) {
        out.push_back(resolved(path, place));
        std::error_code ignored;
        if (!fs::is_directory(out.back(), ignored))
            refuse(place, "include folder '", out.back().string(), "' not found");
    }
    return out;
}

/// Reads the text with its includes. Searches the folders of `extends` lines and of -I options, up to the first -I
/// option with an axis: its folder, and so the search order after it, is unknown here.
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
    auto& file = files_[build.file];
    std::string first;
    for (const auto& [place, name] : described_[build.file].includes) {
        const auto path = resolved(name, place);
        std::error_code ignored;
        if (!file.read.files.count(path.string()) && !fs::is_regular_file(path, ignored))
            refuse(place, "include file '", path.string(), "' not found");
        first += "#include \"" + path.string() + "\"\n";
    }
    if (first.empty()) {
        build.text = std::make_shared<const model::Text>(whole_text(file, folders));
        return;
    }
    auto joined = file;
    joined.read.files[file.read.path] = first + line_directive(1, file.read.path) + "\n" + file.text();
    build.text = std::make_shared<const model::Text>(whole_text(joined, folders));
    file.read.files.merge(joined.read.files);  // keeps the included files
}

std::vector<std::string> KernelFiles::options_of(const Build& build) const {
    std::vector<std::string> out;
    const auto& file = files_[build.file];
    const auto& description = described_[build.file];
    // The driver searches for the includes that are still in the text.
    if (build.text && !includes_of(build.text->text).empty()) {
        auto folders = folders_of(build);
        folders.insert(folders.begin(), fs::path(file.path).parent_path());
        for (const auto& folder : folders) {
            const auto text = folder.empty() ? std::string(".") : folder.string();
            if (text.find(' ') != std::string::npos)
                refuse({"kernel file '" + file.path + "'", 0, 0}, "the folder '", text,
                       "' has a space in its name, which build options cannot contain");
            out.push_back("-I" + text);
        }
    }
    for (const auto& [place, text] : description.options) out.push_back(text);
    for (const auto& line : description.variants)
        if (line.name == build.variant) out.push_back(line.options);
    return out;
}

}  // namespace cllab::kernelfile

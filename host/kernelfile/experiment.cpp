#include "kernelfile/experiment.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iterator>
#include <limits>
#include <sstream>

#include "core/error.hpp"
#include "core/grouped.hpp"
#include "core/kernel_text.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "model/params.hpp"
#include "model/plan.hpp"
#include "model/warning.hpp"
#include "model/work.hpp"

namespace cllab::kernelfile {
namespace {

/// What the cells of the experiment share.
struct State {
    struct Operation {
        std::shared_ptr<const BoundOperation> bound;
        std::shared_ptr<const model::Variant> reference;  ///< null: none
        std::shared_ptr<const BoundOperation> reference_bound;
    };
    std::map<std::string, Operation> operations;           ///< by variant
    std::set<std::string> is_reference;                    ///< variants that are the reference of others
    std::set<std::string> copies;                          ///< variants with the text of their reference
    std::set<std::string> tuned;                           ///< axes that must not change a result
    std::map<std::string, std::string> alike;              ///< by variant: Ledger::Question::alike
    std::map<std::string, std::set<std::string>> differs;  ///< by variant: Ledger::Question::differs
    Ledger ledger;
    std::shared_ptr<const Answers> answers;
};

/// Equal for cells whose results can be compared: the buffers have the same names and sizes, and the points differ only
/// by tuned axes.
std::string comparison_of(const model::Setup& setup, const model::Point& point, const std::set<std::string>& tuned) {
    std::vector<std::string> parts;
    for (const auto& argument : setup.args) {
        const auto bytes = static_cast<std::uint64_t>(model::bytes_of(argument));
        if (bytes > 0) parts.push_back(concat(argument.index(), model::name_of(argument), bytes));
        if (const auto* a = std::get_if<model::Image>(&argument))
            parts.push_back(concat(a->name, a->width, "x", a->height, "x", a->depth));
    }
    std::ranges::sort(parts);
    for (const auto& [axis, value] : point.values())
        if (!tuned.count(axis)) parts.push_back(axis + "=" + value);
    return join(parts, "\n");
}

std::string text_of(const model::Point& point) {
    std::string out;
    for (const auto& [axis, value] : point.values()) out += axis + "=" + value + " ";
    return out;
}

/// The key of the Agreement with another device about a cell.
std::string agreement_key(const model::Request& request) {
    return request.variant.name + "\n" + text_of(request.point) + "\n" + request.device.selector;
}

template <typename T>
std::optional<T> value_at(const std::map<std::string, T>& all, const std::string& key) {
    const auto found = all.find(key);
    return found == all.end() ? std::nullopt : std::optional(found->second);
}

/// Whether two builds differ in comments and blanks only.
bool same_text(const Build& a, const Build& b) {
    const auto words = [](const Build& build) {
        std::istringstream text(without_comments(build.text->text));
        return std::vector<std::string>(std::istream_iterator<std::string>(text), {});
    };
    return a.options == b.options && words(a) == words(b);
}

Ledger::Question question_of(const State& state, const Bound& bound, const model::Setup& setup,
                             const model::Request& request) {
    Ledger::Question out;
    out.comparison = comparison_of(setup, request.point, state.tuned);
    out.variant = request.variant.name;
    out.alike = state.alike.at(out.variant);
    out.text = request.variant.own->path;
    out.point = text_of(request.point);
    out.differs = value_at(state.differs, out.variant).value_or(std::set<std::string>{});
    out.given = bound.given();
    out.results = bound.results(setup);
    out.tolerance = bound.tolerance().value_or(Tolerance{});
    out.seed = request.seed;
    out.random_inputs = bound.random_inputs();
    out.any_order = bound.any_order();
    out.is_reference = state.is_reference.count(out.variant) != 0;
    out.reference_is_copy = state.copies.count(out.variant) != 0;
    const auto& [by_command, by_device] = *state.answers;
    if (!by_command.empty()) out.answer = value_at(by_command, key_of(bound.shown(setup)));
    if (!by_device.empty()) out.agreement = value_at(by_device, agreement_key(request));
    return out;
}

/// An argument in local memory, if the driver chooses the group of its launch; empty if there is none.
std::string local_of_open_group(const model::Setup& setup) {
    for (const auto& argument : setup.args)
        for (const auto& step : model::steps_of(setup))
            if (const auto* launch = std::get_if<model::Launch>(&step);
                launch && launch->local.dims == 0 && std::holds_alternative<model::Local>(argument))
                if (const auto name = model::name_of(argument);
                    launch->args.empty() || std::ranges::count(launch->args, name) > 0)
                    return name;
    return {};
}

/// If the driver chooses the work-group of a launch: the work-items of the largest group that it can choose, if they
/// are very few. A group of OpenCL 1 divides the launch, so a prime size leaves one work-item.
std::optional<std::uint64_t> tiny_group(const model::Setup& setup) {
    constexpr std::uint64_t usual = 256, few = 8, many = 1024;
    for (const auto& step : model::steps_of(setup)) {
        const auto* launch = std::get_if<model::Launch>(&step);
        if (!launch || launch->local.dims != 0) continue;
        std::uint64_t items = 1, largest = 1;
        for (unsigned d = 0; d < launch->global.dims; ++d) {
            const std::uint64_t size = launch->global.size[d];
            std::uint64_t divisor = std::min(usual / largest, size);
            while (size % divisor != 0) --divisor;
            items *= size, largest *= divisor;
        }
        if (items >= many && largest < few) return largest;
    }
    return std::nullopt;
}

bool reads_normalised(const model::Setup& setup) {
    return std::ranges::any_of(setup.args, [](const auto& argument) {
        const auto* image = std::get_if<model::Image>(&argument);
        return image && image->data && image->format.is_normalised();
    });
}

model::Setup setup_of(const std::shared_ptr<State>& state, const model::Request& request, model::Params& params) {
    for (const auto& [axis, value] : request.point.values()) params.text(axis);
    const auto& [operation, reference, reference_bound] = state->operations.at(request.variant.name);
    const auto& bound = operation->data();
    auto out = operation->setup(request.point, request.device, request.seed);
    auto question = question_of(*state, bound, out, request);
    if (bound.tolerance()) out.errors = std::make_shared<model::Errors>(*bound.tolerance());
    // A kernel that appends continues at its counter: a second operation on the same data would write past the buffer's
    // end.
    if (!question.any_order.empty())
        for (const auto& argument : out.args)
            if (model::goes_in_and_out(argument)) add_once(out.reset, model::name_of(argument));
    const bool given = std::ranges::any_of(question.results, [&](const auto& r) {
        const bool again = std::ranges::any_of(out.steps, [&](const auto& step) {
            const auto* reset = std::get_if<model::Reset>(&step);
            return reset && reset->data == r.name;
        });
        return r.given != nullptr && !again && std::ranges::find(out.reset, r.name) == out.reset.end();
    });
    // An operation accumulates if it changes data that it was given and that no reset restores.
    question.accumulates = out.accumulates =
        given && (request.verification == 0 || state->ledger.changes_given_data(question));
    if (reference) {
        question.reference = reference->name;
        auto theirs = reference_bound->setup(request.point, request.device, request.seed);
        question.reference_accumulates = std::ranges::any_of(theirs.args, model::goes_in_and_out);
        out.reference = model::Reference{reference.get(), std::make_shared<const model::Setup>(std::move(theirs))};
    }
    // A reference proves more than relations, and a cell has room for only one other kernel.
    auto related = bound.related(request.point, out, request.seed, !out.reference);
    question.relations = std::move(related.relations);
    if (related.launches) out.reference = model::Reference{&request.variant, std::move(related.launches)};
    const auto asked = std::make_shared<const Ledger::Question>(std::move(question));
    out.check = [state, asked](const model::Buffers& buffers) { return state->ledger.check(*asked, buffers); };
    out.proof = [state, asked, local = local_of_open_group(out), tiny = tiny_group(out)] {
        auto proof = state->ledger.proof(*asked);
        if (tiny)
            proof.warnings.push_back(model::warning(
                model::Warning::driver_group,
                concat("the driver chooses the work-group size, and the largest one that divides 'global' has ", *tiny,
                       *tiny == 1 ? " work-item" : " work-items",
                       "; write 'local N' and round 'global' up to a multiple of it, with a test in the kernel")));
        if (!local.empty())
            proof.warnings.push_back(model::warning(
                model::Warning::driver_group, "the work-group is the driver's choice and may be larger than __local '" +
                                                  local + "' is made for; a line 'local N' says what it is"));
        return proof;
    };
    out.know_code = [state, asked](const std::string& code) { state->ledger.know_code(*asked, code); };
    return out;
}

/// An axis of the first kind that all values fit: integers, real numbers, words.
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
            // Values that begin like a number are meant as numbers, so the error about numbers is the better one.
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
                       "; it takes numbers, ranges such as 1Ki:1Mi:*2, or words");
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

/// Whether all kernel files have the axis: that of build options or that of the work-group.
bool is_of_all(const std::string& axis) { return axis == model::build_options_axis().name || axis == group_axis; }

Place place_of_setting(const std::string& name, const std::string& values) {
    return {"option '--axis' is '" + name + "=" + excerpt(values) + "'", 0, 0};
}

}  // namespace

KernelFiles::KernelFiles(const std::vector<std::string>& paths, const Description& command_line,
                         const std::vector<std::pair<std::string, std::string>>& axes,
                         const std::map<std::string, Snapshot>& snapshots, std::string more_options)
    : more_options_(std::move(more_options)), settings_(axes) {
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
            const auto other = scope->reference ? file_of_reference(*scope->reference) : std::nullopt;
            if (other) add_once(wanted, other->first);
        }
    }
    declare_axes(false);  // guesses may use the other settings
    make_builds();
}

std::size_t KernelFiles::index_of(const std::string& path) const {
    for (std::size_t i = 0; i < files_.size(); ++i)
        if (files_[i].path == path) return i;
    throw Error(Blame::usage, "kernel file '", path, "' was not read");
}

std::set<std::string> KernelFiles::known_settings() const {
    std::set<std::string> out;
    for (const auto& [name, values] : settings_)
        if (mentions(name) || std::ranges::count(axes_, name, &model::Axis::name)) out.insert(name);
    return out;
}

void KernelFiles::leave_to_others(const std::set<std::string>& settings) {
    const auto own = known_settings();
    std::erase_if(settings_,
                  [&](const auto& s) { return settings.count(s.first) && !own.count(s.first) && !is_of_all(s.first); });
}

void KernelFiles::describe(std::size_t file, const Description& more) {
    Description both = more;
    override_with(both, described_[file]);
    described_[file] = both;
    declare_axes(false);
}

/// The wanted candidates, each once. Sets the family and the question of `out`.
std::vector<const KernelFiles::Candidate*> KernelFiles::choose(const std::vector<KernelPattern>& wanted,
                                                               const std::set<std::string>& taken_families,
                                                               model::Experiment& out) const {
    std::vector<const Candidate*> chosen;
    std::vector<std::string> stems, paths;
    for (const auto& one : wanted) {
        for (const auto* c : matching(one)) add_once(chosen, c);
        if (is_earlier(one.file) || std::ranges::find(stems, stem_of(one.file)) != stems.end()) continue;
        stems.push_back(stem_of(one.file));
        paths.push_back(files_[one.file].path);
    }
    constexpr std::size_t most_named = 3;  // of more files, only the first is named
    const bool many = stems.size() > most_named;
    out.family = many ? stems.front() + "+" + std::to_string(stems.size() - 1) + "_more" : join(stems, "+");
    while (taken_families.count(out.family)) out.family += "_cl";
    out.question =
        "Which kernel of " + (many ? std::to_string(paths.size()) + " files" : join(paths, " and ")) + " is fastest?";
    return chosen;
}

model::Variant KernelFiles::variant_of(const Candidate& c) const {
    const auto& build = builds_[c.build];
    model::Variant out;
    out.name = c.name;
    out.meaning = (c.is_sequence() ? "Sequence " : "Kernel ") + c.entry + " of " + files_[build.file].path +
                  (build.variant.empty() ? "." : ", variant " + build.variant + ".");
    out.own = build.text;
    if (!c.is_sequence()) out.entry = c.entry;  // the kernels of a sequence are those of its steps
    return out;
}

std::shared_ptr<const BoundOperation> KernelFiles::bind(const Candidate& c, const LoadPicture& load, Wants wants,
                                                        std::vector<std::string>& notes) const {
    const auto& build = builds_[c.build];
    const auto& path = files_[build.file].path;
    const auto& described = described_[build.file];
    const auto format = usual_format(build.text->text);
    if (!c.is_sequence())
        return std::make_shared<const Bound>(path, described, *c.signature, options_of(build), format, load,
                                             is_built(build.file) ? wants : Wants::code, notes);
    const auto& line = *std::ranges::find(described.sequences, c.entry, &SequenceLine::name);
    return std::make_shared<const BoundSequence>(
        BoundSequence::From{path, described, line, *c.kernels, options_of(build), format}, load, notes);
}

void KernelFiles::note_undefined_reads(const Candidate& c, const std::map<std::string, std::string>& given) {
    const auto& build = builds_[c.build];
    if (c.is_sequence()) return;
    for (const auto& [name, said] : samplers_at_whole_coordinates(build.text->text, c.entry)) {
        const auto is = given.contains(name) ? given.at(name) : said;
        const auto has = [&](const char* word) { return lower(is).find(word) != is.npos; };
        if (has("linear") || has("normalized_coords_true") || (has("sampler:") && has("normalized")))
            add_once(notes_, files_[build.file].path + ": '" + c.entry + "' reads through '" + name + "' = " + is +
                                 " at whole coordinates, for which OpenCL C defines the values of nearest pixels only");
    }
}

model::Experiment KernelFiles::experiment(const std::vector<KernelPattern>& wanted, const LoadPicture& load,
                                          Wants wants, const std::set<std::string>& taken_families, bool compared) {
    declare_axes(true);
    code_only_ = wants == Wants::code;
    make_candidates();
    if (wants == Wants::launch) check_names();
    const auto state = std::make_shared<State>();
    state->alike = alike(compared);
    state->differs = differing();
    state->answers = answers_;
    model::Experiment out;
    const auto chosen = choose(wanted, taken_families, out);
    out.axes = axes_;
    for (const auto& axis : axes_)
        if (!axis.tune.empty()) state->tuned.insert(axis.name);
    if (described_.front().takes_group) state->tuned.insert(group_axis);
    // Build options must not change a result either, unless an axis of the file has their name.
    const auto build_options = model::build_options_axis().name;
    if (std::ranges::none_of(axes_, [&](const auto& a) { return a.name == build_options; }))
        state->tuned.insert(build_options);

    std::vector<std::pair<std::string, std::vector<std::string>>> groups;  // by variant
    std::map<std::size_t, std::vector<std::string>> notes;                 // by file
    for (const auto* c : chosen) {
        const auto bound = bind(*c, load, wants, notes[builds_[c->build].file]);
        note_undefined_reads(*c, bound->data().given());
        out.variants.push_back(variant_of(*c));
        auto& operation = state->operations[c->name] = {bound, {}, {}};
        out.constraints[c->name] = bound->data().constraints();  // `state` keeps the Bound
        if (auto tried = bound->groups()) groups.emplace_back(c->name, std::move(*tried));
        if (!bound->data().reference()) continue;
        const auto& reference = reference_of(*bound->data().reference(), *c);
        if (&reference == c) continue;
        state->is_reference.insert(reference.name);
        std::vector<std::string> unsaid;
        operation.reference = std::make_shared<const model::Variant>(variant_of(reference));
        operation.reference_bound = bind(reference, load, wants, unsaid);
        if (reference.entry == c->entry && same_text(builds_[reference.build], builds_[c->build]))
            state->copies.insert(c->name);
    }
    add_group_axes(groups, out.axes);
    for (const auto& [file, said] : notes)
        if (!said.empty() && !is_earlier(file)) notes_.push_back(files_[file].path + ": defaults: " + join(said, "; "));
    arguments_of_ = [state](const model::Request& request) {
        const auto& operation = *state->operations.at(request.variant.name).bound;
        const auto& bound = operation.data();
        const auto setup = operation.setup(request.point, request.device, request.seed);
        return CellArguments{agreement_key(request), bound.shown(setup), bound.tolerance().value_or(Tolerance{}),
                             bound.random_inputs(),  bound.any_order(),  reads_normalised(setup)};
    };
    out.setup = [state](const model::Request& request, model::Params& params) {
        return setup_of(state, request, params);
    };
    out.resolve = [state](const model::Request& request, model::Params& params) {
        for (const auto& [axis, value] : request.point.values()) params.text(axis);
        const auto& [operation, reference, reference_bound] = state->operations.at(request.variant.name);
        operation->check(request.point, request.device);
        if (reference) reference_bound->check(request.point, request.device);
    };
    return out;
}

// --- The axes of kernel files: from lines in their blocks, and from --axis for a name that something uses.

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
                refuse(line.place, "axis '", axis.name, "' has other values at ", from[axis.name].text(),
                       "; set both with --axis ", axis.name, "=VALUES");
            }
        }
    }
    for (const auto& [name, values] : settings) {
        if (std::ranges::any_of(axes_, [&, &n = name](const auto& a) { return a.name == n; })) continue;
        const auto place = place_of_setting(name, values);
        if (!mentions(name)) {
            if (is_of_all(name) || !all_are_known) continue;
            const auto known = mapped(axes_, &model::Axis::name);
            if (not_built().empty())  // else a guess might use it
                refuse(place, "nothing in '", files_.front().path, "' or on the command line uses an axis '", name, "'",
                       known.empty() ? "" : "; " + did_you_mean(name, known, "its axes are " + join(known, ", ")));
        }
        axes_.push_back(axis_from({place, name, values}));
    }
    // An axis that is not of integers takes its values and kind from --axis.
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

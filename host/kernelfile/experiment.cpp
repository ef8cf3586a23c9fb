#include "kernelfile/experiment.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/grouped.hpp"
#include "core/text.hpp"
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
        std::shared_ptr<const model::Variant> reference;  ///< that it is held against; nothing: none
        std::shared_ptr<const BoundOperation> reference_bound;
    };
    std::map<std::string, Operation> operations;  ///< by variant
    std::set<std::string> is_reference;           ///< variants that others are held against
    std::set<std::string> tuned;                  ///< axes that must not change a result
    std::map<std::string, std::string> alike;     ///< by variant: Ledger::Question::alike
    Ledger ledger;
    Opinions opinions;
};

/// Equal for cells whose results may be held against each other: buffers of one name and size, at a point that differs
/// by tuned axes only.
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

/// What another device's results of a cell are known by, which were held against those of this one.
std::string agreement_key(const model::Request& request) {
    return request.variant.name + "\n" + text_of(request.point) + "\n" + request.device.selector;
}

Ledger::Question question_of(const State& state, const Bound& bound, const model::Setup& setup,
                             const model::Request& request) {
    Ledger::Question out;
    out.comparison = comparison_of(setup, request.point, state.tuned);
    out.variant = request.variant.name;
    out.alike = state.alike.at(out.variant);
    out.text = request.variant.own->path;
    out.point = text_of(request.point);
    out.results = bound.results(setup);
    out.tolerance = bound.tolerance().value_or(Tolerance{});
    out.seed = request.seed;
    out.random_inputs = bound.random_inputs();
    out.any_order = bound.any_order();
    out.is_reference = state.is_reference.count(out.variant) != 0;
    if (state.opinions.has_answers()) out.answer = state.opinions.answer(key_of(bound.shown(setup)));
    out.agreement = state.opinions.agreement(agreement_key(request));
    return out;
}

/// An argument in local memory of a launch whose group the driver chooses; empty: there is none.
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
    // What appends goes on from its counter: a second operation on it would write behind the buffer.
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
    // A buffer that the kernel was seen to leave as it is accumulates nothing, and no more does one that is put back.
    question.accumulates = out.accumulates =
        given && (request.verification == 0 || state->ledger.changes_given_data(question));
    if (reference) {
        question.reference = reference->name;
        auto theirs = reference_bound->setup(request.point, request.device, request.seed);
        question.reference_accumulates = std::ranges::any_of(theirs.args, model::goes_in_and_out);
        out.reference = model::Reference{reference.get(), std::make_shared<const model::Setup>(std::move(theirs))};
    }
    // A reference proves more, and there is room for one kernel beside the cell's.
    auto related = bound.related(request.point, out, request.seed, !out.reference);
    question.relations = std::move(related.relations);
    if (related.launches) out.reference = model::Reference{&request.variant, std::move(related.launches)};
    const auto asked = std::make_shared<const Ledger::Question>(std::move(question));
    out.check = [state, asked](const model::Buffers& buffers) { return state->ledger.check(*asked, buffers); };
    out.proof = [state, asked, local = local_of_open_group(out)] {
        auto proof = state->ledger.proof(*asked);
        if (!local.empty())
            proof.warnings.push_back(model::warning(
                model::Warning::driver_group, "the work-group is the driver's choice and may be larger than __local '" +
                                                  local + "' is made for; a line 'local N' says what it is"));
        return proof;
    };
    out.know_code = [state, asked](const std::string& code) { state->ledger.know_code(*asked, code); };
    return out;
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
    declare_axes(false);  // what is guessed may use the others
    make_builds();
}

std::size_t KernelFiles::index_of(const std::string& path) const {
    for (std::size_t i = 0; i < files_.size(); ++i)
        if (files_[i].path == path) return i;
    throw Error(Blame::usage, "kernel file '", path, "' is not among those that were read");
}

void KernelFiles::describe(std::size_t file, const Description& more) {
    Description both = more;
    override_with(both, described_[file]);
    described_[file] = both;
    declare_axes(false);
}

/// The candidates that are wanted, each once; `out` gets their family and question.
std::vector<const KernelFiles::Candidate*> KernelFiles::choose(const std::vector<Wanted>& wanted,
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
    constexpr std::size_t most_named = 3;  // a folder is called by it
    const bool many = stems.size() > most_named;
    out.family = many ? stems.front() + "+" + std::to_string(stems.size() - 1) + "_more" : join(stems, "+");
    if (taken_families.count(out.family)) out.family += "_cl";
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
        return std::make_shared<const Bound>(path, described, *c.signature, options_of(build), format, load, wants,
                                             notes);
    const auto& line = *std::ranges::find(described.sequences, c.entry, &SequenceLine::name);
    return std::make_shared<const BoundSequence>(
        BoundSequence::From{path, described, line, *c.kernels, options_of(build), format}, load, notes);
}

model::Experiment KernelFiles::experiment(const std::vector<Wanted>& wanted, const LoadPicture& load, Wants wants,
                                          const std::set<std::string>& taken_families, bool compared) {
    declare_axes(true);
    code_only_ = wants == Wants::code;
    make_candidates();
    if (wants == Wants::launch) check_names();
    const auto state = std::make_shared<State>();
    state->alike = alike(compared);
    state->opinions = Opinions(opinions_);
    model::Experiment out;
    const auto chosen = choose(wanted, taken_families, out);
    out.axes = axes_;
    for (const auto& axis : axes_)
        if (!axis.tune.empty()) state->tuned.insert(axis.name);
    if (described_.front().takes_group) state->tuned.insert(group_axis);
    // Build options must not change a result either, where no axis of the file has their name.
    const auto build_options = model::build_options_axis().name;
    if (std::ranges::none_of(axes_, [&](const auto& a) { return a.name == build_options; }))
        state->tuned.insert(build_options);

    std::vector<std::pair<std::string, std::vector<std::string>>> groups;  // by variant
    std::map<std::size_t, std::vector<std::string>> notes;                 // by file
    for (const auto* c : chosen) {
        const auto bound = bind(*c, load, wants, notes[builds_[c->build].file]);
        out.variants.push_back(variant_of(*c));
        auto& operation = state->operations[c->name] = {bound, {}, {}};
        out.constraints[c->name] = bound->data().constraints();  // the state keeps it
        if (auto tried = bound->groups()) groups.emplace_back(c->name, std::move(*tried));
        if (!bound->data().reference()) continue;
        const auto& reference = reference_of(*bound->data().reference(), *c);
        state->is_reference.insert(reference.name);
        if (&reference == c) continue;
        std::vector<std::string> unsaid;
        operation.reference = std::make_shared<const model::Variant>(variant_of(reference));
        operation.reference_bound = bind(reference, load, wants, unsaid);
    }
    add_group_axes(groups, out.axes);
    for (const auto& [file, said] : notes)
        if (!said.empty() && !is_earlier(file))
            notes_.push_back(files_[file].path + " leaves out, and so gets: " + join(said, "; "));
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

}  // namespace cllab::kernelfile

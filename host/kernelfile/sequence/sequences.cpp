#include "kernelfile/sequence/sequences.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "kernelfile/experiment.hpp"
#include "kernelfile/piece.hpp"
#include "model/work.hpp"

namespace cllab::kernelfile {
namespace {

/// The buffer that an argument of a kernel in a sequence names: `arg src = partial` or `same:partial`. nullopt for
/// other values.
std::optional<std::string> buffer_named(const ArgumentSpec& spec) {
    if (spec.kind == ArgumentSpec::Kind::same) return spec.words.front();
    if (spec.kind != ArgumentSpec::Kind::numbers || spec.numbers.size() != 1) return std::nullopt;
    const auto& text = spec.numbers.front().text();
    return is_name(text) ? std::optional(text) : std::nullopt;
}

using model::Parameter;

constexpr std::size_t most_launches = 4096;

bool is_shared(const Parameter& p) { return has_extent(p) || p.kind == Parameter::Kind::sampler; }

std::string type_words(const Parameter& p) {
    if (p.kind == Parameter::Kind::sampler) return "a sampler";
    if (p.kind == Parameter::Kind::image)
        return (p.reads_too ? "a read and written " : p.writes ? "a written " : "a read ") + p.type.name;
    return p.type.name + "*";
}

/// Adds the scalars that have one value in all items, so that expressions may name them.
void add_scalars(Scope& to, const std::vector<Scope>& items) {
    std::map<std::string, const ArgumentSpec*> said;
    for (const auto& item : items)
        for (const auto& [name, spec] : item.arguments) {
            auto& known = said.try_emplace(name, &spec).first->second;
            if (known && known->text != spec.text) known = nullptr;
        }
    for (const auto& [name, spec] : said)
        if (spec && spec->kind == ArgumentSpec::Kind::numbers) to.arguments.emplace(name, *spec);
}

/// Adds the value for a kernel under the first of `names` that no other value has. Returns that name.
std::string add_value(model::Setup& to, const model::Argument& value, const std::vector<std::string>& names) {
    const auto same = [&](const model::Argument& other) {
        if (const auto* a = std::get_if<model::Value>(&value))
            return std::holds_alternative<model::Value>(other) && std::get<model::Value>(other).data == a->data;
        return std::holds_alternative<model::Local>(other) &&
               std::get<model::Local>(other).size_bytes == std::get<model::Local>(value).size_bytes;
    };
    for (const auto& name : names) {
        const auto found = std::ranges::find_if(to.args, [&](const auto& a) { return model::name_of(a) == name; });
        if (found != to.args.end() && same(*found)) return name;
        if (found != to.args.end()) continue;
        to.args.push_back(value);
        std::visit([&](auto& a) { a.name = name; }, to.args.back());
        return name;
    }
    return names.back();
}

/// Adds the swaps after which each name means the buffer in `holds`.
void add_swaps(model::Setup& to, const std::map<std::string, std::string>& holds) {
    std::map<std::string, std::string> now;
    for (const auto& [name, buffer] : holds) now[name] = name;
    for (const auto& [name, buffer] : holds) {
        if (now[name] == buffer) continue;
        const auto other = std::ranges::find_if(now, [&, &b = buffer](const auto& one) { return one.second == b; });
        to.steps.push_back(model::Swap{name, other->first});
        std::swap(now[name], other->second);
    }
}

/// The bytes of all launches: each buffer of a launch once.
double bytes_of_launches(const model::Setup& setup) {
    std::map<std::string, double> sizes;
    for (const auto& argument : setup.args) sizes[model::name_of(argument)] = model::bytes_of(argument);
    for (const auto& part : setup.parts) sizes[part.name] = static_cast<double>(part.size_bytes);
    double out = 0;
    for (const auto& step : setup.steps)
        if (const auto* launch = std::get_if<model::Launch>(&step))
            for (const auto& name : launch->args) out += sizes[name];
    return out;
}

}  // namespace

struct BoundSequence::Joined {
    struct Buffer {
        Parameter parameter;
        std::string first_item;
        std::optional<ArgumentSpec> spec;
    };
    std::vector<Buffer> buffers;
    std::vector<Scope> scopes;  ///< by item

    Buffer* find(const std::string& name) {
        const auto found = std::ranges::find_if(buffers, [&](const auto& b) { return b.parameter.name == name; });
        return found == buffers.end() ? nullptr : &*found;
    }
    std::string names() const {
        return join(buffers, ", ", [](const auto& b) { return b.parameter.name; });
    }
};

BoundSequence::BoundSequence(const From& from, const LoadPicture& load, std::vector<std::string>& notes)
    : line_(from.line) {
    Joined joined;
    for (const auto& [item, place] : line_.kernels) add_item(from, item, load, notes, joined);
    check_buffers(joined);
    bind_data(from, load, notes, joined);
}

void BoundSequence::add_item(const From& from, const std::string& item, const LoadPicture& load,
                             std::vector<std::string>& notes, Joined& joined) {
    const auto& kernel = from.description.kernel_of(item);
    const auto found = std::ranges::find(from.kernels, kernel, &model::KernelSignature::name);
    if (found == from.kernels.end())
        refuse(line_.place, "sequence '", line_.name, "' lists '", kernel, "', which an #if of this build excludes");
    if (found->parameters.empty())
        refuse(line_.place, "sequence '", line_.name, "' lists '", kernel, "', which has no arguments");
    Description own;
    own.all = scope_of(from.description, kernel);
    if (from.description.aliases.count(item)) take_over(own.all, from.description.kernels.at(item).second);
    take_over(own.all, line_.scope);
    Item out{item, kernel, {}, {}};
    auto signature = *found;
    signature.parameters.clear();
    for (const auto& parameter : found->parameters) {
        const bool shared = is_shared(parameter);
        std::string name = parameter.name;
        if (shared) {
            const auto given = own.all.arguments.find(name);
            const auto other = given == own.all.arguments.end() ? std::nullopt : buffer_named(given->second);
            name = other.value_or(name);
            join_parameter(parameter, name, item, own.all, joined);
        } else {
            signature.parameters.push_back(parameter);
        }
        out.arguments.emplace_back(name, shared);
    }
    joined.scopes.push_back(own.all);
    own.all.expected.clear(), own.all.relations.clear(), own.all.reference.reset();
    own.all.work = from.line.scope.work;
    out.own = std::make_shared<const Bound>(from.path, own, signature, std::vector<std::string>{}, model::PixelFormat{},
                                            load, Wants::launch, notes);
    items_.push_back(std::move(out));
}

/// Adds a shared argument. Throws Error(usage) if an earlier kernel has a different one of that name.
void BoundSequence::join_parameter(const Parameter& parameter, const std::string& name, const std::string& item,
                                   const Scope& scope, Joined& joined) const {
    const auto given = scope.arguments.find(name);
    // 'arg partial = total' is about the kernel's parameter, not about the buffer of that name.
    const bool says_nothing = given == scope.arguments.end() || buffer_named(given->second);
    const auto spec = says_nothing ? std::nullopt : std::optional(given->second);
    auto* const known = joined.find(name);
    if (!known) {
        joined.buffers.push_back({parameter, item, spec});
        joined.buffers.back().parameter.name = name;
        return;
    }
    const auto refuse_pair = [&](const std::string& then, const std::string& now, const std::string& what) {
        refuse(line_.place, "in sequence '", line_.name, "', '", name, "' is ", then, " for '", known->first_item,
               "' and ", now, " for '", item, "'; ", what);
    };
    auto& before = known->parameter;
    const bool buffers = before.is_buffer() && parameter.is_buffer();
    if ((!buffers && before.kind != parameter.kind) || before.writes != parameter.writes ||
        before.reads_too != parameter.reads_too || !(before.type == parameter.type))
        refuse_pair(type_words(before), type_words(parameter), "kernels can share only a buffer of one type");
    if (spec && known->spec && spec->text != known->spec->text)
        refuse_pair(known->spec->text, spec->text,
                    "a line 'arg " + name + " = …' after 'sequence " + line_.name + "' sets it for all");
    if (!known->spec) known->spec = spec;
    // If any kernel writes the buffer, it is an output, or it has data that goes in and comes out.
    if (!parameter.is_const) before.is_const = false;
    if (parameter.kind == Parameter::Kind::global) before.kind = parameter.kind;
}

/// Checks the buffers of `swap` and `reset` lines. Swapped buffers count as written.
void BoundSequence::check_buffers(Joined& joined) const {
    const auto find = [&](const std::string& name, const Place& place, const char* keyword) -> auto& {
        auto* const found = joined.find(name);
        using Kind = ArgumentSpec::Kind;
        if (!found || !found->parameter.is_buffer() ||
            (found->spec && (found->spec->kind == Kind::part || found->spec->kind == Kind::null)))
            refuse(place, "'", keyword, "' names '", name, "', which is not a buffer of sequence '", line_.name,
                   "'; its shared arguments are ", joined.names());
        return *found;
    };
    for (const auto& swap : line_.swaps) {
        auto &a = find(swap.a, swap.place, "swap").parameter, &b = find(swap.b, swap.place, "swap").parameter;
        if (!(a.type == b.type))
            refuse(swap.place, "'", a.name, "' is ", type_words(a), " and '", b.name, "' is ", type_words(b),
                   "; only buffers of the same type can be swapped");
        a.is_const = b.is_const = false;
        a.kind = b.kind = Parameter::Kind::global;
    }
    auto resets = line_.resets;
    resets.insert(resets.end(), line_.repeated_resets.begin(), line_.repeated_resets.end());
    for (const auto& [name, place] : resets) {
        const auto& buffer = find(name, place, "reset");
        if (buffer.parameter.is_const)
            refuse(place, "'reset' names '", name, "', which no kernel of the sequence writes");
        if (buffer.spec && buffer.spec->kind == ArgumentSpec::Kind::output)
            refuse(place, "'reset' names '", name, "', which has no initial data; write e.g. 'arg ", name,
                   " = zero:", buffer.spec->extent.empty() ? "1024" : buffer.spec->extent.front().text(), "'");
    }
}

/// Binds the shared arguments as those of one kernel. The statements about results apply to that kernel.
void BoundSequence::bind_data(const From& from, const LoadPicture& load, std::vector<std::string>& notes,
                              Joined& joined) {
    Description all;
    all.tolerance = from.description.tolerance;
    all.all = from.description.all;
    take_over(all.all, line_.scope);
    add_scalars(all.all, joined.scopes);
    all.all.work = line_.scope.work;
    const Sizes one{line_.place, {Expression::parse("1", line_.place)}};
    all.all.global = all.all.local = one;  // not launched: each kernel has its own sizes
    all.all.offset.reset();
    model::KernelSignature signature{line_.name, {}};
    std::vector<std::string> missing;
    for (const auto& buffer : joined.buffers) {
        signature.parameters.push_back(buffer.parameter);
        const auto& name = buffer.parameter.name;
        if (buffer.spec &&
            (!buffer.spec->extent.empty() || !buffer.spec->path.empty() ||
             buffer.spec->kind == ArgumentSpec::Kind::sampler || buffer.spec->kind == ArgumentSpec::Kind::null))
            all.all.arguments.insert_or_assign(name, *buffer.spec);
        else if (buffer.parameter.kind != Parameter::Kind::sampler)
            missing.push_back(name);
    }
    if (!missing.empty())
        refuse(line_.place, "sequence '", line_.name, "' lacks the data or the length of ", join(missing, ", "),
               "; write e.g. 'arg ", missing.front(), " = zero:1024'");
    data_ = std::make_shared<const Bound>(from.path, all, signature, from.options, from.usual_format, load,
                                          Wants::launch, notes);
}

std::size_t BoundSequence::repetitions(const model::Point& point) const {
    if (!line_.repeat) return 1;
    const auto most = most_launches / items_.size();
    const auto found = data_->value(point, *line_.repeat);
    if (found < 1 || static_cast<std::size_t>(found) > most)
        refuse(line_.repeat->place(), "the sequence repeats ", found, " times; expected 1 to ", most,
               ", because an operation has at most ", most_launches, " launches");
    return static_cast<std::size_t>(found);
}

void BoundSequence::check_swaps(const Shape& shape) const {
    for (const auto& swap : line_.swaps) {
        const auto a = shape.counts.at(swap.a), b = shape.counts.at(swap.b);
        if (a != b)
            refuse(swap.place, "'", swap.a, "' has ", a, " elements and '", swap.b, "' has ", b,
                   "; only buffers of the same length can be swapped");
    }
}

void BoundSequence::check(const model::Point& point, const model::Device& device) const {
    check_swaps(data_->shape(point, device));
    const auto times = repetitions(point);
    for (std::size_t rep = 0; rep < times; ++rep) {
        auto now = point;
        now.set(repetition, std::to_string(rep));
        for (const auto& item : items_) item.own->check(now, device);
    }
}

model::Setup BoundSequence::setup(const model::Point& point, const model::Device& device, std::uint64_t seed) const {
    const auto shape = data_->shape(point, device);
    check_swaps(shape);
    auto out = data_->setup(point, shape, seed);
    std::map<std::string, std::string> holds;  // the current buffer by the name that kernels use
    for (const auto& argument : out.args) holds[model::name_of(argument)] = model::name_of(argument);
    for (const auto& part : out.parts) holds[part.name] = part.name;
    const auto times = repetitions(point);
    for (std::size_t rep = 0; rep < times; ++rep) {
        auto now = point;
        now.set(repetition, std::to_string(rep));
        for (const auto& [name, place] : line_.repeated_resets) out.steps.push_back(model::Reset{holds.at(name), name});
        for (const auto& item : items_) {
            const auto own = item.own->setup(now, device, seed);
            model::Launch launch{item.kernel, own.global, own.local, {}, own.offset, item.name};
            auto value = own.args.begin();
            for (const auto& [name, shared] : item.arguments)
                launch.args.push_back(shared ? holds.at(name)
                                             : add_value(out, *value++,
                                                         {name, item.name + "." + name,
                                                          item.name + "." + name + "." + std::to_string(rep)}));
            out.steps.push_back(std::move(launch));
        }
        for (const auto& swap : line_.swaps) std::swap(holds.at(swap.a), holds.at(swap.b));
    }
    add_swaps(out, holds);
    const auto& first = std::get<model::Launch>(out.steps.at(line_.repeated_resets.size()));
    out.global = first.global, out.local = first.local, out.offset = first.offset;
    for (const auto& [name, place] : line_.resets) out.reset.push_back(name);
    if (out.work.assumed) out.work.bytes = bytes_of_launches(out);
    return out;
}

// The lines of sequences, and the lines that set the scope of the lines after them:
//   kernel NAME [= KERNEL]        sequence NAME = KERNEL, KERNEL …        repeat N        swap NAME NAME
//   reset [each] NAME, NAME
namespace {

bool lists(const Description& description, const SequenceLine& line, const std::string& kernel) {
    return std::ranges::any_of(line.kernels,
                               [&](const auto& item) { return description.kernel_of(item.first) == kernel; });
}

void parse_kernel(Piece rest, Description& out, Scope*& scope) {
    const auto place = rest.place;
    const auto name = rest.take_word();
    const bool is_alias = rest.take('=');
    const auto kernel = is_alias ? rest.take_word() : name;
    if (!is_name(name) || !is_name(kernel) || !rest.text.empty())
        refuse(place,
               "'kernel' takes the name of a kernel, or NAME = KERNEL for an alias in a sequence; the lines after it "
               "apply to that kernel");
    if (is_alias && !out.aliases.emplace(name, kernel).second && out.aliases.at(name) != kernel)
        refuse(place, "'", name, "' is already an alias of '", out.aliases.at(name), "'");
    auto& [first, of_kernel] = out.kernels[name];
    if (first.file.empty()) first = place;
    scope = &of_kernel;
}

void parse_sequence(Piece rest, Description& out, Scope*& scope) {
    SequenceLine line{rest.place};
    line.name = take_named(rest, "sequence", "sequence sort = count, scan, scatter");
    for (const auto& other : out.sequences)
        if (other.name == line.name) refuse(line.place, "sequence '", line.name, "' is given twice");
    line.kernels = take_names(rest, "a sequence lists kernels, as in 'sequence sort = count, scan, scatter'");
    out.sequences.push_back(std::move(line));
    scope = &out.sequences.back().scope;
}

void parse_repeat(Piece rest, SequenceLine& to) {
    if (rest.text.empty()) refuse(rest.place, "'repeat' takes a number, as in 'repeat 100'");
    if (to.repeat) refuse(rest.place, "'repeat' is given twice");
    to.repeat = Expression::parse(rest.text, rest.place);
}

void parse_swap(Piece rest, SequenceLine& to) {
    SequenceLine::Swap swap{rest.place, {}, {}};
    const auto found = rest.text;
    swap.a = rest.take_word();
    rest.take(',');
    swap.b = rest.take_word();
    if (!is_name(swap.a) || !is_name(swap.b) || !rest.text.empty() || swap.a == swap.b)
        refuse(swap.place, "'swap' takes two buffers, as in 'swap front back'; found ", cllab::quoted(found));
    to.swaps.push_back(std::move(swap));
}

void parse_reset(Piece rest, SequenceLine& to) {
    const bool each = rest.text.starts_with("each ");
    if (each) rest.take_word();
    for (auto& buffer : take_names(rest, "'reset' takes buffers, as in 'reset bins, sums' or 'reset each bins'"))
        (each ? to.repeated_resets : to.resets).push_back(std::move(buffer));
}

}  // namespace

bool parse_scope(const std::string& keyword, Piece rest, Description& out, Scope*& scope) {
    if (keyword == "kernel") {
        parse_kernel(rest, out, scope);
        return true;
    }
    if (keyword == "sequence") {
        parse_sequence(rest, out, scope);
        return true;
    }
    if (keyword != "repeat" && keyword != "swap" && keyword != "reset") return false;
    if (out.sequences.empty() || scope != &out.sequences.back().scope)
        refuse(rest.place, "'", keyword, "' must follow the line 'sequence NAME = KERNEL, …' of its sequence");
    auto& sequence = out.sequences.back();
    if (keyword == "repeat") parse_repeat(rest, sequence);
    if (keyword == "swap") parse_swap(rest, sequence);
    if (keyword == "reset") parse_reset(rest, sequence);
    return true;
}

void check_sequences(const Description& description, const std::string& path, const std::set<std::string>& kernels) {
    const auto all = [&] { return join({kernels.begin(), kernels.end()}, ", "); };
    for (const auto& [name, kernel] : description.aliases) {
        const auto& place = description.kernels.at(name).first;
        if (kernels.count(name)) refuse(place, "'", name, "' is a kernel of '", path, "'; an alias needs another name");
        if (!kernels.count(kernel)) refuse(place, "'", path, "' has no kernel '", kernel, "'; its kernels are ", all());
        const bool listed = std::ranges::any_of(description.sequences, [&, &n = name](const auto& line) {
            return std::ranges::any_of(line.kernels, [&](const auto& item) { return item.first == n; });
        });
        if (!listed) refuse(place, "no sequence lists '", name, "', but aliases of kernels run in sequences only");
    }
    for (const auto& axis : description.axes)
        if (axis.name == repetition && !description.sequences.empty())
            refuse(axis.place,
                   "axis 'rep' is reserved for the number of the repetition in a file with sequences; rename it");
    for (const auto& line : description.sequences) {
        if (kernels.count(line.name))
            refuse(line.place, "'", line.name, "' is a kernel of '", path, "'; a sequence needs another name");
        for (const auto& [item, place] : line.kernels)
            if (!kernels.count(description.kernel_of(item)))
                refuse(place, "sequence '", line.name, "' lists '", item, "', which is not a kernel of '", path,
                       "'; its kernels are ", all());
    }
}

std::set<std::string> buffers_named(const Description& description) {
    std::set<std::string> out;
    const auto add = [&](const Scope& scope) {
        for (const auto& [name, spec] : scope.arguments)
            if (spec.kind == ArgumentSpec::Kind::part)
                out.insert(spec.words.front());
            else if (const auto buffer = buffer_named(spec); buffer && !description.sequences.empty())
                out.insert(*buffer);
    };
    add(description.all);
    for (const auto& [name, kernel] : description.kernels) add(kernel.second);
    for (const auto& line : description.sequences) add(line.scope);
    return out;
}

void KernelFiles::add_sequences(std::size_t build, const std::vector<model::KernelSignature>& kernels) {
    const auto& of = builds_[build];
    for (const auto& line : described_[of.file].sequences) {
        const auto name = of.variant.empty() ? line.name : line.name + "_" + of.variant;
        candidates_.push_back(
            {build, is_earlier(of.file) ? name + "_before" : name, line.name, name, nullptr, &kernels});
    }
}

bool KernelFiles::is_part_of_sequence(const Candidate& c) const {
    const auto& described = described_[builds_[c.build].file];
    return !c.is_sequence() &&
           std::ranges::any_of(described.sequences, [&](const auto& line) { return lists(described, line, c.entry); });
}

bool KernelFiles::is_meant(const Candidate& c, const std::string& glob) const {
    const auto& described = described_[builds_[c.build].file];
    if (glob.empty() && described.only) return described.only->second == c.plain;
    if (glob.empty()) return code_only_ || !is_part_of_sequence(c);
    if (glob_match(glob, c.name) || glob_match(glob, c.plain)) return true;
    return code_only_ && std::ranges::any_of(described.sequences, [&](const auto& line) {
               return glob_match(glob, line.name) && lists(described, line, c.entry);
           });
}

}  // namespace cllab::kernelfile

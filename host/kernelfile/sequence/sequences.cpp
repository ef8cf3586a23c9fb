// The lines of sequences and those that say what the lines behind them are about:
//   kernel NAME [= KERNEL]        sequence NAME = KERNEL, KERNEL …        repeat N        swap NAME NAME
//   reset [each] NAME, NAME
// What they may name, and which sequences a file has.
#include <algorithm>

#include "core/text.hpp"
#include "kernelfile/experiment.hpp"
#include "kernelfile/piece.hpp"

namespace cllab::kernelfile {
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
        refuse(
            place,
            "'kernel' takes the name of a kernel, or NAME = KERNEL for an alias of one in a sequence; the lines behind "
            "it are about that one");
    if (is_alias && !out.aliases.emplace(name, kernel).second && out.aliases.at(name) != kernel)
        refuse(place, "'", name, "' is an alias of '", out.aliases.at(name), "' already");
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
        refuse(rest.place, "'", keyword, "' stands behind the line 'sequence NAME = KERNEL, …' that it is about");
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
        if (kernels.count(name))
            refuse(place, "'", name, "' is a kernel of '", path, "'; an alias has a name of its own");
        if (!kernels.count(kernel))
            refuse(place, "there is no kernel '", kernel, "' in '", path, "'; there are ", all());
        const bool listed = std::ranges::any_of(description.sequences, [&, &n = name](const auto& line) {
            return std::ranges::any_of(line.kernels, [&](const auto& item) { return item.first == n; });
        });
        if (!listed) refuse(place, "no sequence lists '", name, "', and an alias of a kernel runs in sequences only");
    }
    for (const auto& axis : description.axes)
        if (axis.name == repetition && !description.sequences.empty())
            refuse(axis.place,
                   "an axis of a file with sequences may not be called 'rep', the number of the repetition");
    for (const auto& line : description.sequences) {
        if (kernels.count(line.name))
            refuse(line.place, "'", line.name, "' is a kernel of '", path, "'; a sequence has a name of its own");
        for (const auto& [item, place] : line.kernels)
            if (!kernels.count(description.kernel_of(item)))
                refuse(place, "sequence '", line.name, "' lists '", item, "', which is no kernel of '", path,
                       "'; there are ", all());
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

std::optional<std::string> buffer_named(const ArgumentSpec& spec) {
    if (spec.kind == ArgumentSpec::Kind::same) return spec.words.front();
    if (spec.kind != ArgumentSpec::Kind::numbers || spec.numbers.size() != 1) return std::nullopt;
    const auto& text = spec.numbers.front().text();
    return is_name(text) ? std::optional(text) : std::nullopt;
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

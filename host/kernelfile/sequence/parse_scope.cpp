// The lines that say what the lines behind them are about, and those of sequences:
//   kernel NAME [= KERNEL]        sequence NAME = KERNEL, KERNEL …        repeat N        swap NAME NAME
//   reset NAME, NAME
#include <algorithm>

#include "core/text.hpp"
#include "kernelfile/piece.hpp"

namespace cllab::kernelfile {
namespace {

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
    SequenceLine line{rest.place, {}, {}, {}, {}, {}, {}};
    line.name = take_named(rest, "sequence", "sequence sort = count, scan, scatter");
    for (const auto& other : out.sequences)
        if (other.name == line.name) refuse(line.place, "sequence '", line.name, "' is given twice");
    line.kernels = split_top(rest.text, rest.place, ',');
    for (const auto& [name, where] : line.kernels)
        if (!is_name(name))
            refuse(where, "a sequence lists kernels, as in 'sequence sort = count, scan, scatter'; found ",
                   cllab::quoted(name));
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

void parse_reset(const Piece& rest, SequenceLine& to) {
    for (const auto& [name, where] : split_top(rest.text, rest.place, ',')) {
        if (!is_name(name))
            refuse(where, "'reset' takes buffers, as in 'reset bins, sums'; found ", cllab::quoted(name));
        to.resets.emplace_back(name, where);
    }
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

}  // namespace cllab::kernelfile

// The grammar. One statement per line, `#` begins a comment:
//   axis NAME [tune] = VALUES          arg NAME = VALUE           global A[,B[,C]]      local …      offset …
//   options TEXT                       variant NAME = OPTIONS     extends FOLDER        kernel NAME
//   include FILE                       only KERNEL
//   work bytes=EXPR flops=EXPR …       expect NAME = FILE        reference NAME        may leave NAME
//   same NAME, NAME                    differ NAME, NAME         relation TEXT         where CONDITION
//   tolerance absolute=X relative=X ulp=X
// and those of sequences, which sequence/sequences.cpp reads.
#include <algorithm>
#include <cctype>

#include "core/text.hpp"
#include "core/units.hpp"
#include "kernelfile/piece.hpp"
#include "kernelfile/proof/relation.hpp"

namespace cllab::kernelfile {
namespace {

const std::vector<std::string> keywords{"axis",      "arg",     "global",   "local",     "offset",   "options",
                                        "variant",   "extends", "include",  "kernel",    "work",     "expect",
                                        "reference", "same",    "differ",   "tolerance", "relation", "where",
                                        "may",       "repeat",  "sequence", "swap",      "reset",    "only"};

}  // namespace

bool is_name(const std::string& text) {
    return !text.empty() && std::ranges::all_of(text, in_name) && !std::isdigit(static_cast<unsigned char>(text[0]));
}

std::string take_named(Piece& rest, const std::string& keyword, const std::string& example) {
    const auto place = rest.place;
    const auto found = rest.text;
    const auto name = rest.take_word();
    if (!is_name(name) || !rest.take('=') || rest.text.empty())
        refuse(place, cllab::quoted(keyword), " takes NAME = VALUE, as in '", example, "'; found ",
               cllab::quoted(trim(found)));
    return name;
}

std::vector<std::pair<std::string, Place>> take_names(const Piece& rest, const std::string& wants) {
    auto out = split_top(rest.text, rest.place, ',');
    for (const auto& [name, where] : out)
        if (!is_name(name)) refuse(where, wants, "; found ", cllab::quoted(name));
    return out;
}

namespace {

Tolerance parse_tolerance(Piece rest) {
    Tolerance out;
    if (rest.text.empty()) refuse(rest.place, "'tolerance' takes absolute=X, relative=X or ulp=X");
    while (!rest.text.empty()) {
        const auto place = rest.place;
        const auto name = rest.take_word();
        double* to = name == "absolute"   ? &out.absolute
                     : name == "relative" ? &out.relative
                     : name == "ulp"      ? &out.ulp
                                          : nullptr;
        if (!to || !rest.take('='))
            refuse(place, "'tolerance' takes absolute=X, relative=X or ulp=X; found ", cllab::quoted(name + rest.text));
        const auto end = std::min(rest.text.find(' '), rest.text.size());
        const auto text = rest.text.substr(0, end);
        const auto value = parse_real(text);
        if (!value || !(*value >= 0))
            refuse(rest.place, "the tolerance ", name, " is ", cllab::quoted(text),
                   "; expected a number of at least 0");
        *to = *value;
        rest.drop(end);
        rest.skip_blanks();
    }
    return out;
}

void parse_work(Piece rest, Scope& scope) {
    const auto wrong = [&] {
        std::string possible;
        for (const auto& work : works)
            possible += (possible.empty()                 ? ""
                         : work.name == works.back().name ? " and "
                                                          : ", ") +
                        std::string(work.name) + "=EXPRESSION";
        refuse(rest.place, "'work' takes ", possible, "; found ", cllab::quoted(rest.text));
    };
    if (rest.text.empty()) wrong();
    while (!rest.text.empty()) {
        const auto before = rest;
        const auto name = rest.take_word();
        if (std::ranges::none_of(works, [&](const auto& work) { return work.name == name; }) || !rest.take('=')) {
            rest = before;
            wrong();
        }
        // Up to the next NAME=, so that an expression may hold blanks.
        auto end = rest.text.size();
        for (const auto& next : works)
            for (std::size_t at = 0; (at = rest.text.find(next.name, at + 1)) != std::string::npos;) {
                const auto behind = rest.text.find_first_not_of(" \t", at + next.name.size());
                const bool begins = std::isspace(static_cast<unsigned char>(rest.text[at - 1]));
                if (begins && behind != std::string::npos && rest.text[behind] == '=') end = std::min(end, at);
            }
        scope.work.insert_or_assign(name, Expression::parse(rest.text.substr(0, end), rest.place));
        rest.drop(end);
        rest.skip_blanks();
    }
}

template <typename Map, typename Value>
void insert_once(Map& map, const std::string& name, Value value, const Place& place, const std::string& what) {
    if (!map.emplace(name, std::move(value)).second) refuse(place, what, " '", name, "' is given twice");
}

template <typename T>
void set_once(std::optional<T>& to, T value, const Place& place, const std::string& what) {
    if (to) refuse(place, "'", what, "' is given twice");
    to = std::move(value);
}

void parse_axis(Piece rest, Description& out) {
    const auto place = rest.place;
    AxisLine axis{place};
    const auto found = rest.text;
    axis.name = rest.take_word();
    if (rest.text.starts_with("tune")) {
        rest.take_word();
        axis.tune = true;
    }
    if (!is_name(axis.name) || !rest.take('=') || rest.text.empty())
        refuse(place, "'axis' takes NAME = VALUES, as in 'axis n = 512,1024' or 'axis tile tune = 8,16'; found ",
               cllab::quoted(found));
    axis.values = trim(rest.text);
    for (const auto& other : out.axes)
        if (other.name == axis.name) refuse(place, "axis '", axis.name, "' is given twice");
    out.axes.push_back(std::move(axis));
}

/// Parses a line `same` or `differ`.
void parse_same(const std::string& keyword, Piece rest, Description& out) {
    SameLine same{rest.place, {}, keyword == "differ"};
    const auto example = ", as in '" + keyword + (same.differ ? " copy, scale'" : " naive, tiled'");
    for (const auto& [name, where] : take_names(rest, "'" + keyword + "' takes names" + example))
        same.names.push_back(name);
    if (same.names.size() < 2) refuse(rest.place, "'", keyword, "' takes two names or more", example);
    out.same.push_back(std::move(same));
}

/// Parses NAME = VALUE, or three names for the arguments of a sparse matrix.
void parse_values(Piece rest, Scope& scope) {
    const auto place = rest.place;
    const auto wants =
        "a sparse matrix has three arguments, as in 'arg row, column, value = csr:rows:columns:nonzeros'";
    const auto names = rest.text.substr(0, rest.text.find('='));
    if (names.find(',') == std::string::npos) {
        const auto name = take_named(rest, "arg", "arg src = rand:n*n");
        return insert_once(scope.arguments, name, parse_argument(rest), place, "argument");
    }
    const auto three = take_names({names, place}, wants);
    rest.drop(names.size());
    const auto matrix = rest.take('=') ? split_top(rest.text, rest.place, ':') : three;
    if (three.size() != 3 || matrix.size() != 4 || matrix[0].first != "csr")
        refuse(place, wants, "; found ", cllab::quoted(names + rest.text));
    const auto &rows = matrix[1].first, &columns = matrix[2].first, &nonzeros = matrix[3].first;
    const std::array values{concat("offsets:(", rows, ")+1:", nonzeros),
                            concat("rand:", nonzeros, ":0:(", columns, ")-1"), "rand:" + nonzeros};
    for (std::size_t i = 0; i < values.size(); ++i)
        insert_once(scope.arguments, three[i].first, parse_argument({values[i], matrix[1].second}), place, "argument");
}

bool is_sizes(const std::string& keyword) { return keyword == "global" || keyword == "local" || keyword == "offset"; }

void parse_statement(const std::string& keyword, Piece rest, Description& out, Scope& scope) {
    const auto place = rest.place;
    const auto require = [&](const std::string& example) {
        if (rest.text.empty()) refuse(place, "'", keyword, "' is empty; write e.g. '", example, "'");
    };
    if (keyword == "axis") {
        parse_axis(rest, out);
    } else if (keyword == "arg") {
        parse_values(rest, scope);
    } else if (is_sizes(keyword)) {
        rest.take('=');
        require(keyword + " 1024");
        auto list = parse_list(rest.text, rest.place);
        if (list.size() > 3) refuse(place, "'", keyword, "' has at most three dimensions, found ", list.size());
        auto& to = keyword == "global" ? scope.global : keyword == "local" ? scope.local : scope.offset;
        set_once(to, std::pair(place, std::move(list)), place, keyword);
    } else if (keyword == "options") {
        require("options -DTILE=16");
        out.options.emplace_back(place, trim(rest.text));
    } else if (keyword == "variant") {
        const auto name = take_named(rest, keyword, "variant fast = -DTILE=32");
        for (const auto& other : out.variants)
            if (other.name == name) refuse(place, "variant '", name, "' is given twice");
        out.variants.push_back({place, name, trim(rest.text)});
    } else if (keyword == "extends") {
        require("extends include");
        out.folders.emplace_back(place, trim(rest.text));
    } else if (keyword == "include") {
        require("include types.h");
        out.includes.emplace_back(place, trim(rest.text));
    } else if (keyword == "work") {
        if (!scope.work.empty()) refuse(place, "'work' is given twice");
        parse_work(rest, scope);
    } else if (keyword == "expect") {
        const auto name = take_named(rest, keyword, "expect dst = gold.npy");
        insert_once(scope.expected, name, std::pair(place, trim(rest.text)), place, "the expected file of");
    } else if (keyword == "may") {
        const auto wants = "'may' takes names, as in 'may leave found'";
        if (rest.take_word() != "leave") refuse(place, wants);
        for (const auto& [name, where] : take_names(rest, wants))
            insert_once(scope.expected, name, std::pair(where, std::string(may_leave)), where, "what is expected of");
    } else if (keyword == "reference") {
        rest.take('=');
        require("reference naive");
        set_once(scope.reference, std::pair(place, trim(rest.text)), place, keyword);
    } else if (keyword == "relation") {
        require("relation linear in src");
        scope.relations.push_back(parse_relation(rest.text, place));
    } else if (keyword == "where") {
        require("where tile % local == 0");
        scope.where.push_back(Expression::condition(rest.text, place));
    } else if (keyword == "only") {
        if (!is_name(rest.text)) refuse(place, "'only' takes one kernel, as in 'only scan'");
        set_once(out.only, Placed(place, rest.text), place, keyword);
    } else if (keyword == "same" || keyword == "differ") {
        parse_same(keyword, rest, out);
    } else if (keyword == "tolerance") {
        set_once(out.tolerance, parse_tolerance(rest), place, keyword);
    }
}

template <typename T>
void take_over(std::optional<T>& base, const std::optional<T>& over) {
    if (over) base = over;
}

}  // namespace

void take_over(Scope& base, const Scope& over) {
    for (const auto& [name, spec] : over.arguments) base.arguments.insert_or_assign(name, spec);
    for (const auto& [name, file] : over.expected) base.expected.insert_or_assign(name, file);
    take_over(base.global, over.global);
    take_over(base.local, over.local);
    take_over(base.offset, over.offset);
    for (const auto& [name, amount] : over.work) base.work.insert_or_assign(name, amount);
    take_over(base.reference, over.reference);
    base.relations.insert(base.relations.end(), over.relations.begin(), over.relations.end());
    base.where.insert(base.where.end(), over.where.begin(), over.where.end());
}

Scope scope_of(const Description& description, const std::string& kernel) {
    Scope out = description.all;
    if (const auto own = description.kernels.find(kernel); own != description.kernels.end())
        take_over(out, own->second.second);
    return out;
}

/// The position of the first `#` at the line's beginning or after a blank, outside of quotes; else the line's end.
static std::size_t begin_of_comment(const std::string& line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '#' && (i == 0 || std::isspace(static_cast<unsigned char>(line[i - 1])))) return i;
        if (line[i] == '"' || line[i] == '\'')
            if (const auto closed = line.find(line[i], i + 1); closed != std::string::npos) i = closed;
    }
    return line.size();
}

void parse_statements(std::string_view text, const std::string& file, std::size_t first_line, Description& to) {
    Scope* scope = &to.all;
    std::size_t number = first_line;
    for (auto line : split(text, '\n')) {
        const Place start{file, number++, 1};
        if (const auto bad = std::ranges::find_if(
                line, [](unsigned char c) { return (c < 0x20 && c != '\t' && c != '\r') || c == 0x7f; });
            bad != line.end())
            refuse(start.at(static_cast<std::size_t>(bad - line.begin())), "the line has a control character");
        line.resize(begin_of_comment(line));
        Piece rest{line, start};
        rest.skip_blanks();
        // Skips the star at the beginning of a line in a C comment.
        if (rest.text.starts_with("*") && (rest.text.size() == 1 || rest.text[1] == ' ')) rest.take('*');
        while (!rest.text.empty() && std::isspace(static_cast<unsigned char>(rest.text.back()))) rest.text.pop_back();
        if (rest.text.empty()) continue;
        const auto place = rest.place;
        const auto found = rest.text;
        if (rest.text.starts_with("reference-command"))
            refuse(place, "a file may not run programs; write --reference-command on the command line");
        const auto keyword = rest.take_word();
        if (std::ranges::find(keywords, keyword) == keywords.end()) {
            refuse(place, "a line must begin with one of ", join(keywords, ", "), "; found ",
                   cllab::quoted(keyword.empty() ? found : keyword), or_did_you_mean(keyword, keywords));
        }
        if (!parse_scope(keyword, rest, to, scope)) parse_statement(keyword, rest, to, *scope);
    }
}

void parse_option(const std::string& option, const std::string& value, Description& to) {
    const Place place{"option '--" + option + "' is '" + excerpt(value) + "'", 0, 0};
    if (value.find('\n') != std::string::npos) refuse(place, "the value must be one line");
    Scope* scope = &to.all;
    Piece rest{value, place};
    rest.skip_blanks();
    // "scale:x=zero:n" is about the kernel 'scale' only.
    const bool may_name_kernel = option == "arg" || option == "expect" || option == "relation" || is_sizes(option);
    if (auto behind = rest; may_name_kernel && is_name(behind.take_word()) && behind.take(':')) {
        parse_scope("kernel", Piece{rest.text.substr(0, rest.text.find(':')), place}, to, scope);
        rest = behind;
    }
    parse_statement(option, rest, to, *scope);
}

void parse_blocks(std::string_view text, const std::string& file, Description& to) {
    static constexpr std::string_view begin = "/*cllab";
    for (auto at = text.find(begin); at != std::string_view::npos; at = text.find(begin, at)) {
        const auto from = at + begin.size();
        if (from < text.size() && in_name(text[from])) {
            at = from;
            continue;
        }
        const auto line = 1 + static_cast<std::size_t>(
                                  std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
        const auto end = text.find("*/", from);
        if (end == std::string_view::npos) refuse({file, line, 1}, "the block /*cllab is not closed; end it with */");
        // Blanks before the first line preserve its column numbers.
        const auto line_start = text.rfind('\n', at) == std::string_view::npos ? 0 : text.rfind('\n', at) + 1;
        parse_statements(std::string(from - line_start, ' ') + std::string(text.substr(from, end - from)), file, line,
                         to);
        at = end;
    }
}

void override_with(Description& base, const Description& over) {
    const auto by_name = [](auto& to, const auto& from) {
        for (const auto& one : from) {
            const auto found = std::ranges::find_if(to, [&](const auto& other) { return other.name == one.name; });
            if (found == to.end())
                to.push_back(one);
            else
                *found = one;
        }
    };
    by_name(base.axes, over.axes);
    by_name(base.variants, over.variants);
    by_name(base.sequences, over.sequences);
    for (const auto& [name, kernel] : over.aliases) base.aliases.insert_or_assign(name, kernel);
    base.options.insert(base.options.end(), over.options.begin(), over.options.end());
    base.folders.insert(base.folders.end(), over.folders.begin(), over.folders.end());
    base.includes.insert(base.includes.end(), over.includes.begin(), over.includes.end());
    base.same.insert(base.same.end(), over.same.begin(), over.same.end());
    take_over(base.only, over.only);
    take_over(base.tolerance, over.tolerance);
    take_over(base.all, over.all);
    // Statements of `over` about all kernels win over statements of `base` about one. Relations and conditions add up.
    // `base.all` already has those of `over`.
    auto for_each = over.all;
    for_each.relations.clear(), for_each.where.clear();
    for (auto& sequence : base.sequences) take_over(sequence.scope, for_each);
    for (auto& [name, of_kernel] : base.kernels) take_over(of_kernel.second, for_each);
    for (const auto& [name, of_kernel] : over.kernels) {
        auto& to = base.kernels[name];
        if (to.first.file.empty()) to.first = of_kernel.first;
        take_over(to.second, of_kernel.second);
    }
}

}  // namespace cllab::kernelfile

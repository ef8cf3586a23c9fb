// The grammar. One statement per line, `#` begins a comment:
//   axis NAME [tune] = VALUES          arg NAME = VALUE           global A[,B[,C]]      local …      offset …
//   options TEXT                       variant NAME = OPTIONS     extends FOLDER        kernel NAME
//   work bytes=EXPR flops=EXPR …       expect NAME = FILE         reference NAME        tolerance absolute=X relative=X
//   ulp=X        same NAME, NAME
#include <algorithm>
#include <cctype>

#include "core/suggest.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "kernelfile/description.hpp"
#include "model/kernel_signature.hpp"

namespace cllab::kernelfile {
namespace {

using Kind = ArgumentSpec::Kind;

const std::vector<std::string> keywords{"axis",    "arg",    "global", "local",  "offset",    "options", "variant",
                                        "extends", "kernel", "work",   "expect", "reference", "same",    "tolerance"};

bool is_name(const std::string& text) {
    return !text.empty() && std::ranges::all_of(text, in_name) && !std::isdigit(static_cast<unsigned char>(text[0]));
}

/// A rest of a line, with where it stands.
struct Piece {
    std::string text;
    Place place;

    void skip_blanks() {
        std::size_t n = 0;
        while (n < text.size() && std::isspace(static_cast<unsigned char>(text[n]))) ++n;
        drop(n);
    }
    void drop(std::size_t n) {
        text.erase(0, n);
        place = place.at(n);
    }
    /// The name that begins here; empty where none does.
    std::string take_word() {
        skip_blanks();
        std::size_t n = 0;
        while (n < text.size() && in_name(text[n])) ++n;
        auto out = text.substr(0, n);
        drop(n);
        skip_blanks();
        return out;
    }
    bool take(char c) {
        if (text.empty() || text.front() != c) return false;
        drop(1);
        skip_blanks();
        return true;
    }
};

/// NAME and what follows its '='.
std::string take_named(Piece& rest, const std::string& keyword, const std::string& example) {
    const auto place = rest.place;
    const auto found = rest.text;
    const auto name = rest.take_word();
    if (!is_name(name) || !rest.take('=') || rest.text.empty())
        refuse(place, cllab::quoted(keyword) + " takes NAME = VALUE, as in '" + example + "'; found " +
                          cllab::quoted(trim(found)));
    return name;
}

bool is_image_format(const std::string& text) {
    for (const char* format : {"r8", "r8ui", "r32f", "rgba8", "rgba8ui", "rgba32f"})
        if (text == format) return true;
    return false;
}

bool is_type(const std::string& text) { return model::builtin_type(text) || is_image_format(text); }

using Parts = std::vector<std::pair<std::string, Place>>;

/// [TYPE:]EXTENT behind the kind; what is left of the parts is returned.
Parts take_type_and_extent(const Parts& parts, std::size_t from, ArgumentSpec& out) {
    if (from < parts.size() && is_type(parts[from].first)) out.type = parts[from++].first;
    if (from < parts.size()) {
        out.extent = parse_list(parts[from].first, parts[from].second);
        if (out.extent.size() > 3)
            refuse(parts[from].second, "an image has at most three sizes, found " + std::to_string(out.extent.size()));
        ++from;
    }
    return {parts.begin() + static_cast<std::ptrdiff_t>(std::min(from, parts.size())), parts.end()};
}

void refuse_rest(const Parts& rest) {
    if (!rest.empty())
        refuse(rest.front().second, "nothing may follow here; found " + cllab::quoted(rest.front().first));
}

void read_bytes(const std::string& hex, const Place& place, ArgumentSpec& out) {
    std::string digits;
    for (const char c : hex)
        if (!std::isspace(static_cast<unsigned char>(c))) digits += c;
    if (digits.empty() || digits.size() % 2 ||
        !std::ranges::all_of(digits, [](unsigned char c) { return std::isxdigit(c); }))
        refuse(place, "'bytes:' takes an even number of hexadecimal digits, as in bytes:0100000a; found " +
                          cllab::quoted(hex));
    for (std::size_t i = 0; i < digits.size(); i += 2)
        out.raw += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
}

void read_fields(std::string text, Place place, ArgumentSpec& out) {
    if (text.size() < 2 || text.back() != '}')
        refuse(place, "the fields of a struct end in '}'; found " + cllab::quoted(text));
    text = text.substr(1, text.size() - 2);
    for (const auto& [field, where] : split_top(text, place.at(1), ',')) {
        const auto colon = field.find(':');
        const auto type = trim(field.substr(0, colon));
        if (type.find('*') != std::string::npos)
            refuse(where, "a struct passed by value may hold no pointer; found " + cllab::quoted(field));
        const auto known = model::builtin_type(type);
        if (colon == std::string::npos && !out.fields.empty() &&
            model::builtin_type(out.fields.back().first)->lanes > 1)
            refuse(where,
                   "the lanes of a field follow colons, as in {float3:1:2:3, float:2}; found " + cllab::quoted(field));
        if (colon == std::string::npos || !known)
            refuse(where, "a field is TYPE:VALUE with a type of OpenCL C, as in {int:w, float:0.5}; found " +
                              cllab::quoted(field));
        std::vector<Expression> values;
        for (const auto& [value, at] : split_top(field.substr(colon + 1), where.at(colon + 1), ':'))
            values.push_back(Expression::parse(value, at));
        if (values.size() != 1 && values.size() != known->lanes)
            refuse(where, "a " + type + " takes 1 or " + std::to_string(known->lanes) + " values, found " +
                              std::to_string(values.size()));
        out.fields.emplace_back(type, std::move(values));
    }
}

ArgumentSpec parse_argument(const Piece& value) {
    ArgumentSpec out{value.place, trim(value.text)};
    if (out.text.front() == '{') {
        out.kind = Kind::fields;
        read_fields(out.text, value.place, out);
        return out;
    }
    const auto parts = split_top(value.text, value.place, ':');
    const auto& head = parts.front().first;
    const auto behind = [&] {  // a path may hold colons
        const auto at = value.text.find(':');
        return at == std::string::npos ? std::string() : trim(value.text.substr(at + 1));
    };
    static const std::map<std::string, Kind> kinds{
        {"rand", Kind::random},   {"iota", Kind::counting},   {"zero", Kind::zero},  {"const", Kind::constant},
        {"out", Kind::output},    {"local", Kind::local},     {"file", Kind::file},  {"npy", Kind::file},
        {"image", Kind::picture}, {"sampler", Kind::sampler}, {"bytes", Kind::bytes}};
    const auto known = kinds.find(head);
    if (known == kinds.end()) {
        if (head == "svm") refuse(out.place, "shared virtual memory is not supported; give a buffer, e.g. rand:1024");
        if (head == "inout")
            refuse(out.place,
                   "a buffer that the kernel reads and writes begins with data, as in zero:n or rand:n, and is checked "
                   "if it is not const");
        if (parts.size() > 1) {
            std::vector<std::string> names;
            for (const auto& [name, kind] : kinds) names.push_back(name);
            refuse(out.place, "there is no kind of value " + cllab::quoted(head) + "; " +
                                  did_you_mean(head, names, "there are " + join(names, ", ")));
        }
        out.numbers = parse_list(value.text, value.place);
        return out;
    }
    out.kind = known->second;
    switch (out.kind) {
        case Kind::constant: {
            if (parts.size() < 2) refuse(out.place, "'const' takes a value and a length, as in const:1:n");
            out.numbers = {Expression::parse(parts[1].first, parts[1].second)};
            refuse_rest(take_type_and_extent(parts, 2, out));
            break;
        }
        case Kind::random: {
            const auto rest = take_type_and_extent(parts, 1, out);
            if (rest.empty()) break;
            if (rest.size() != 2) refuse(rest.front().second, "'rand' takes no bounds or two, as in rand:n:0:1");
            for (const auto& [text, place] : rest) out.numbers.push_back(Expression::parse(text, place));
            break;
        }
        case Kind::file:
            out.path = behind();
            if (out.path.empty())
                refuse(out.place, cllab::quoted(head) + " takes a file, as in " + head + ":data." +
                                      (head == "npy" ? "npy" : "bin"));
            break;
        case Kind::picture:
            out.path = behind();
            if (parts.size() > 2 && is_type(parts.back().first)) {
                out.type = parts.back().first;
                out.path = trim(out.path.substr(0, out.path.rfind(':')));
            }
            if (out.path.empty()) refuse(out.place, "'image' takes a picture, as in image:panel.png");
            break;
        case Kind::sampler:
            for (const auto& [word, place] : split_top(behind(), value.place.at(value.text.find(':') + 1), ',')) {
                static const std::vector<std::string> words{"nearest", "linear", "edge",       "zero", "repeat",
                                                            "mirror",  "none",   "normalized", "pixel"};
                if (std::ranges::find(words, word) == words.end())
                    refuse(place, cllab::quoted(word) + " is not a sampler option; possible are " + join(words, ", "));
                out.words.push_back(word);
            }
            break;
        case Kind::bytes:
            read_bytes(behind(), out.place, out);
            break;
        default:
            refuse_rest(take_type_and_extent(parts, 1, out));
            break;
    }
    return out;
}

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
            refuse(place,
                   "'tolerance' takes absolute=X, relative=X or ulp=X; found " + cllab::quoted(name + rest.text));
        const auto end = std::min(rest.text.find(' '), rest.text.size());
        const auto text = rest.text.substr(0, end);
        const auto value = parse_real(text);
        if (!value || !(*value >= 0))
            refuse(rest.place,
                   "the tolerance " + name + " is " + cllab::quoted(text) + "; possible are numbers of 0 or more");
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
        refuse(rest.place, "'work' takes " + possible + "; found " + cllab::quoted(rest.text));
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
        for (const auto& next : works) {
            const auto at = rest.text.find(" " + std::string(next.name));
            if (at != std::string::npos && rest.text.find('=', at) != std::string::npos) end = std::min(end, at);
        }
        scope.work.insert_or_assign(name, Expression::parse(rest.text.substr(0, end), rest.place));
        rest.drop(end);
        rest.skip_blanks();
    }
}

template <typename Map, typename Value>
void insert_once(Map& map, const std::string& name, Value value, const Place& place, const std::string& what) {
    if (!map.emplace(name, std::move(value)).second) refuse(place, what + " '" + name + "' is given twice");
}

template <typename T>
void set_once(std::optional<T>& to, T value, const Place& place, const std::string& what) {
    if (to) refuse(place, "'" + what + "' is given twice");
    to = std::move(value);
}

void parse_statement(const std::string& keyword, Piece rest, Description& out, Scope*& scope) {
    const auto place = rest.place;
    const auto require = [&](const std::string& example) {
        if (rest.text.empty()) refuse(place, "'" + keyword + "' is empty; write e.g. '" + example + "'");
    };
    if (keyword == "axis") {
        AxisLine axis{place};
        const auto found = rest.text;
        axis.name = rest.take_word();
        if (rest.text.starts_with("tune")) {
            rest.take_word();
            axis.tune = true;
        }
        if (!is_name(axis.name) || !rest.take('=') || rest.text.empty())
            refuse(place, "'axis' takes NAME = VALUES, as in 'axis n = 512,1024' or 'axis tile tune = 8,16'; found " +
                              cllab::quoted(found));
        axis.values = trim(rest.text);
        for (const auto& other : out.axes)
            if (other.name == axis.name) refuse(place, "axis '" + axis.name + "' is given twice");
        out.axes.push_back(std::move(axis));
    } else if (keyword == "arg") {
        const auto name = take_named(rest, keyword, "arg src = rand:n*n");
        insert_once(scope->arguments, name, parse_argument(rest), place, "argument");
    } else if (keyword == "global" || keyword == "local" || keyword == "offset") {
        rest.take('=');
        require(keyword + " 1024");
        auto list = parse_list(rest.text, rest.place);
        if (list.size() > 3)
            refuse(place, "'" + keyword + "' has at most three dimensions, found " + std::to_string(list.size()));
        auto& to = keyword == "global" ? scope->global : keyword == "local" ? scope->local : scope->offset;
        set_once(to, std::pair(place, std::move(list)), place, keyword);
    } else if (keyword == "options") {
        require("options -DTILE=16");
        out.options.emplace_back(place, trim(rest.text));
    } else if (keyword == "variant") {
        const auto name = take_named(rest, keyword, "variant fast = -DTILE=32");
        for (const auto& other : out.variants)
            if (other.name == name) refuse(place, "variant '" + name + "' is given twice");
        out.variants.push_back({place, name, trim(rest.text)});
    } else if (keyword == "extends") {
        require("extends include");
        out.folders.emplace_back(place, trim(rest.text));
    } else if (keyword == "kernel") {
        const auto name = rest.take_word();
        if (!is_name(name) || !rest.text.empty())
            refuse(place, "'kernel' takes the name of a kernel; the lines behind it are about that one");
        auto& [first, of_kernel] = out.kernels[name];
        if (first.file.empty()) first = place;
        scope = &of_kernel;
    } else if (keyword == "work") {
        if (!scope->work.empty()) refuse(place, "'work' is given twice");
        parse_work(rest, *scope);
    } else if (keyword == "expect") {
        const auto name = take_named(rest, keyword, "expect dst = gold.npy");
        insert_once(scope->expected, name, std::pair(place, trim(rest.text)), place, "the expected file of");
    } else if (keyword == "reference") {
        rest.take('=');
        require("reference naive");
        set_once(scope->reference, std::pair(place, trim(rest.text)), place, keyword);
    } else if (keyword == "same") {
        SameLine same{place, {}};
        for (const auto& [name, where] : split_top(rest.text, rest.place, ',')) {
            if (!is_name(name))
                refuse(where, "'same' takes names, as in 'same naive, tiled'; found " + cllab::quoted(name));
            same.names.push_back(name);
        }
        if (same.names.size() < 2) refuse(place, "'same' takes two names or more, as in 'same naive, tiled'");
        out.same.push_back(std::move(same));
    } else if (keyword == "tolerance") {
        set_once(out.tolerance, parse_tolerance(rest), place, keyword);
    }
}

template <typename T>
void take_over(std::optional<T>& base, const std::optional<T>& over) {
    if (over) base = over;
}

void take_over(Scope& base, const Scope& over) {
    for (const auto& [name, spec] : over.arguments) base.arguments.insert_or_assign(name, spec);
    for (const auto& [name, file] : over.expected) base.expected.insert_or_assign(name, file);
    take_over(base.global, over.global);
    take_over(base.local, over.local);
    take_over(base.offset, over.offset);
    for (const auto& [name, amount] : over.work) base.work.insert_or_assign(name, amount);
    take_over(base.reference, over.reference);
}

}  // namespace

void parse_statements(std::string_view text, const std::string& file, std::size_t first_line, Description& to) {
    Scope* scope = &to.all;
    std::size_t number = first_line;
    for (auto line : split(text, '\n')) {
        const Place start{file, number++, 1};
        if (const auto bad = std::ranges::find_if(
                line, [](unsigned char c) { return (c < 0x20 && c != '\t' && c != '\r') || c == 0x7f; });
            bad != line.end())
            refuse(start.at(static_cast<std::size_t>(bad - line.begin())), "the line holds a control character");
        for (std::size_t i = 0; i < line.size(); ++i)
            if (line[i] == '#' && (i == 0 || std::isspace(static_cast<unsigned char>(line[i - 1])))) line.resize(i);
        Piece rest{line, start};
        rest.skip_blanks();
        // The stars of a C comment.
        if (rest.text.starts_with("*") && (rest.text.size() == 1 || rest.text[1] == ' ')) rest.take('*');
        while (!rest.text.empty() && std::isspace(static_cast<unsigned char>(rest.text.back()))) rest.text.pop_back();
        if (rest.text.empty()) continue;
        const auto place = rest.place;
        const auto found = rest.text;
        const auto keyword = rest.take_word();
        if (std::ranges::find(keywords, keyword) == keywords.end()) {
            refuse(place, "a line begins with one of " + join(keywords, ", ") + "; found " +
                              cllab::quoted(keyword.empty() ? found : keyword) + or_did_you_mean(keyword, keywords));
        }
        parse_statement(keyword, rest, to, scope);
    }
}

void parse_option(const std::string& option, const std::string& value, Description& to) {
    const Place place{"option '--" + option + "' is '" + excerpt(value) + "'", 0, 0};
    if (value.find('\n') != std::string::npos) refuse(place, "a value has one line");
    Scope* scope = &to.all;
    Piece rest{value, place};
    rest.skip_blanks();
    parse_statement(option, rest, to, scope);
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
        if (end == std::string_view::npos) refuse({file, line, 1}, "the block /*cllab is not closed; it ends with */");
        // Blanks in front of the first line keep its columns.
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
    base.options.insert(base.options.end(), over.options.begin(), over.options.end());
    base.folders.insert(base.folders.end(), over.folders.begin(), over.folders.end());
    base.same.insert(base.same.end(), over.same.begin(), over.same.end());
    take_over(base.tolerance, over.tolerance);
    take_over(base.all, over.all);
    // What `over` says for all kernels wins over what `base` says for one.
    for (auto& [name, of_kernel] : base.kernels) take_over(of_kernel.second, over.all);
    for (const auto& [name, of_kernel] : over.kernels) {
        auto& to = base.kernels[name];
        if (to.first.file.empty()) to.first = of_kernel.first;
        take_over(to.second, of_kernel.second);
    }
}

}  // namespace cllab::kernelfile

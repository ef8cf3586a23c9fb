// The value of an argument: KIND:[TYPE:]EXTENT, a file, the fields of a struct, or numbers.
#include <algorithm>
#include <map>
#include <regex>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "kernelfile/data/data.hpp"
#include "kernelfile/data/structs.hpp"
#include "kernelfile/piece.hpp"
#include "model/operation.hpp"

namespace cllab::kernelfile {
namespace {

using Kind = ArgumentSpec::Kind;

bool is_type(const std::string& text) { return model::data_type(text) || model::pixel_format(text); }

using Parts = std::vector<std::pair<std::string, Place>>;

/// Whether a text is probably meant as an image format: "rgb8", "rgba64f" and "RGBA" are unlikely names of an axis. So
/// is "a8" before the sizes of an image.
bool looks_like_format(const std::string& text, const std::string& behind) {
    static const std::regex format("(rgb|rgba|bgr|bgra|argb|abgr|depth)((8|16|32|64)[a-z]*)?|rg(8|16|32|64)[a-z]*",
                                   std::regex::icase),
        one_channel("[ralib](8|16|32|64)[a-z]*", std::regex::icase);
    return std::regex_match(text, format) ||
           (behind.find(',') != std::string::npos && std::regex_match(text, one_channel));
}

/// Reads [TYPE:]EXTENT after the kind. Returns the remaining parts.
Parts take_type_and_extent(const Parts& parts, std::size_t from, ArgumentSpec& out) {
    if (from < parts.size() && is_type(parts[from].first))
        out.type = parts[from++].first;
    else if (from + 1 < parts.size() && looks_like_format(parts[from].first, parts[from + 1].first))
        image_format(parts[from].first, parts[from].second);
    if (from < parts.size()) {
        out.extent = parse_list(parts[from].first, parts[from].second);
        if (out.extent.size() > 3)
            refuse(parts[from].second, "an image has at most three sizes, found ", out.extent.size());
        ++from;
    }
    return {parts.begin() + static_cast<std::ptrdiff_t>(std::min(from, parts.size())), parts.end()};
}

void read_bytes(const std::string& hex, const Place& place, ArgumentSpec& out) {
    std::string digits;
    for (const char c : hex)
        if (!std::isspace(static_cast<unsigned char>(c))) digits += c;
    if (digits.empty() || digits.size() % 2 ||
        !std::ranges::all_of(digits, [](unsigned char c) { return std::isxdigit(c); }))
        refuse(place, "'bytes:' takes an even number of hexadecimal digits, as in bytes:0100000a; found ",
               cllab::quoted(hex));
    for (std::size_t i = 0; i < digits.size(); i += 2)
        out.raw += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
}

void read_fields(std::string text, Place place, ArgumentSpec& out) {
    if (text.size() < 2 || text.back() != '}')
        refuse(place, "the fields of a struct must end with '}'; found ", cllab::quoted(text));
    text = text.substr(1, text.size() - 2);
    for (const auto& [field, where] : split_top(text, place.at(1), ',')) {
        const auto colon = field.find(':');
        const auto type = trim(field.substr(0, colon));
        if (type.find('*') != std::string::npos)
            refuse(where, "a struct passed by value must not contain a pointer; found ", cllab::quoted(field));
        const auto known = model::builtin_type(type);
        if (colon == std::string::npos && !out.fields.empty() && out.fields.back().first.lanes > 1)
            refuse(where, "the lanes of a field must follow colons, as in {float3:1:2:3, float:2}; found ",
                   cllab::quoted(field));
        if (colon == std::string::npos || !known)
            refuse(where, "a field is TYPE:VALUE with a type of OpenCL C, as in {int:w, float:0.5}; found ",
                   cllab::quoted(field));
        std::vector<Expression> values;
        for (const auto& [value, at] : split_top(field.substr(colon + 1), where.at(colon + 1), ':'))
            values.push_back(Expression::parse(value, at));
        if (values.size() != 1 && values.size() != known->lanes)
            refuse(where, "a ", type, " takes 1 or ", known->lanes, " values, found ", values.size());
        out.fields.emplace_back(*known, std::move(values));
    }
}

/// A kind of data: how many numbers it takes, whether they may be missing, and a description for messages. Only `const`
/// has its number before the length.
struct DrawSyntax {
    Draw draw;
    bool may_lack;
    std::size_t numbers;
    const char* takes;
};
const std::map<std::string, DrawSyntax> draws{
    {"zero", {Draw::zero, true, 0, "a length only, as in zero:n"}},
    {"iota", {Draw::counting, true, 0, "a length only, as in iota:n"}},
    {"const", {Draw::constant, false, 1, "a value and a length, as in const:1:n"}},
    {"rand", {Draw::uniform, true, 2, "no bounds or two, as in rand:n:0:1"}},
    {"sorted", {Draw::sorted, true, 2, "no bounds or two, as in sorted:n:0:1000"}},
    {"normal", {Draw::normal, true, 2, "no mean and deviation or both, as in normal:n:0:1"}},
    {"perm", {Draw::permutation, true, 0, "a length only, as in perm:n"}},
    {"powers", {Draw::powers, true, 0, "a length only, as in powers:n"}},
    {"offsets", {Draw::offsets, false, 1, "a length and the last offset, as in offsets:rows+1:nonzeros"}},
    {"onehot", {Draw::one_hot, false, 1, "a length and a row's elements, as in onehot:n*10:10"}},
    {"text", {Draw::text, true, 0, "a length only, as in text:n"}}};

const std::map<std::string, Kind> kinds{{"out", Kind::output},  {"local", Kind::local},   {"file", Kind::file},
                                        {"npy", Kind::file},    {"image", Kind::picture}, {"sampler", Kind::sampler},
                                        {"bytes", Kind::bytes}, {"same", Kind::same},     {"part", Kind::part}};

/// `of_field`: the data is for a field of a struct, which has the length of its array.
void read_draw(const std::string& name, const DrawSyntax& syntax, const Parts& parts, ArgumentSpec& out,
               bool of_field = false) {
    out.kind = Kind::drawn;
    out.draw = syntax.draw;
    const bool first = syntax.draw == Draw::constant && parts.size() > 1;
    const auto at = first ? 2 : 1;
    const auto rest = of_field ? Parts(parts.begin() + at, parts.end())
                               : take_type_and_extent(parts, static_cast<std::size_t>(at), out);
    if (first + rest.size() != syntax.numbers && !(rest.empty() && syntax.may_lack))
        refuse(rest.empty() ? out.place : rest.front().second, cllab::quoted(name), " takes ", syntax.takes,
               of_field ? "; a field takes no length" : "");
    for (const auto& [text, place] : first ? Parts{parts[1]} : rest)
        out.numbers.push_back(Expression::parse(text, place));
}

/// [TYPE] NAME:RULE, or TYPE[:RULE] of the field with this number
FieldRule read_rule(const std::string& text, const Place& place, std::size_t number) {
    auto parts = split_top(text, place, ':');
    auto& head = parts.front().first;
    if (model::builtin_type(head)) {
        head += " field" + std::to_string(number);
        if (parts.size() == 1) parts.emplace_back("rand", place);
    }
    FieldRule out{{}, head, {}};
    if (head.find(' ') != std::string::npos) {
        const auto members = members_in(head);
        if (members.empty())
            refuse(place, cllab::quoted(head), " is not a field with a type of OpenCL C, as in float3 position");
        out.declaration = head;
        out.name = members.front().name.substr(0, members.front().name.find('['));
    }
    if (parts.size() < 2 || !is_name(out.name))
        refuse(place, "a field is NAME:RULE, as in position:rand:-1:1 or id:iota; found ", cllab::quoted(text));
    parts.erase(parts.begin());
    out.drawn.place = parts.front().second;
    out.drawn.text = text;
    const auto& rule = parts.front().first;
    if (const auto draw = draws.find(rule); draw != draws.end()) {
        read_draw(rule, draw->second, parts, out.drawn, true);
    } else if (parts.size() == 1) {
        out.drawn.kind = Kind::drawn;
        out.drawn.draw = Draw::constant;
        out.drawn.numbers = {Expression::parse(rule, out.drawn.place)};
    } else {
        const auto names = mapped(draws, [](const auto& one) { return one.first; });
        refuse(out.drawn.place, "unknown rule ", cllab::quoted(rule), "; ",
               did_you_mean(rule, names, "expected one of " + join(names, ", ")));
    }
    return out;
}

/// LENGTH:{RULE, …}
void read_rules(const Parts& parts, ArgumentSpec& out) {
    out.kind = Kind::rules;
    if (parts.size() != 3 || !parts[2].first.starts_with("{") || !parts[2].first.ends_with("}"))
        refuse(out.place, "'fields' takes a length and rules, as in fields:n:{position:rand:-1:1, mass:1}; found ",
               cllab::quoted(out.text));
    out.extent = parse_list(parts[1].first, parts[1].second);
    const auto& [text, place] = parts[2];
    for (const auto& [rule, where] : split_top(std::string_view(text).substr(1, text.size() - 2), place.at(1), ',')) {
        out.rules.push_back(read_rule(rule, where, out.rules.size()));
        const auto& last = out.rules.back();
        if (std::ranges::count(out.rules, last.name, &FieldRule::name) > 1)
            refuse(where, "the field '", last.name, "' is given twice");
        if (last.declaration.empty() != out.rules.front().declaration.empty())
            refuse(where, "give the types of all fields or of none; found ", cllab::quoted(rule));
    }
}

/// Reads a list of numbers. The value does not begin with a known kind.
void read_numbers(const Piece& value, const Parts& parts, ArgumentSpec& out) {
    const auto& head = parts.front().first;
    if (head == "inout")
        refuse(out.place,
               "'inout' is not a kind of value; give a buffer that the kernel reads and writes its initial data, as in "
               "zero:n or rand:n");
    if (head == "csr")
        refuse(out.place, "'csr' sets three arguments, as in 'arg row, column, value = csr:rows:columns:nonzeros'");
    if (parts.size() > 1) {
        std::vector<std::string> names;
        for (const auto& [name, kind] : kinds) names.push_back(name);
        for (const auto& [name, draw] : draws) names.push_back(name);
        names.emplace_back("fields");
        refuse(out.place, "unknown kind of value ", cllab::quoted(head), "; ",
               did_you_mean(head, names, "expected one of " + join(names, ", ")));
    }
    out.numbers = parse_list(value.text, value.place);
}

void read_sampler(const Parts& words, ArgumentSpec& out) {
    static const std::vector<std::string> known{"nearest", "linear", "edge",       "zero", "repeat",
                                                "mirror",  "none",   "normalized", "pixel"};
    for (const auto& [word, place] : words) {
        if (std::ranges::find(known, word) == known.end())
            refuse(place, cllab::quoted(word), " is not a sampler option; expected one of ", join(known, ", "));
        out.words.push_back(word);
    }
    const auto has = [&](const char* word) { return std::ranges::count(out.words, word) > 0; };
    for (const char* word : {"repeat", "mirror"})
        if (has(word) && !has("normalized"))
            refuse(out.place, "a sampler with '", word, "' needs 'normalized' (otherwise CL_INVALID_VALUE); found ",
                   cllab::quoted(join(out.words, ",")));
}

/// PATH[:FORMAT]
void read_picture_path(const std::string& text, const Parts& parts, ArgumentSpec& out) {
    out.path = text;
    if (parts.size() > 2 && is_type(parts.back().first)) {
        out.type = parts.back().first;
        out.path = trim(text.substr(0, text.rfind(':')));
    }
    if (out.path.empty()) refuse(out.place, "'image' takes a picture, as in image:panel.png");
}

void read_same(const std::string& other, ArgumentSpec& out) {
    if (!is_name(other))
        refuse(out.place, "'same' takes the name of another argument, as in same:src; found ", cllab::quoted(other));
    out.words = {other};
}

/// ARGUMENT:[TYPE:]ORIGIN:LENGTH
void read_part(Parts parts, ArgumentSpec& out) {
    if (parts.size() == 5 && model::data_type(parts[2].first)) {
        out.type = parts[2].first;
        parts.erase(parts.begin() + 2);
    }
    if (parts.size() != 4 || !is_name(parts[1].first))
        refuse(out.place, "'part' takes a buffer, the first element and a length, as in part:x:64Ki:4Ki; found ",
               cllab::quoted(out.text));
    out.words = {parts[1].first};
    out.numbers = {Expression::parse(parts[2].first, parts[2].second)};
    out.extent = {Expression::parse(parts[3].first, parts[3].second)};
}

/// A buffer in shared virtual memory. `value`: the text after "svm:".
ArgumentSpec read_svm(const Piece& value, const Place& place) {
    const auto wrong = [&] {
        refuse(place, "'svm' takes the value of a buffer, as in svm:rand:1024 or svm:out:1024; found ",
               cllab::quoted(trim(value.text)));
    };
    if (trim(value.text).empty()) wrong();
    auto out = parse_argument(value);
    if (out.kind != Kind::drawn && out.kind != Kind::rules && out.kind != Kind::output && out.kind != Kind::file)
        wrong();
    out.svm = true;
    return out;
}

}  // namespace

ArgumentSpec parse_argument(const Piece& value) {
    ArgumentSpec out{value.place, trim(value.text)};
    const auto parts = split_top(value.text, value.place, ':');
    if (out.text.front() == '{') {
        // {RULE, …}:LENGTH is short for fields:LENGTH:{RULE, …}.
        if (parts.size() == 2) return read_rules({parts[0], parts[1], parts[0]}, out), out;
        out.kind = Kind::fields;
        read_fields(out.text, value.place, out);
        return out;
    }
    const auto& head = parts.front().first;
    const auto behind = [&] {  // a path may hold colons
        const auto at = value.text.find(':');
        return at == std::string::npos ? std::string() : trim(value.text.substr(at + 1));
    };
    // Without a colon, most of these words may be names of axes.
    if (const auto draw = draws.find(head);
        draw != draws.end() && (parts.size() > 1 || draw->second.draw <= Draw::uniform)) {
        read_draw(head, draw->second, parts, out);
        return out;
    }
    if (out.text == "null") {
        out.kind = Kind::null;
        return out;
    }
    if (head == "svm") {
        const auto at = std::min(value.text.find(':'), value.text.size() - 1) + 1;
        return read_svm({value.text.substr(at), value.place.at(at)}, value.place);
    }
    if (head == "fields" && parts.size() > 1) {
        read_rules(parts, out);
        return out;
    }
    const auto known = kinds.find(head);
    if (known == kinds.end()) {
        read_numbers(value, parts, out);
        return out;
    }
    out.kind = known->second;
    switch (out.kind) {
        case Kind::file:
            out.path = behind();
            if (parts.size() > 3 && model::pixel_format(parts[1].first)) {  // FORMAT:W,H:PATH of an image
                take_type_and_extent(parts, 1, out);
                out.path = trim(out.path.substr(out.path.find(':', out.path.find(':') + 1) + 1));
            }
            if (out.path.empty())
                refuse(out.place, cllab::quoted(head), " takes a file, as in ", head, ":data.",
                       head == "npy" ? "npy" : "bin");
            break;
        case Kind::picture:
            read_picture_path(behind(), parts, out);
            break;
        case Kind::sampler:
            read_sampler(split_top(behind(), value.place.at(value.text.find(':') + 1), ','), out);
            break;
        case Kind::bytes:
            read_bytes(behind(), out.place, out);
            break;
        case Kind::same:
            read_same(behind(), out);
            break;
        case Kind::part:
            read_part(parts, out);
            break;
        default:
            if (const auto rest = take_type_and_extent(parts, 1, out); !rest.empty())
                refuse(rest.front().second, "expected nothing more here; found ", cllab::quoted(rest.front().first));
            break;
    }
    return out;
}

}  // namespace cllab::kernelfile

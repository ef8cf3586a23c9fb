#include "inspect/binary/ptx_module.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

#include "core/text.hpp"

namespace cllab::inspect {
namespace {

/// A directive, a variable or a function at the outermost level.
struct Declaration {
    std::string name, text;  ///< name: empty for a directive
    bool used = false;
};

bool in_identifier(char c) { return in_name(c) || c == '$' || c == '%'; }

std::string leading_identifier(std::string_view text) {
    const auto begin = std::find_if(text.begin(), text.end(), in_identifier);
    return {begin, std::find_if_not(begin, text.end(), in_identifier)};
}

std::string trailing_identifier(std::string_view text) {
    const auto end = std::find_if(text.rbegin(), text.rend(), in_identifier);
    const auto begin = std::find_if_not(end, text.rend(), in_identifier);
    return {begin.base(), end.base()};
}

/// ".entry NAME(", ".func (.param .b32 result) NAME(", ".global .align 4 .b8 NAME[8] = {1, 2}".
std::string name_declared_in(std::string_view text) {
    for (const std::string_view word : {".entry", ".func"}) {
        const auto at = text.find(word);
        if (at == text.npos || at > text.find_first_of("([;{")) continue;
        auto rest = text.substr(at + word.size());
        if (const auto open = rest.find_first_not_of(" \t\n"); open != rest.npos && rest[open] == '(')
            rest = rest.substr(std::min(rest.size(), rest.find(')')));
        return leading_identifier(rest);
    }
    for (const std::string_view word : {".global", ".const", ".shared", ".visible", ".extern", ".weak", ".common"})
        if (text.starts_with(word)) return trailing_identifier(text.substr(0, text.find_first_of("[=;")));
    return {};
}

/// "$L__BB3_2" becomes "$L__BB_2" and "__local_depot3" "__local_depot".
void drop_ordinals(std::string& line) {
    for (const std::string_view word : {"BB", "__local_depot"})
        for (auto at = line.find(word); at != line.npos; at = line.find(word, at + 1)) {
            const auto begin = at + word.size();
            auto end = begin;
            while (end < line.size() && std::isdigit(static_cast<unsigned char>(line[end]))) ++end;
            if (word != "BB" || (end < line.size() && line[end] == '_')) line.erase(begin, end - begin);
        }
}

std::vector<Declaration> parts_of(std::string_view text) {
    std::vector<Declaration> out;
    Declaration part;
    std::ptrdiff_t depth = 0;
    for (const auto& raw : split(text, '\n')) {
        auto line = trim(raw.substr(0, std::min(raw.size(), raw.find("//"))));
        if (line.empty()) continue;
        drop_ordinals(line);
        depth += std::count(line.begin(), line.end(), '{') - std::count(line.begin(), line.end(), '}');
        const bool directive = line.starts_with(".version") || line.starts_with(".target") ||
                               line.starts_with(".address_size") || line.starts_with(".file");
        part.text += line + "\n";
        if (depth > 0 || !(directive || line.back() == '}' || line.back() == ';')) continue;
        part.name = name_declared_in(part.text);
        out.push_back(std::move(part));
        part = {};
    }
    if (!part.text.empty()) out.push_back(std::move(part));
    return out;
}

}  // namespace

std::string kernel_of_ptx(std::string_view text, const std::string& entry) {
    auto parts = parts_of(text);
    const bool known = std::any_of(parts.begin(), parts.end(), [&](const auto& p) { return p.name == entry; });
    std::set<std::string> wanted{entry};
    const auto is_wanted = [&](const Declaration& p) {
        return !p.used && (!known || p.name.empty() || wanted.contains(p.name));
    };
    for (auto next = std::find_if(parts.begin(), parts.end(), is_wanted); next != parts.end();
         next = std::find_if(parts.begin(), parts.end(), is_wanted)) {
        next->used = true;
        if (next->name.empty()) continue;
        for (auto begin = next->text.begin(); begin != next->text.end();) {
            const auto end = std::find_if_not(begin, next->text.end(), in_identifier);
            wanted.emplace(begin, end);
            begin = std::find_if(end, next->text.end(), in_identifier);
        }
    }
    std::string out;
    for (const auto& part : parts)
        if (part.used) out += part.text;
    return out;
}

}  // namespace cllab::inspect

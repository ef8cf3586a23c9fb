#include "kernelfile/data/structs.hpp"

#include <iterator>
#include <regex>
#include <sstream>

#include "core/kernel_text.hpp"
#include "core/text.hpp"

namespace cllab::kernelfile {

std::vector<model::Member> members_in(const std::string& declaration) {
    static const std::regex name(R"(([A-Za-z_]\w*)\s*(?:\[\s*(\d{1,2})\s*\])?)");
    std::istringstream in(declaration);
    const std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
    if (words.size() < 2) return {};
    const bool two = words.size() > 2 && model::builtin_type(words[0] + " " + words[1]);
    const auto type = model::builtin_type(two ? words[0] + " " + words[1] : words[0]);
    if (!type) return {};
    std::vector<model::Member> out;
    const std::vector<std::string> names(words.begin() + (two ? 2 : 1), words.end());
    for (const auto& one : split(join(names, " "), ',')) {
        std::smatch found;
        const auto text = trim(one);
        if (!std::regex_match(text, found, name)) return {};
        if (found[2].length() == 0) out.push_back({found[1], 0, *type});
        for (int i = 0; found[2].length() > 0 && i < std::stoi(found[2]); ++i)
            out.push_back({concat(found[1].str(), "[", i, "]"), 0, *type});
    }
    return out;
}

void lay_out(std::vector<model::Member>& members) {
    Layout layout;
    for (auto& member : members) member.begin = layout.add(member.type);
}

std::size_t bytes_of(const std::vector<model::Member>& members) {
    Layout layout;
    for (const auto& member : members) layout.add(member.type);
    return layout.bytes();
}

std::vector<model::Member> members_of(std::string_view text, const std::string& type) {
    const auto name = type.substr(type.rfind(' ') == std::string::npos ? 0 : type.rfind(' ') + 1);
    static const std::regex begins(R"(\bstruct\b[^;{}()=]*\{)");
    const std::string all(text);
    for (std::sregex_iterator at(all.begin(), all.end(), begins), end; at != end; ++at) {
        const auto open = static_cast<std::size_t>(at->position() + at->length() - 1);
        const auto close = behind_bracket(all, open, '{', '}');
        const auto tail = all.substr(close, all.find(';', close) - close);
        if (!names_in(at->str()).count(name) && !names_in(tail).count(name)) continue;
        std::vector<model::Member> out;
        for (const auto& line : split(all.substr(open + 1, close - open - 2), ';')) {
            if (trim(line).empty()) continue;
            const auto fields = members_in(line);
            if (fields.empty()) return {};
            out.insert(out.end(), fields.begin(), fields.end());
        }
        lay_out(out);
        return out;
    }
    return {};
}

void name_members(model::Introspection& found, std::string_view text) {
    std::string plain;
    for (auto& kernel : found.kernels)
        for (auto& parameter : kernel.parameters) {
            auto& type = parameter.type;
            if (!type.is_opaque() || type.bytes == 0) continue;
            if (plain.empty()) plain = without_comments(text);
            auto members = members_of(plain, type.name);
            if (bytes_of(members) == type.bytes) type.members = std::move(members);
        }
}

}  // namespace cllab::kernelfile

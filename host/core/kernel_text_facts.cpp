// Facts in a text about its kernels: the work-group size that a kernel requires, and the samplers that it uses.
#include <algorithm>
#include <regex>

#include "core/kernel_text.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

namespace cllab {
namespace {

/// The value of a product of numbers and macros; 0 for any other expression.
std::size_t number_in(const std::string& expression, const std::string& text,
                      const std::vector<std::string>& options, int depth = 8) {
    std::size_t out = 1;
    for (auto part : split(expression, '*')) {
        while (!part.empty() && (part.front() == ' ' || part.front() == '(')) part.erase(0, 1);
        const bool is_number = !part.empty() && part.front() >= '0' && part.front() <= '9';
        const std::string_view behind = is_number ? " )\ruUlL" : " )\r";
        while (!part.empty() && behind.find(part.back()) != behind.npos) part.pop_back();
        if (const auto number = parse_integer(part); number && *number > 0) {
            out *= static_cast<std::size_t>(*number);
            continue;
        }
        std::string means;
        for (const auto& option : options)
            if (option.starts_with("-D" + part + "=")) means = option.substr(part.size() + 3);
        if (means.empty() && !part.empty() && std::ranges::all_of(part, in_name)) {
            const std::regex define("#[ \t]*define[ \t]+" + part + "[ \t]+([^\n]*)");
            std::smatch defined;
            // If there are two definitions, an #if may choose between them.
            if (std::regex_search(text, defined, define) && !std::regex_search(defined.suffix().str(), define))
                means = defined[1];
        }
        out *= means.empty() || depth == 0 ? 0 : number_in(means, text, options, depth - 1);
    }
    return out;
}

}  // namespace

std::optional<std::array<std::size_t, 3>> required_group_in(std::string_view text, const std::string& kernel,
                                                            const std::vector<std::string>& options) {
    static const std::regex attribute("reqd_work_group_size\\s*\\(([^,;{]*),([^,;{]*),([^,;{]*?)\\)\\s*[),]");
    const auto plain = without_comments(text);
    const auto kernels = kernels_in(plain);
    const auto found = std::ranges::find(kernels, kernel, &KernelText::name);
    if (found == kernels.end()) return std::array<std::size_t, 3>{};
    const auto before = plain.find_last_of(";}", found->body);
    const auto begin = before == plain.npos ? 0 : before + 1;
    const auto head = plain.substr(begin, found->body - begin);
    std::smatch said;
    if (!std::regex_search(head, said, attribute)) return std::nullopt;
    if (std::regex_search(said.suffix().str(), attribute)) return std::array<std::size_t, 3>{};
    const auto number = [&](std::size_t i) { return number_in(said[i].str(), plain, options); };
    return std::array{number(1), number(2), number(3)};
}

std::map<std::string, std::string> samplers_at_whole_coordinates(std::string_view text, const std::string& kernel) {
    static const std::regex read(R"(\bread_image(?:f|h|i|ui)\s*\(\s*\w+\s*,\s*(\w+)\s*,\s*)"),
        whole(R"(\(\s*u?int[24]?\s*\)[^]*|convert_u?int[^]*|(\w+)\s*\)[^]*)");
    const auto code = without_comments(text);
    std::map<std::string, std::string> out;
    for (const auto& one : kernels_in(code)) {
        if (one.name != kernel) continue;
        const auto body = code.substr(one.body, one.end - one.body);
        for (std::sregex_iterator at(body.begin(), body.end(), read), end; at != end; ++at) {
            const auto behind = static_cast<std::size_t>(at->position() + at->length());
            const auto coordinates = body.substr(behind, body.find(';', behind) - behind);
            std::smatch found;
            if (!std::regex_match(coordinates, found, whole)) continue;
            const std::regex declared("\\bint[24]?\\s+(?:[^;=(){}]*,\\s*)?" + found[1].str() + "\\b");
            if (found[1].matched && !std::regex_search(body, declared)) continue;
            const std::regex is("\\bsampler_t\\s+" + (*at)[1].str() + "\\s*=([^;]*);");
            std::regex_search(code, found, is);
            out.emplace((*at)[1], one_line(found[1].str()));
        }
    }
    return out;
}

}  // namespace cllab

#include "kernelfile/guess/text_facts.hpp"

#include <algorithm>
#include <regex>
#include <set>

#include "core/kernel_text.hpp"
#include "core/text.hpp"

namespace cllab::kernelfile {
namespace {

std::size_t skip_space(std::string_view text, std::size_t at) {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
    return at;
}

/// Names and what stands behind them: NAME(…) { BODY } outside of any bracket, and #define NAME BODY.
void find_bodies(const std::string& text, std::map<std::string, std::string>& out) {
    std::string name;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '#') {
            auto end = text.find('\n', at);
            while (end != std::string::npos && end > 0 && text[end - 1] == '\\') end = text.find('\n', end + 1);
            end = std::min(end, text.size());
            static const std::regex define(R"(#\s*define\s+(\w+)([\s\S]*))");
            std::smatch found;
            const auto line = text.substr(at, end - at);
            if (std::regex_match(line, found, define)) out[found[1]] += std::string(found[2]) + "\n";
            at = end;
        } else if (in_name(c)) {
            auto end = at;
            while (end < text.size() && in_name(text[end])) ++end;
            name = text.substr(at, end - at);
            at = end;
        } else if (c == '(') {
            const auto of = name;
            at = skip_space(text, behind_bracket(text, at, '(', ')'));
            if (at < text.size() && text[at] == '{') {
                const auto end = behind_bracket(text, at, '{', '}');
                out[of] += text.substr(at, end - at);
                at = end;
            }
        } else {
            at = c == '{' ? behind_bracket(text, at, '{', '}') : at + 1;
        }
    }
}

}  // namespace

TextFacts::TextFacts(std::string_view text) : text_(without_comments(text)) {
    find_bodies(text_, bodies_);
    for (const auto& kernel : kernels_in(text_))  // attributes may stand between the name and the body
        bodies_[kernel.name] = text_.substr(kernel.body, kernel.end - kernel.body);
}

std::map<std::string, unsigned> TextFacts::calls(const std::string& kernel) const {
    static const std::regex call(R"(\b(get_\w+|barrier|work_group_barrier)\s*\(\s*(\d?))");
    std::map<std::string, unsigned> out;
    std::set<std::string> known{kernel};
    std::vector<std::string> open{kernel};
    while (!open.empty()) {
        const auto found = bodies_.find(open.back());
        open.pop_back();
        if (found == bodies_.end()) continue;
        const auto& body = found->second;
        for (std::sregex_iterator at(body.begin(), body.end(), call), end; at != end; ++at)
            out[(*at)[1]] |= 1u << ((*at)[2].length() > 0 ? std::min(3, (*at)[2].str()[0] - '0') : 0);
        for (const auto& word : names_in(body))
            if (bodies_.count(word) && known.insert(word).second) open.push_back(word);
    }
    return out;
}

TextFacts::Use TextFacts::use(const std::string& kernel, const std::string& argument) const {
    Use out;
    const auto found = bodies_.find(kernel);
    if (found == bodies_.end()) return {true, true, false};
    const auto& body = found->second;
    for (auto at = body.find(argument); at != std::string::npos; at = body.find(argument, at + 1)) {
        const auto end = at + argument.size();
        if ((at > 0 && in_name(body[at - 1])) || (end < body.size() && in_name(body[end]))) continue;
        const auto before = body.substr(at < 40 ? 0 : at - 40, std::min<std::size_t>(at, 40));
        auto behind = skip_space(body, end);
        const bool indexed = behind < body.size() && body[behind] == '[';
        if (indexed) behind = skip_space(body, behind_bracket(body, behind, '[', ']'));
        while (behind < body.size() && (body[behind] == '.' || in_name(body[behind]))) ++behind;
        const auto next = body.substr(skip_space(body, behind), 3);
        static const std::regex in_atomic(R"(atom\w*\s*\(\s*&?\s*\(?[^;]*$)"), in_store(R"(vstore\w*\s*\([^;]*$)"),
            in_load(R"(vload\w*\s*\([^;]*$)");
        if (std::regex_search(before, in_atomic)) {
            out.read = out.written = out.atomic = true;
        } else if (std::regex_search(before, in_store)) {
            out.written = true;
        } else if (indexed && next.starts_with("=") && !next.starts_with("==")) {
            out.written = true;
        } else if (indexed && (next.starts_with("++") || next.starts_with("--") ||
                               (next.size() > 1 && next.find('=') == 1 &&
                                std::string_view("+-*/|&^%").find(next[0]) != std::string_view::npos))) {
            out.read = out.written = true;
        } else if (indexed || std::regex_search(before, in_load)) {
            out.read = true;
        } else {
            out.read = out.written = true;  // something else is made of the pointer
        }
    }
    return out;
}

bool TextFacts::is_empty(const std::string& kernel) const {
    const auto found = bodies_.find(kernel);
    return found != bodies_.end() && skip_space(found->second, 1) + 1 == found->second.size();
}

bool TextFacts::has_array(const std::string& kernel) const {
    static const std::regex array(R"(\b(?:u?(?:char|short|int|long)|unsigned|half|float|double)\d*\s+\w+\s*\[)");
    const auto found = bodies_.find(kernel);
    return found != bodies_.end() && std::regex_search(found->second, array);
}

}  // namespace cllab::kernelfile

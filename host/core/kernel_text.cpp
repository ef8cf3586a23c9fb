#include "core/kernel_text.hpp"

#include <algorithm>
#include <utility>

#include "core/text.hpp"

namespace cllab {
namespace {

/// Behind the line that begins here, and those that a '\\' joins to it.
std::size_t end_of_line(std::string_view text, std::size_t at) {
    const auto goes_on = [&](std::size_t end) {
        const auto last = end - (text[end - 1] == '\r' ? 2 : 1);
        return last > at && text[last] == '\\';
    };
    auto end = text.find('\n', at);
    while (end != std::string_view::npos && goes_on(end)) end = text.find('\n', end + 1);
    return end == std::string_view::npos ? text.size() : end + 1;
}

/// Behind what begins here and holds no code: a comment, a literal, a line for the preprocessor. `at` where none does.
std::size_t skip(std::string_view text, std::size_t at) {
    const auto behind = [&](std::string_view end, std::size_t from) {
        const auto found = text.find(end, from);
        return found == std::string_view::npos ? text.size() : found + end.size();
    };
    if (text.substr(at, 2) == "//") return behind("\n", at);
    if (text.substr(at, 2) == "/*") return behind("*/", at + 2);
    if (text[at] == '#') return end_of_line(text, at);
    if (text[at] != '"' && text[at] != '\'') return at;
    auto end = at + 1;
    while (end < text.size() && text[end] != text[at]) end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
}

/// "(int a, f(b) c)" as its parts.
std::vector<std::string> parts_of(std::string_view list) {
    std::vector<std::string> out;
    std::string part;
    int depth = 0;
    for (std::size_t at = 1; at + 1 < list.size();) {
        if (const auto behind = skip(list, at); behind > at) {
            part += ' ', at = behind;
            continue;
        }
        const char c = list[at++];
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c != ',' || depth > 0)
            part += c;
        else
            out.push_back(trim(part)), part.clear();
    }
    if (!trim(part).empty()) out.push_back(trim(part));
    return out;
}

}  // namespace

std::size_t behind_bracket(std::string_view text, std::size_t at, char open, char close) {
    for (int depth = 0; at < text.size();) {
        if (const auto behind = skip(text, at); behind > at) {
            at = behind;
            continue;
        }
        depth += text[at] == open ? 1 : text[at] == close ? -1 : 0;
        ++at;
        if (depth == 0) break;
    }
    return at;
}

std::string without_comments(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto two = text.substr(at, 2);
        const bool is_comment = two == "//" || two == "/*";
        const auto behind = text[at] == '#' ? at + 1 : std::max(skip(text, at), at + 1);
        out += is_comment ? two == "//" ? "\n" : " " : text.substr(at, behind - at);
        at = behind;
    }
    return out;
}

std::vector<KernelText> kernels_in(std::string_view text) {
    std::vector<KernelText> out;
    KernelText next;
    bool begun = false, listed = false;  // behind the word kernel; behind the parameters
    std::string_view word;
    for (std::size_t at = 0; at < text.size();) {
        if (const auto behind = skip(text, at); behind > at) {
            at = behind;
        } else if (in_name(text[at])) {
            auto end = at;
            while (end < text.size() && in_name(text[end])) ++end;
            const auto found = text.substr(at, end - at);
            at = end;
            if (found == "__attribute__") continue;  // with its list, wherever it stands
            if (std::exchange(word, found) == "void") next.name = word;
            if (word == "kernel" || word == "__kernel") next = {}, begun = true, listed = false;
        } else if (text[at] == '(') {
            const auto end = behind_bracket(text, at, '(', ')');
            if (begun && !listed && word == next.name && !next.name.empty())
                next.parameters = parts_of(text.substr(at, end - at)), listed = true;
            at = end;
        } else if (text[at] == '{' && begun && listed) {
            next.body = at;
            next.end = at = behind_bracket(text, at, '{', '}');
            out.push_back(std::exchange(next, {}));
            begun = false;
        } else {
            begun = begun && text[at] != ';' && text[at] != '{' && text[at] != '=';
            ++at;
        }
    }
    return out;
}

std::string without_bodies(std::string_view text, const std::vector<KernelText>& kernels, std::string_view instead) {
    std::string out;
    std::size_t from = 0;
    for (const auto& kernel : kernels) {
        out.append(text.substr(from, kernel.body - from)).append(instead);
        const auto body = text.substr(0, kernel.end);
        for (auto at = kernel.body; at < body.size();) {
            const auto behind = std::max(skip(body, at), at + 1);
            const auto piece = body.substr(at, behind - at);
            const bool stays = piece.front() == '#' && trim(piece.substr(1)).substr(0, 6) != "pragma";
            if (stays)
                out.append(piece);
            else
                out.append(static_cast<std::size_t>(std::ranges::count(piece, '\n')), '\n');
            at = behind;
        }
        from = kernel.end;
    }
    return out.append(text.substr(from));
}

}  // namespace cllab

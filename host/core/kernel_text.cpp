#include "core/kernel_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "core/error.hpp"
#include "core/text.hpp"

namespace cllab {
namespace {

/// The position after this line and the lines that a '\\' joins to it.
std::size_t end_of_line(std::string_view text, std::size_t at) {
    const auto continues = [&](std::size_t end) {
        const auto last = end - (text[end - 1] == '\r' ? 2 : 1);
        return last > at && text[last] == '\\';
    };
    auto end = text.find('\n', at);
    while (end != std::string_view::npos && continues(end)) end = text.find('\n', end + 1);
    return end == std::string_view::npos ? text.size() : end + 1;
}

/// The position after a comment, literal or directive that begins at `at`; `at` itself if none does.
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

/// The parts of "(int a, f(b) c)".
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
    bool begun = false, listed = false;  // begun: after the word kernel; listed: after the parameters
    std::string_view word;
    for (std::size_t at = 0; at < text.size();) {
        if (const auto behind = skip(text, at); behind > at) {
            at = behind;
        } else if (in_name(text[at])) {
            auto end = at;
            while (end < text.size() && in_name(text[end])) ++end;
            const auto found = text.substr(at, end - at);
            at = end;
            if (found == "__attribute__") continue;  // its list is skipped below
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

namespace {

struct Directive {
    std::size_t begin = 0, end = 0;  ///< from its '#' to the end of the included name, or of its line
    std::size_t line = 0;            ///< its last line, from 1
    std::string word, rest;          ///< "include", "\"tile.h\""
};

struct Scan {
    std::vector<Directive> directives;
    std::size_t first_code = std::string_view::npos, last_code = 0;  ///< of code outside directives and comments
};

/// Finds directives as a preprocessor does: after comments, across continued lines, and never inside a literal.
class Scanner {
public:
    explicit Scanner(std::string_view text) : text_(text) {}

    Scan scan() {
        bool at_line_start = true;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (skip_blank()) continue;
            if (c == '\n') {
                at_line_start = true;
                next();
            } else if (at_line_start && (c == '#' || starts("%:"))) {
                directive();
            } else {
                at_line_start = false;
                out_.first_code = std::min(out_.first_code, at_);
                out_.last_code = at_;
                c == '"' || c == '\'' ? literal(c) : next();
            }
        }
        return std::move(out_);
    }

private:
    bool starts(std::string_view word) const { return text_.substr(at_).starts_with(word); }
    void next() {
        if (at_ < text_.size() && text_[at_++] == '\n') ++line_;
    }
    /// Skips a blank within a line, a comment, or the end of a continued line. False: there is none.
    bool skip_blank() {
        const char c = text_[at_];
        if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            next();
        } else if (starts("\\\n") || starts("\\\r\n")) {
            while (text_[at_] != '\n') next();
            next();
        } else if (starts("//")) {
            while (at_ < text_.size() && text_[at_] != '\n') starts("\\\n") ? (next(), next()) : next();
        } else if (starts("/*")) {
            const auto end = text_.find("*/", at_ + 2);
            const auto past = end == std::string_view::npos ? text_.size() : end + 2;
            while (at_ < past) next();
        } else {
            return false;
        }
        return true;
    }
    void skip_blanks() {
        while (at_ < text_.size() && skip_blank()) {
        }
    }
    void literal(char quote) {
        next();
        while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
            if (text_[at_] == '\\') next();
            next();
        }
        if (at_ < text_.size() && text_[at_] == quote) next();
    }
    std::string until(char end) {
        std::string out;
        do {
            out += text_[at_];
            next();
        } while (at_ < text_.size() && text_[at_] != end && text_[at_] != '\n');
        if (at_ < text_.size() && text_[at_] == end) {
            out += end;
            next();
        }
        return out;
    }
    void directive() {
        Directive found;
        found.begin = at_;
        at_ += text_[at_] == '#' ? 1 : 2;
        skip_blanks();
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) {
            found.word += text_[at_];
            next();
            while (starts("\\\n")) skip_blank();
        }
        skip_blanks();
        const bool header = found.word == "include" && at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '<');
        if (header) found.rest = until(text_[at_] == '<' ? '>' : '"');
        while (!header && at_ < text_.size() && text_[at_] != '\n') {
            if (skip_blank()) {
                found.rest += ' ';
            } else {
                found.rest += text_[at_];
                next();
            }
        }
        found.rest = trim(found.rest);
        found.end = at_;
        found.line = line_;
        out_.directives.push_back(std::move(found));
    }

    std::string_view text_;
    std::size_t at_ = 0, line_ = 1;
    Scan out_;
};

bool opens(const Directive& d) { return d.word == "if" || d.word == "ifdef" || d.word == "ifndef"; }

bool is_include(const Directive& d) { return d.word == "include" || d.word == "include_next" || d.word == "import"; }

bool has_pragma_once(const Scan& scan) {
    return std::ranges::any_of(scan.directives, [](const auto& d) { return d.word == "pragma" && d.rest == "once"; });
}

/// True if the whole text is inside an #ifndef of a name that it defines first and never undefines.
bool has_guard(const Scan& scan) {
    const auto& all = scan.directives;
    if (all.size() < 3 || all[0].word != "ifndef" || all[1].word != "define") return false;
    const auto& name = all[0].rest;
    if (all[1].rest.substr(0, all[1].rest.find_first_of(" (")) != name) return false;
    int depth = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].word == "undef" && all[i].rest == name) return false;
        if (depth == 1 && (all[i].word == "else" || all[i].word == "elif")) return false;
        depth += opens(all[i]) ? 1 : all[i].word == "endif" ? -1 : 0;
        if (depth == 0 && i + 1 < all.size()) return false;
    }
    return scan.first_code > all[0].begin && scan.last_code < all.back().begin;
}

class Expansion {
public:
    explicit Expansion(const FindIncluded& find) : find_(find) {}

    /// `certain`: the text is in no condition.
    void expand(const std::string& path, const std::string& text, const Scan& scan, bool guarded, bool certain) {
        int depth = guarded ? -1 : 0;
        std::size_t from = 0;
        for (const auto& d : scan.directives) {
            depth += opens(d) ? 1 : d.word == "endif" ? -1 : 0;
            if (d.word == "pragma" && d.rest == "once" && !stack_.empty()) {
                append(text.substr(from, d.begin - from));
                from = d.end;
            }
            if (d.word != "include" || (d.rest[0] != '"' && d.rest[0] != '<')) continue;
            const auto file = find_(d.rest.substr(1, d.rest.size() - 2), path);
            if (!file) continue;
            const auto inside = Scanner(file->text).scan();
            const bool by_guard = has_guard(inside), by_pragma = has_pragma_once(inside);
            if (stack_.count(file->path) && !by_guard && !by_pragma) continue;
            append(text.substr(from, d.begin - from));
            from = d.end;
            if (std::ranges::find(out.files, file->path) == out.files.end()) out.files.push_back(file->path);
            // A guarded file is empty the second time, and inside itself.
            if (stack_.count(file->path) || done_.count(file->path)) continue;
            include(*file, inside, by_guard, by_pragma, certain && depth <= 0);
            return_to(path, text, d, from);
        }
        append(text.substr(from));
    }

    Closure out;

private:
    void include(const IncludedFile& file, const Scan& inside, bool by_guard, bool by_pragma, bool certain) {
        begin_line();
        const auto once = concat("CLLAB_ONCE_", once_.emplace(file.path, once_.size()).first->second);
        if (by_pragma) append("#ifndef " + once + "\n#define " + once + "\n");
        append(line_directive(1, file.path) + "\n");
        stack_.insert(file.path);
        expand(file.path, file.text, inside, by_guard, certain);
        stack_.erase(file.path);
        if (by_pragma) {
            begin_line();
            append("#endif");
        }
        if ((by_guard || by_pragma) && certain) done_.insert(file.path);
    }
    /// The rest of the directive's line keeps its line number.
    void return_to(const std::string& path, const std::string& text, const Directive& d, std::size_t from) {
        begin_line();
        const auto rest = text.find_first_not_of(" \t\r", from);
        const bool ends = rest == std::string::npos || text[rest] == '\n';
        append(line_directive(d.line + ends, path) + (ends ? "" : "\n"));
    }
    void begin_line() {
        if (!out.text.empty() && out.text.back() != '\n') append("\n");
    }
    void append(const std::string& more) {
        constexpr std::size_t most = 16u << 20;
        out.text += more;
        if (out.text.size() > most)
            throw Error(Blame::usage, "the source with its includes is larger than 16 MiB, the limit for a kernel");
    }

    const FindIncluded& find_;
    std::set<std::string> stack_, done_;
    std::map<std::string, std::size_t> once_;
};

}  // namespace

std::pair<std::string, std::string_view> family_parts(std::string_view text) {
    constexpr std::string_view begin = "\n/* family\n", end = "*/";
    const auto at = text.find(begin);
    if (at == text.npos) return {std::string(text), {}};
    auto said = text.substr(at + begin.size());
    said = said.substr(0, said.find(end));
    std::string kernels(text.substr(0, at));
    const auto behind = text.substr(std::min(text.size(), at + begin.size() + said.size() + end.size()));
    // Text after the comment keeps its line numbers, too.
    if (!trim(behind).empty())
        kernels.append(static_cast<std::size_t>(std::ranges::count(said, '\n')) + 2, '\n').append(behind);
    return {kernels, said};
}

std::vector<std::string> includes_of(std::string_view text) {
    std::vector<std::string> out;
    for (const auto& d : Scanner(text).scan().directives)
        if (is_include(d) && std::ranges::find(out, d.rest) == out.end()) out.push_back(d.rest);
    return out;
}

std::string line_directive(std::size_t line, const std::string& path) {
    auto name = path;
    std::ranges::replace_if(
        name, [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '"' || c == '\\' || c == '?'; }, '_');
    return concat("#line ", line, " \"", name, "\"");
}

Closure closure_of(const std::string& path, const std::string& text, const FindIncluded& find) {
    Expansion expansion(find);
    expansion.expand(path, text, Scanner(text).scan(), false, true);
    return std::move(expansion.out);
}

namespace {

constexpr std::string_view first_line = "#error a compiled program, which is no text for a compiler\n";
constexpr std::string_view digits = "0123456789abcdef";
constexpr std::size_t bytes_in_line = 50;

}  // namespace

bool names_program(std::string_view path) {
    constexpr std::array<std::string_view, 14> extensions{".spv",   ".ptx", ".cubin", ".co",      ".poclbin",
                                                          ".elf",   ".ar",  ".zebin", ".rusticl", ".clover",
                                                          ".plist", ".bif", ".bc",    ".bin"};
    return std::ranges::any_of(extensions, [&](auto extension) { return path.ends_with(extension); });
}

bool is_spirv(std::string_view program) { return program.starts_with("\x03\x02\x23\x07"); }

bool is_ptx(std::string_view program) {
    return program.find(".version ") < program.find(".target ") && program.find(".target ") != program.npos;
}

std::string text_of_program(std::string_view program) {
    std::string out(first_line);
    out.reserve(out.size() + program.size() * 2 + program.size() / bytes_in_line + 1);
    for (std::size_t i = 0; i < program.size(); ++i) {
        const auto byte = static_cast<unsigned char>(program[i]);
        out += digits[byte >> 4];
        out += digits[byte & 15];
        if (i % bytes_in_line == bytes_in_line - 1) out += '\n';
    }
    return out + '\n';
}

std::optional<std::string> program_of_text(std::string_view text) {
    if (text.starts_with("#line ")) text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
    if (!text.starts_with(first_line)) return std::nullopt;
    std::string out;
    std::optional<std::size_t> half;
    for (const char c : text.substr(first_line.size())) {
        const auto value = digits.find(c);
        if (value == digits.npos) continue;
        if (half) out += static_cast<char>(*half << 4 | value);
        half = half ? std::nullopt : std::optional(value);
    }
    return out;
}

}  // namespace cllab

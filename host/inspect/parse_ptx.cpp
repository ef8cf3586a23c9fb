// PTX statements of every .entry and .func body. A statement ends in ';' and may span lines (calls do).
#include <algorithm>
#include <cctype>
#include <map>

#include "core/text.hpp"
#include "inspect/code.hpp"

namespace cllab::inspect {
namespace {

/// Without comments and without `.loc` and `.file`, which end with their line where a statement ends in ';': a build
/// with -g has one in front of most instructions.
std::string statements_only(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    bool line_is_blank = true;
    for (std::size_t i = 0; i < text.size();) {
        const auto rest = text.substr(i);
        if (rest.starts_with("//") || (line_is_blank && (rest.starts_with(".loc") || rest.starts_with(".file")))) {
            i = std::min(text.find('\n', i), text.size());
        } else if (rest.starts_with("/*")) {
            const auto end = text.find("*/", i + 2);
            i = end == std::string_view::npos ? text.size() : end + 2;
            out += ' ';
        } else {
            const char c = text[i++];
            line_is_blank = c == '\n' || (line_is_blank && (c == ' ' || c == '\t' || c == '\r'));
            out += c;
        }
    }
    return out;
}

bool is_name_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}

/// Name behind ".entry" or behind ".func" and its return parameters in parentheses.
std::string function_name(std::string_view head) {
    head = head.substr(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
    if (head.starts_with("(")) {
        head = head.substr(std::min(head.find(')'), head.size() - 1) + 1);
        head = head.substr(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
    }
    std::size_t end = 0;
    while (end < head.size() && is_name_character(head[end])) ++end;
    return std::string(head.substr(0, end));
}

struct Body {
    Function function;
    std::map<std::string, std::uint64_t, std::less<>> labels;
    std::map<std::string, std::vector<std::string>, std::less<>> tables;  ///< of .branchtargets
    std::string table;                                                    ///< label directly in front of this statement
};

void add_label(Body& body, const std::string& name) {
    body.table = name;
    body.labels.emplace(name, body.function.instructions.size());
}

bool is_name(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_name_character);
}

void add_statement(Body& body, std::string statement) {
    statement = trim(statement);
    if (statement.empty()) return;
    if (statement.front() == '.') {
        if (statement.starts_with(".branchtargets"))
            for (const auto& name : split(statement.substr(14), ',')) body.tables[body.table].push_back(trim(name));
        return;
    }
    for (char& c : statement)
        if (c == '\n' || c == '\r' || c == '\t') c = ' ';
    Instruction i;
    i.address = body.function.instructions.size();
    i.text = statement;
    if (statement.front() == '@') {
        const auto space = std::min(statement.find(' '), statement.size());
        i.guard = statement.substr(0, space);
        statement = trim(std::string_view(statement).substr(space));
    }
    const auto space = std::min(statement.find(' '), statement.size());
    i.mnemonic = statement.substr(0, space);
    i.operands = trim(std::string_view(statement).substr(space));
    body.function.instructions.push_back(std::move(i));
}

void set_flow(Body& body) {
    for (auto& i : body.function.instructions) {
        const auto root = i.mnemonic.substr(0, i.mnemonic.find('.'));
        if (root == "ret" || root == "exit" || root == "trap") {
            i.flow = i.guard.empty() ? Flow::stop : Flow::next;
        } else if (root == "bra" || root == "brx") {
            i.flow = i.guard.empty() ? Flow::jump : Flow::branch;
            std::vector<std::string> names{i.operands};
            if (root == "brx") {
                const auto comma = i.operands.rfind(',');
                const auto table =
                    body.tables.find(comma == std::string::npos ? std::string{} : trim(i.operands.substr(comma + 1)));
                names = table == body.tables.end() ? std::vector<std::string>{} : table->second;
            }
            for (const auto& name : names)
                if (const auto label = body.labels.find(name); label != body.labels.end())
                    i.targets.push_back(label->second);
        }
    }
}

}  // namespace

std::vector<Function> parse_ptx(std::string_view raw) {
    std::vector<Function> functions;
    const std::string text = statements_only(raw);
    std::size_t at = 0;
    while (at < text.size()) {
        const auto entry = text.find(".entry", at), func = text.find(".func", at);
        const auto head = std::min(entry, func);
        if (head == std::string::npos) break;
        const auto name_at = head + (head == entry ? 6 : 5);
        const auto open = text.find('{', name_at), semicolon = text.find(';', name_at);
        at = name_at;
        if (open == std::string::npos) break;
        if (semicolon < open) continue;  // a declaration

        Body body;
        body.function.name = function_name(std::string_view(text).substr(name_at));
        std::string statement;
        int depth = 1;
        for (at = open + 1; at < text.size() && depth > 0; ++at) {
            const char c = text[at];
            // Braces make scopes, except in an operand list: "ld.v4 {%r1, %r2}, [%rd1];" has a statement before them.
            if (c == '{' && trim(statement).empty())
                ++depth;
            else if (c == '}' && trim(statement).empty())
                --depth;
            else if (c == ';')
                add_statement(body, std::move(statement)), statement.clear();
            else if (c == ':' && is_name(trim(statement)))  // else part of an operation: "shared::cta"
                add_label(body, trim(statement)), statement.clear();
            else
                statement += c;
        }
        set_flow(body);
        functions.push_back(std::move(body.function));
    }
    return functions;
}

}  // namespace cllab::inspect

#include "kernelfile/expression.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

namespace cllab::kernelfile {

struct Node {
    enum class Kind {
        number,
        name,
        negate,
        add,
        subtract,
        multiply,
        divide,
        remainder,
        shift_left,
        shift_right,
        minimum,
        maximum,
        ceiling,
        equal,  // this and all below give 1 or 0, as in C
        unequal,
        at_most,
        at_least,
        less,
        more,
        both,
        either
    };
    Kind kind;
    std::int64_t number = 0;
    std::optional<double> fraction{};  ///< of a number that is not whole
    std::string name{};
    Place place{};
    std::vector<std::shared_ptr<const Node>> parts{};
};

namespace {

using NodeKind = Node::Kind;
using Made = std::shared_ptr<const Node>;

class Parser {
public:
    /// `condition`: comparisons are allowed.
    Parser(std::string_view text, const Place& place, bool condition)
        : text_(text), place_(place), condition_(condition) {}

    Made everything() {
        auto out = whole();
        if (skip() < text_.size())
            refuse_here(concat("an operator or the end", text_[at_] == '=' ? " (== compares)" : ""));
        return out;
    }
    bool is_whole() const { return whole_; }

private:
    std::size_t skip() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
        return at_;
    }
    [[noreturn]] void refuse_here(const std::string& wanted) {
        const auto at = skip();
        const auto found = at < text_.size() ? cllab::quoted(text_.substr(at)) : std::string("the end");
        refuse(place_.at(at), "expected ", wanted, " in the expression ", cllab::quoted(trim(text_)), ", found ",
               found);
    }
    bool take(std::string_view word) {
        if (!text_.substr(skip()).starts_with(word)) return false;
        at_ += word.size();
        return true;
    }
    Made make(NodeKind kind, std::size_t at, std::vector<Made> parts) {
        return std::make_shared<const Node>(Node{kind, 0, {}, {}, place_.at(at), std::move(parts)});
    }

    using Operators = std::initializer_list<std::pair<std::string_view, NodeKind>>;
    /// Parses operands with operators of one precedence between them, left-associative. Allows `most` operators.
    Made chain(Made (Parser::*operand)(), Operators operators, unsigned most = most_links) {
        auto left = (this->*operand)();
        for (unsigned n = 0;; ++n) {
            const auto at = skip();
            const auto found = std::ranges::find_if(operators, [&](const auto& one) { return take(one.first); });
            if (found == operators.end()) return left;
            if (n == most) refuse(place_.at(at), "comparisons cannot be chained; join two with &&");
            left = make(found->second, at, {left, (this->*operand)()});
            if (++links_ > most_links) refuse(place_.at(at), "the expression has more than ", most_links, " operators");
        }
    }
    Made whole() { return condition_ ? either() : shifted(); }
    Made either() { return chain(&Parser::both, {{"||", NodeKind::either}}); }
    Made both() { return chain(&Parser::compared, {{"&&", NodeKind::both}}); }
    Made compared() {
        return chain(&Parser::shifted,
                     {{"==", NodeKind::equal},
                      {"!=", NodeKind::unequal},
                      {"<=", NodeKind::at_most},
                      {">=", NodeKind::at_least},
                      {"<", NodeKind::less},
                      {">", NodeKind::more}},
                     1);
    }
    /// As in C, shifts bind less than sums: 1 << n + 1 is 1 << (n + 1).
    Made shifted() { return chain(&Parser::sum, {{"<<", NodeKind::shift_left}, {">>", NodeKind::shift_right}}); }
    void deeper(std::size_t at) {
        if (++depth_ > deepest) refuse(place_.at(at), "the expression is nested deeper than ", deepest, " levels");
    }
    Made sum() {
        deeper(at_);
        auto out = chain(&Parser::product, {{"+", NodeKind::add}, {"-", NodeKind::subtract}});
        --depth_;
        return out;
    }
    Made product() {
        return chain(&Parser::factor, {{"*", NodeKind::multiply}, {"/", NodeKind::divide}, {"%", NodeKind::remainder}});
    }
    Made factor() {
        const auto at = skip();
        if (take("-")) {
            deeper(at);
            auto out = make(NodeKind::negate, at, {factor()});
            --depth_;
            return out;
        }
        if (take("(")) {
            auto out = whole();
            if (!take(")")) refuse_here("')'");
            return out;
        }
        const bool number =
            at < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at])) || text_[at] == '.');
        if (number) return literal(at);
        if (at >= text_.size() || !in_name(text_[at])) refuse_here("a number, a name or '('");
        while (at_ < text_.size() && in_name(text_[at_])) ++at_;
        const std::string word(text_.substr(at, at_ - at));
        if (take("(")) return call(word, at);
        if (lower(word) == "nan" || lower(word) == "inf") refuse(place_.at(at), cllab::quoted(word), " is not finite");
        return std::make_shared<const Node>(Node{NodeKind::name, 0, {}, word, place_.at(at)});
    }
    Made literal(std::size_t at) {
        const auto is_of_number = [&](char c) {
            if (in_name(c) || c == '.') return true;
            // The sign of an exponent: 1e-3, but not 0x1e-3.
            const auto so_far = text_.substr(at, at_ - at);
            return (c == '+' || c == '-') && lower(so_far).ends_with('e') &&
                   parse_real(so_far.substr(0, so_far.size() - 1)).has_value();
        };
        while (at_ < text_.size() && is_of_number(text_[at_])) ++at_;
        auto word = text_.substr(at, at_ - at);
        if (const auto value = parse_integer(word))
            return std::make_shared<const Node>(Node{NodeKind::number, *value, {}, {}, place_.at(at)});
        if (word.ends_with('f') && word.find('.') != std::string::npos) word.remove_suffix(1);  // 0.5f
        const auto real = parse_real(word);
        if (!real) refuse(place_.at(at), cllab::quoted(word), " is not a number; write 4096, 4Ki, 1M or 0.5");
        whole_ = false;
        return std::make_shared<const Node>(Node{NodeKind::number, 0, real, std::string(word), place_.at(at)});
    }
    Made call(const std::string& function, std::size_t at) {
        std::vector<Made> parts;
        do parts.push_back(shifted());
        while (take(","));
        if (!take(")")) refuse_here("',' or ')'");
        if (function == "ceil") {
            if (parts.size() != 1 || parts.front()->kind != NodeKind::divide)
                refuse(place_.at(at), "ceil takes one quotient, as in ceil(n / 16); elsewhere division rounds down");
            return make(NodeKind::ceiling, at, parts.front()->parts);
        }
        if (function == "len") {
            if (parts.size() != 1 || parts.front()->kind != NodeKind::name)
                refuse(place_.at(at), "len takes one argument's name, as in len(x) - 1");
            return std::make_shared<const Node>(
                Node{NodeKind::name, 0, {}, "len(" + parts[0]->name + ")", place_.at(at)});
        }
        if (function != "min" && function != "max")
            refuse(place_.at(at), "unknown function ", cllab::quoted(function), "; expected min, max, ceil or len");
        if (parts.size() < 2) refuse(place_.at(at), function, " takes at least two values");
        return make(function == "min" ? NodeKind::minimum : NodeKind::maximum, at, std::move(parts));
    }

    static constexpr unsigned deepest = 64, most_links = 1000;
    std::string_view text_;
    Place place_;
    bool condition_;
    std::size_t at_ = 0;
    unsigned depth_ = 0, links_ = 0;
    bool whole_ = true;
};

std::int64_t divide(std::int64_t a, std::int64_t b, NodeKind kind, const Place& place) {
    if (b == 0) refuse(place, "division by zero");
    if (a == INT64_MIN && b == -1) refuse(place, "the value does not fit in 63 bits");
    // Division rounds down and `ceil` rounds up, also for negative values; a = b * (a / b) + a % b.
    const auto quotient = a / b;
    const bool exact = a % b == 0, positive = (a < 0) == (b < 0);
    if (kind == NodeKind::remainder) return a % b + (exact || positive ? 0 : b);
    if (kind == NodeKind::ceiling) return quotient + (!exact && positive);
    return quotient - (!exact && !positive);
}

/// The places of a shift. Throws Error(usage) unless they are 0 to 62. A right shift rounds down, as division does.
std::int64_t places_of(std::int64_t places, const Place& place) {
    if (places < 0 || places > 62) refuse(place, "this shifts by ", places, " places; expected 0 to 62");
    return places;
}

std::int64_t combined(const Node& node, const std::vector<std::int64_t>& v) {
    std::int64_t out = 0;
    bool fits = true;
    switch (node.kind) {
        case NodeKind::negate:
            fits = !__builtin_sub_overflow(std::int64_t{0}, v[0], &out);
            break;
        case NodeKind::add:
            fits = !__builtin_add_overflow(v[0], v[1], &out);
            break;
        case NodeKind::subtract:
            fits = !__builtin_sub_overflow(v[0], v[1], &out);
            break;
        case NodeKind::multiply:
            fits = !__builtin_mul_overflow(v[0], v[1], &out);
            break;
        case NodeKind::shift_left:
            fits = !__builtin_mul_overflow(v[0], std::int64_t{1} << places_of(v[1], node.place), &out);
            break;
        case NodeKind::shift_right:
            return v[0] >> places_of(v[1], node.place);
        default:
            return divide(v[0], v[1], node.kind, node.place);
    }
    if (!fits) refuse(node.place, "the value does not fit in 63 bits");
    return out;
}

double quotient(double a, double b, NodeKind kind, const Place& place) {
    if (b == 0) refuse(place, "division by zero");
    return kind == NodeKind::remainder ? std::fmod(a, b) : kind == NodeKind::ceiling ? std::ceil(a / b) : a / b;
}

double combined(const Node& node, const std::vector<double>& v) {
    if (node.kind == NodeKind::shift_left || node.kind == NodeKind::shift_right)
        refuse(node.place, "this expression is evaluated in floating point, and shifts need integers");
    const double out = node.kind == NodeKind::negate     ? -v[0]
                       : node.kind == NodeKind::add      ? v[0] + v[1]
                       : node.kind == NodeKind::subtract ? v[0] - v[1]
                       : node.kind == NodeKind::multiply ? v[0] * v[1]
                                                         : quotient(v[0], v[1], node.kind, node.place);
    if (!std::isfinite(out)) refuse(node.place, "the value is not finite");
    return out;
}

template <typename T>
T number_of(const Node& node) {
    if constexpr (std::is_floating_point_v<T>)
        return node.fraction.value_or(static_cast<T>(node.number));
    else if (!node.fraction)
        return node.number;
    else if (*node.fraction != std::trunc(*node.fraction))
        refuse(node.place, cllab::quoted(node.name), " is not a whole number");
    else if (*node.fraction >= 0x1p63)
        refuse(node.place, cllab::quoted(node.name), " does not fit in 63 bits");
    else
        return static_cast<T>(*node.fraction);
}

template <typename T>
bool is_true(NodeKind kind, T a, T b) {
    return kind == NodeKind::equal      ? a == b
           : kind == NodeKind::unequal  ? a != b
           : kind == NodeKind::at_most  ? a <= b
           : kind == NodeKind::at_least ? a >= b
           : kind == NodeKind::less     ? a < b
           : kind == NodeKind::more     ? a > b
           : kind == NodeKind::both     ? a != 0 && b != 0
                                        : a != 0 || b != 0;
}

template <typename T>
T value_of(const Node& node, const Expression::Lookup<T>& lookup) {
    if (node.kind == NodeKind::number) return number_of<T>(node);
    if (node.kind == NodeKind::name) return lookup(node.name, node.place);
    const auto v = mapped(node.parts, [&](const auto& part) { return value_of(*part, lookup); });
    if (node.kind == NodeKind::minimum) return *std::ranges::min_element(v);
    if (node.kind == NodeKind::maximum) return *std::ranges::max_element(v);
    if (node.kind >= NodeKind::equal) return is_true(node.kind, v[0], v[1]);
    return combined(node, v);
}

void add_names(const Node& node, std::set<std::string>& to) {
    if (node.kind == NodeKind::name) to.insert(node.name);
    for (const auto& part : node.parts) add_names(*part, to);
}

}  // namespace

std::string Place::text() const {
    return line == 0 ? file : file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

Expression Expression::made(std::string_view text, const Place& place, bool condition) {
    Expression out;
    out.text_ = trim(text);
    out.place_ = place;
    Parser parser(text, place, condition);
    out.root_ = parser.everything();
    out.whole_ = parser.is_whole();
    return out;
}

Expression Expression::parse(std::string_view text, const Place& place) { return made(text, place, false); }

Expression Expression::condition(std::string_view text, const Place& place) {
    auto out = made(text, place, true);
    if (out.root_->kind < NodeKind::equal)
        refuse(place, cllab::quoted(out.text_), " is not a comparison; write e.g. 'tile % local == 0'");
    return out;
}

std::set<std::string> Expression::names() const {
    std::set<std::string> out;
    add_names(*root_, out);
    return out;
}

std::int64_t Expression::evaluate(const Lookup<std::int64_t>& lookup) const { return value_of(*root_, lookup); }
double Expression::evaluate_real(const Lookup<double>& lookup) const { return value_of(*root_, lookup); }

std::vector<std::pair<std::string, Place>> split_top(std::string_view text, const Place& place, char separator) {
    std::vector<std::pair<std::string, Place>> out;
    int open = 0;
    std::size_t from = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size()) {
            if (text[i] == '(' || text[i] == '{') ++open;
            if (text[i] == ')' || text[i] == '}') --open;
            if (text[i] != separator || open > 0) continue;
        }
        std::size_t first = from;
        while (first < i && std::isspace(static_cast<unsigned char>(text[first]))) ++first;
        out.emplace_back(trim(text.substr(from, i - from)), place.at(first));
        from = i + 1;
    }
    return out;
}

std::vector<Expression> parse_list(std::string_view text, const Place& place) {
    return mapped(split_top(text, place, ','), [](const auto& p) { return Expression::parse(p.first, p.second); });
}

}  // namespace cllab::kernelfile

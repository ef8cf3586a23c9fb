// Whole-number expressions over axes and scalar arguments: + - * / % ( ) min max ceil.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cllab::kernelfile {

/// Where a text stands: a file with line and column, or an option of the command line.
struct Place {
    std::string file;
    std::size_t line = 0, column = 0;  ///< line 0: the command line

    std::string text() const;  ///< "conv.cl:3:11", "--arg"
    Place at(std::size_t offset) const { return line == 0 ? *this : Place{file, line, column + offset}; }
};

/// Throws Error(usage) "conv.cl:3:11: SENTENCE".
[[noreturn]] void refuse(const Place& place, const std::string& sentence);

struct Node;

class Expression {
public:
    /// Throws Error(usage) with the place of what does not fit.
    static Expression parse(std::string_view text, const Place& place);
    /// `lookup` gives the value of a name, and throws for one that has none. Throws Error(usage) for a division by zero
    /// and for what does not fit 63 bits.
    std::int64_t evaluate(const std::function<std::int64_t(const std::string& name, const Place& place)>& lookup) const;
    const std::string& text() const { return text_; }
    const Place& place() const { return place_; }

private:
    std::string text_;
    Place place_;
    std::shared_ptr<const Node> root_;
};

/// Part of a value: a real number as written, or an expression.
using Number = std::variant<double, Expression>;
/// A real number where the text is one and no whole number, else an expression.
Number parse_number(std::string_view text, const Place& place);

/// "a, b, min(c, d)" at its top-level commas, each with where it begins.
std::vector<std::pair<std::string, Place>> split_top(std::string_view text, const Place& place, char separator);
std::vector<Expression> parse_list(std::string_view text, const Place& place);

}  // namespace cllab::kernelfile

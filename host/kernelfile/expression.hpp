// Expressions over axes and scalar arguments: + - * / % << >> ( ) min max ceil, and len of an argument with data, in
// whole numbers or in floating point. Conditions compare them: == != <= >= < > && ||.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace cllab::kernelfile {

/// The place of a text: a file with line and column, or an option of the command line.
struct Place {
    std::string file;
    std::size_t line = 0, column = 0;  ///< line 0: the command line

    std::string text() const;  ///< "conv.cl:3:11", "--arg"
    Place at(std::size_t offset) const { return line == 0 ? *this : Place{file, line, column + offset}; }
};

/// Throws Error(usage) with the message "conv.cl:3:11: SENTENCE". The sentence is made of parts, as by concat().
template <typename... Part>
[[noreturn]] void refuse(const Place& place, const Part&... sentence) {
    throw Error(Blame::usage, place.text(), ": ", sentence...);
}

struct Node;

class Expression {
public:
    /// Throws Error(usage) with the place of the first error.
    static Expression parse(std::string_view text, const Place& place);
    /// A comparison, whose value is 1 or 0. Throws as parse(), and if the text compares nothing.
    static Expression condition(std::string_view text, const Place& place);
    template <typename T>
    using Lookup = std::function<T(const std::string& name, const Place& place)>;
    /// The value in whole numbers. Division rounds down. `lookup` returns the value of a name or of "len(x)" and throws
    /// for an unknown one. Throws Error(usage) for division by zero, values that do not fit 63 bits, and fractions.
    std::int64_t evaluate(const Lookup<std::int64_t>& lookup) const;
    /// The value in floating point. Throws Error(usage) for division by zero, shifts, and values that are not finite.
    double evaluate_real(const Lookup<double>& lookup) const;
    bool is_whole() const { return whole_; }  ///< no number such as 0.5 is written in it
    const std::string& text() const { return text_; }
    const Place& place() const { return place_; }
    std::set<std::string> names() const;  ///< of axes and arguments

private:
    static Expression made(std::string_view text, const Place& place, bool condition);

    std::string text_;
    Place place_;
    bool whole_ = true;
    std::shared_ptr<const Node> root_;
};

/// The parts of "a, b, min(c, d)" between separators outside of brackets, each with its place.
std::vector<std::pair<std::string, Place>> split_top(std::string_view text, const Place& place, char separator);
std::vector<Expression> parse_list(std::string_view text, const Place& place);

}  // namespace cllab::kernelfile

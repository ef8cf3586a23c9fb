// The values of the names in expressions at a point: axes and scalar arguments.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "kernelfile/description.hpp"
#include "model/axes.hpp"

namespace cllab::kernelfile {

/// Evaluates each name once. Throws Error(usage) for a name without a value, and for a fraction where a whole number is
/// needed.
class Names {
public:
    /// `real`: arguments of a floating-point type. All three must outlive this object.
    Names(const model::Point& point, const std::map<std::string, ArgumentSpec>& given,
          const std::set<std::string>& real)
        : point_(point), given_(given), real_(real) {}

    std::int64_t whole(const Expression& expression);
    double real(const Expression& expression);

private:
    struct NamedValue {
        std::int64_t whole = 0;
        std::optional<double> real{};
    };

    const NamedValue& find(const std::string& name, const Place& place);
    NamedValue of_axis(const std::string& name, const Place& place) const;
    NamedValue of_length(const std::string& name, const Place& place);
    NamedValue of_argument(const std::string& name, const Place& place);

    const model::Point& point_;
    const std::map<std::string, ArgumentSpec>& given_;
    const std::set<std::string>& real_;
    std::map<std::string, NamedValue> known_;
    std::set<std::string> open_;  ///< being evaluated
};

}  // namespace cllab::kernelfile

#include "kernelfile/names.hpp"

#include <cmath>

#include "core/text.hpp"
#include "core/units.hpp"

namespace cllab::kernelfile {

std::int64_t Names::whole(const Expression& expression) {
    return expression.evaluate([&](const std::string& name, const Place& place) -> std::int64_t {
        const auto& known = find(name, place);
        if (!known.real) return known.whole;
        if (std::trunc(*known.real) != *known.real || std::fabs(*known.real) >= 0x1p63)
            refuse(place, "'", name, "' is ", format_exact(*known.real),
                   ", but this expression needs a whole number of at most 63 bits");
        return static_cast<std::int64_t>(*known.real);
    });
}

double Names::real(const Expression& expression) {
    return expression.evaluate_real([&](const std::string& name, const Place& place) {
        const auto& known = find(name, place);
        return known.real.value_or(static_cast<double>(known.whole));
    });
}

const Names::NamedValue& Names::find(const std::string& name, const Place& place) {
    if (const auto known = known_.find(name); known != known_.end()) return known->second;
    if (!open_.insert(name).second) refuse(place, "the value of '", name, "' depends on itself");
    const auto out = point_.has(name) ? of_axis(name, place) : of_argument(name, place);
    open_.erase(name);
    return known_.emplace(name, out).first->second;
}

Names::NamedValue Names::of_axis(const std::string& name, const Place& place) const {
    const auto& text = point_.text(name);
    if (const auto whole = parse_integer(text)) return {*whole};
    if (const auto real = parse_real(text)) return {0, *real};
    refuse(place, "axis '", name, "' is '", text, "', but an expression needs a number");
}

Names::NamedValue Names::of_length(const std::string& name, const Place& place) {
    const auto argument = name.substr(4, name.size() - 5);  // of "len(x)"
    const auto found = given_.find(argument);
    if (found == given_.end() || found->second.extent.empty())
        refuse(place, "the length of '", argument, "' is not known; add a line 'arg ", argument, " = rand:1024'");
    NamedValue out{1};
    for (const auto& extent : found->second.extent)
        if (__builtin_mul_overflow(out.whole, whole(extent), &out.whole))
            refuse(place, name, " does not fit in 63 bits");
    return out;
}

Names::NamedValue Names::of_argument(const std::string& name, const Place& place) {
    const auto is_number = [](const ArgumentSpec& spec) {
        return spec.kind == ArgumentSpec::Kind::numbers && spec.numbers.size() == 1;
    };
    if (name.ends_with(')')) return of_length(name, place);
    const auto found = given_.find(name);
    if (found == given_.end() || !is_number(found->second)) {
        std::set<std::string> known;
        for (const auto& [axis, value] : point_.values()) known.insert(axis);
        for (const auto& [argument, spec] : given_)
            if (is_number(spec)) known.insert(argument);
        const auto line = "add a line 'axis " + name + " = 1024'";
        refuse(place, "'", name, "' is not defined; ",
               known.empty() ? line : "known names are " + join({known.begin(), known.end()}, ", ") + ", or " + line);
    }
    const auto& number = found->second.numbers[0];
    if (real_.count(name) || !number.is_whole()) return {0, real(number)};
    return {whole(number)};
}

}  // namespace cllab::kernelfile

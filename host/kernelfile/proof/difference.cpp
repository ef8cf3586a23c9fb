// Where results differ, and by how much, in words: data.hpp.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/text.hpp"
#include "core/units.hpp"
#include "kernelfile/data/data.hpp"

namespace cllab::kernelfile {
namespace {

using model::ElementType;

bool near_enough(const std::byte* found, const std::byte* expected, const ElementType& type, model::Errors& errors) {
    if (std::memcmp(found, expected, type.lane_bytes) == 0) return true;
    const auto bytes = type.lane_bytes;
    if (type.kind == ElementType::Kind::unsigned_integer)
        return errors.tolerates(unsigned_lane(found, bytes), unsigned_lane(expected, bytes));
    if (type.kind == ElementType::Kind::signed_integer)
        return errors.tolerates(signed_lane(found, bytes), signed_lane(expected, bytes));
    const double a = lane_value(found, type), e = lane_value(expected, type);
    return errors.tolerates_floating(a, e, [&] { return ulps_between(found, expected, type); });
}

/// What is said first of the fields of structs, each as an array of its own.
std::optional<std::string> first_field(const std::string& name, std::span<const std::byte> found,
                                       std::span<const std::byte> expected, const ElementType& type,
                                       model::Errors& errors, const std::string& whose, bool all_errors) {
    const auto column = [&](std::span<const std::byte> all, const model::Member& member) {
        const auto width = member.type.bytes;
        model::Bytes out(all.size() / type.bytes * width);
        for (std::size_t i = 0; i * width < out.size(); ++i)
            std::memcpy(out.data() + i * width, all.data() + i * type.bytes + member.begin, width);
        return out;
    };
    // A tolerance is for rounding: whole numbers beside floating-point ones are exact.
    model::Errors exact{model::Tolerance{}};
    for (const auto& member : type.members)
        if (auto wrong = difference(name + "." + member.name, column(found, member), column(expected, member),
                                    member.type, has_floats(type) && !has_floats(member.type) ? exact : errors, whose,
                                    all_errors))
            return wrong;
    return std::nullopt;
}

/// "dst[3]"; of a field 'p.x' it is "p[3].x".
std::string element_text(const std::string& name, std::size_t number) {
    const auto dot = std::min(name.find('.'), name.size());
    return name.substr(0, dot) + "[" + std::to_string(number) + "]" + name.substr(dot);
}

/// Of a 3-vector the fourth lane is padding.
bool is_padding(const ElementType& type, std::size_t lane) { return type.lanes == 3 && lane % 4 == 3; }

/// Differences of this part of the results are as rounding makes them.
constexpr double rounding_part = 1e-3;

/// How far floating-point results are apart.
struct Spread {
    model::Errors errors{model::Tolerance{}};
    double scale = 0;  ///< the median size of what is expected: elements that nobody wrote may hold anything
    bool finite = true;
    bool zero_expected = false;  ///< where they differ: no relative tolerance takes that

    bool is_relative() const { return !zero_expected && errors.relative() < rounding_part; }
    bool is_rounding() const { return finite && (is_relative() || errors.absolute() < rounding_part * scale); }
};

Spread spread_of(std::span<const std::byte> found, std::span<const std::byte> expected, const ElementType& type) {
    Spread out;
    std::vector<double> sizes;
    for (std::size_t lane = 0; (lane + 1) * type.lane_bytes <= found.size(); ++lane) {
        if (is_padding(type, lane)) continue;
        const auto *f = found.data() + lane * type.lane_bytes, *e = expected.data() + lane * type.lane_bytes;
        const double expected_value = lane_value(e, type);
        if (std::isfinite(expected_value)) sizes.push_back(std::fabs(expected_value));
        if (near_enough(f, e, type, out.errors)) continue;
        out.finite = out.finite && std::isfinite(lane_value(f, type)) && std::isfinite(expected_value);
        out.zero_expected = out.zero_expected || expected_value == 0;
    }
    if (!sizes.empty()) {
        const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
        std::ranges::nth_element(sizes, middle);
        out.scale = *middle;
    }
    return out;
}

/// The tolerance that takes them is named where rounding may be the cause: it would hide anything else.
std::string words_of(const Spread& spread) {
    if (!spread.finite) return "no tolerance takes what is not a number on one side only";
    const double relative = spread.errors.relative(), absolute = spread.errors.absolute();
    const auto errors = "the largest errors are " + format_significant(absolute, 2) + " absolute" +
                        (relative > 0 ? " and " + format_significant(relative, 2) + " relative" : "") +
                        (spread.zero_expected ? ", some where 0 is expected" : "");
    if (!spread.is_rounding()) return errors;
    // Rounded up, so that what is proposed does.
    return errors + ", which 'tolerance " + (spread.is_relative() ? "relative=" : "absolute=") +
           format_significant((spread.is_relative() ? relative : absolute) * 1.06, 2) + "' takes";
}

}  // namespace

bool has_floats(const ElementType& type) {
    return type.is_floating() ||
           std::ranges::any_of(type.members, [](const auto& member) { return has_floats(member.type); });
}

std::optional<std::string> difference(const std::string& name, std::span<const std::byte> found,
                                      std::span<const std::byte> expected, const ElementType& type,
                                      model::Errors& errors, const std::string& whose, bool all_errors) {
    if (found.size() != expected.size())
        return name + " has " + std::to_string(found.size()) + " bytes, " + whose + " " +
               std::to_string(expected.size());
    if (std::memcmp(found.data(), expected.data(), found.size()) == 0) return std::nullopt;
    if (type.is_packed())
        return difference(name, single_nibbles(found), single_nibbles(expected), *model::builtin_type("uchar"), errors,
                          whose);
    if (!type.members.empty()) return first_field(name, found, expected, type, errors, whose, all_errors);
    if (type.is_opaque() || type.lane_bytes == 0) {
        const auto i =
            static_cast<std::size_t>(std::mismatch(found.begin(), found.end(), expected.begin()).first - found.begin());
        return "byte " + std::to_string(i) + " of " + name + " is " +
               std::to_string(std::to_integer<unsigned>(found[i])) + ", " + whose + " " +
               std::to_string(std::to_integer<unsigned>(expected[i]));
    }
    for (std::size_t lane = 0; (lane + 1) * type.lane_bytes <= found.size(); ++lane) {
        const auto *a = found.data() + lane * type.lane_bytes, *e = expected.data() + lane * type.lane_bytes;
        if (is_padding(type, lane) || near_enough(a, e, type, errors)) continue;
        const auto width = type.lanes == 3 ? 4 : type.lanes;
        std::string where = element_text(name, lane / width);
        if (width > 1) where += ".s" + std::string(1, "0123456789abcdef"[lane % width]);
        std::string out = where + " is " + lane_text(a, type) + ", " + whose + " " + lane_text(e, type);
        if (!type.is_floating()) return out;
        const auto spread = spread_of(found, expected, type);
        if (spread.is_rounding()) return out + " (" + words_of(spread) + ")";
        return all_errors ? out + "; " + words_of(spread) : out;
    }
    return std::nullopt;
}

}  // namespace cllab::kernelfile

// Differences between results, as sentences: see data.hpp.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/units.hpp"
#include "core/widest.hpp"
#include "kernelfile/data/data.hpp"
#include "kernelfile/data/lane_type.hpp"

namespace cllab::kernelfile {
namespace {

using model::ElementType;

/// Whether all lanes are near enough. If not, `errors` is unchanged. Fast even if every lane differs.
template <typename T>
bool all_near_enough(const std::byte* found, const std::byte* expected, std::size_t count, model::Errors& errors) {
    // Doubles that are not negative have the order of their bits, which vectors can compare.
    using Bits = std::int64_t;
    Bits absolute = 0, relative = 0, ulp = 0, wrong = 0;
    widest([=, allowed = errors.allowed(), to = std::array{&absolute, &relative, &ulp, &wrong}] {
        Bits most_apart = 0, most_part = 0, most_steps = 0, faults = 0;
        for (std::size_t k = 0; k < count; ++k) {
            const auto a = load<T>(found + k * sizeof(T)), e = load<T>(expected + k * sizeof(T));
            const double f = static_cast<double>(a), w = static_cast<double>(e), size = std::abs(w);
            double apart = 0, steps = 0;
            bool equal = false, finite = true;
            if constexpr (std::is_integral_v<T>) {
                apart = model::distance(a, e);
                equal = a == e;
            } else {
                apart = std::abs(f - w), steps = model::ulps_between(a, e);
                equal = (f == w) | ((f != f) & (w != w));
                finite = (std::abs(f) < INFINITY) & (size < INFINITY);
            }
            const double part = apart / (w == 0 ? INFINITY : size);
            const bool near = (apart <= allowed.absolute) | (apart <= allowed.relative * size) |
                              (!std::is_integral_v<T> & (steps <= allowed.ulp));
            const Bits counts = equal ? 0 : -1;
            faults |= (near & finite) ? 0 : counts;
            most_apart = std::max(most_apart, std::bit_cast<Bits>(apart) & counts);
            most_part = std::max(most_part, std::bit_cast<Bits>(part) & counts);
            most_steps = std::max(most_steps, std::bit_cast<Bits>(steps) & counts);
        }
        *to[0] = most_apart, *to[1] = most_part, *to[2] = most_steps, *to[3] = faults;
    });
    if (wrong != 0) return false;
    errors.add(std::bit_cast<double>(absolute), std::bit_cast<double>(relative), std::bit_cast<double>(ulp),
               !std::is_integral_v<T>);
    return true;
}

/// The first difference between arrays of structs. Compares each field as a separate array.
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
    // The tolerance is for rounding. In a struct with floating-point fields, all other fields must be equal.
    model::Errors exact{model::Tolerance{}};
    for (const auto& member : type.members)
        if (auto wrong =
                difference(name + "." + member.name, column(found, member), column(expected, member), member.type,
                           has_floats(type) && !has_floats(member.type) ? exact : errors, whose, all_errors))
            return wrong;
    return std::nullopt;
}

/// "dst[3]" for element 3 of `dst`, "p[3].x" for that of the field `p.x`.
std::string element_text(const std::string& name, std::size_t number) {
    const auto dot = std::min(name.find('.'), name.size());
    return name.substr(0, dot) + "[" + std::to_string(number) + "]" + name.substr(dot);
}

/// Whether a lane is the fourth of a 3-vector, which is padding.
bool is_padding(const ElementType& type, std::size_t lane) { return type.lanes == 3 && lane % 4 == 3; }

/// The first lane that is not near enough, if any. Adds the errors of the lanes up to it to `errors`.
template <typename T>
std::optional<std::size_t> first_wrong_lane(std::span<const std::byte> found, std::span<const std::byte> expected,
                                            const ElementType& type, model::Errors& errors) {
    constexpr std::size_t at_once = 128;  // lanes compared as bytes first: most are equal
    std::map<std::size_t, std::pair<std::optional<std::size_t>, model::Errors>> pieces;
    std::mutex adding;
    in_parallel(found.size() / sizeof(T), parallel_piece, [&](std::size_t begin, std::size_t end) {
        model::Errors own(errors.allowed());
        std::optional<std::size_t> wrong;
        std::array<std::byte, at_once * sizeof(T)> filled;
        for (std::size_t block = begin; block < end && !wrong; block += at_once) {
            const auto count = std::min(at_once, end - block);
            const auto *a = found.data() + block * sizeof(T), *e = expected.data() + block * sizeof(T);
            if (std::memcmp(a, e, count * sizeof(T)) == 0) continue;
            if (type.lanes == 3) {
                std::memcpy(filled.data(), a, count * sizeof(T));
                for (std::size_t k = 3; k < count; k += 4)
                    std::memcpy(&filled[k * sizeof(T)], e + k * sizeof(T), sizeof(T));
                a = filled.data();
                if (std::memcmp(a, e, count * sizeof(T)) == 0) continue;
            }
            if (all_near_enough<T>(a, e, count, own)) continue;
            for (std::size_t k = 0; k < count && !wrong; ++k, a += sizeof(T), e += sizeof(T))
                if (std::memcmp(a, e, sizeof(T)) != 0 && !own.tolerates(load<T>(a), load<T>(e))) wrong = block + k;
        }
        const std::lock_guard lock(adding);
        pieces.emplace(begin, std::pair(wrong, own));
    });
    for (const auto& [begin, piece] : pieces) {
        errors.merge(piece.second);
        if (piece.first) return piece.first;
    }
    return std::nullopt;
}

/// Errors below this share of the results may come from rounding.
constexpr double rounding_part = 1e-3;

/// How far floating-point results are apart.
struct Spread {
    model::Errors errors{model::Tolerance{}};
    double scale = 0;  ///< median of the expected sizes, as unwritten elements may hold anything
    bool finite = true;
    bool zero_expected = false;  ///< where they differ: no relative tolerance allows that

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
        if (std::memcmp(f, e, type.lane_bytes) == 0 ||
            with_lane_type(type, [&]<typename T>(T) { return out.errors.tolerates(load<T>(f), load<T>(e)); }))
            continue;
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

/// The largest errors. Names a tolerance that allows them only if rounding may be the cause: it would hide other
/// errors.
std::string words_of(const Spread& spread) {
    if (!spread.finite) return "no tolerance takes what is not a number on one side only";
    const double relative = spread.errors.relative(), absolute = spread.errors.absolute();
    const auto errors = "the largest errors are " + format_significant(absolute, 2) + " absolute" +
                        (relative > 0 ? " and " + format_significant(relative, 2) + " relative" : "") +
                        (spread.zero_expected ? ", some where 0 is expected" : "");
    if (!spread.is_rounding()) return errors;
    // Rounded up, so that the named tolerance is enough.
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
    if (equal_bytes(found, expected)) return std::nullopt;
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
    const auto lane =
        with_lane_type(type, [&]<typename T>(T) { return first_wrong_lane<T>(found, expected, type, errors); });
    if (!lane) return std::nullopt;
    const auto *a = found.data() + *lane * type.lane_bytes, *e = expected.data() + *lane * type.lane_bytes;
    const auto width = type.lanes == 3 ? 4 : type.lanes;
    std::string where = element_text(name, *lane / width);
    if (width > 1) where += ".s" + std::string(1, "0123456789abcdef"[*lane % width]);
    std::string out = where + " is " + lane_text(a, type) + ", " + whose + " " + lane_text(e, type);
    if (!type.is_floating()) return out;
    const auto spread = spread_of(found, expected, type);
    if (spread.is_rounding()) return out + " (" + words_of(spread) + ")";
    return all_errors ? out + "; " + words_of(spread) : out;
}

std::string count_of_differences(std::span<const std::byte> found, std::span<const std::byte> expected,
                                 const ElementType& type, const model::Tolerance& allowed) {
    if (type.is_packed())
        return count_of_differences(single_nibbles(found), single_nibbles(expected), *model::builtin_type("uchar"),
                                    allowed);
    if (found.size() != expected.size() || type.bytes == 0) return {};
    model::Errors errors(allowed);
    std::size_t count = 0;
    for (std::size_t at = 0; at + type.bytes <= found.size(); at += type.bytes) {
        const auto a = found.subspan(at, type.bytes), e = expected.subspan(at, type.bytes);
        if (std::ranges::equal(a, e)) continue;
        const auto lanes = type.is_opaque() ? 0 : type.bytes / type.lane_bytes;
        bool differs = type.is_opaque();
        for (std::size_t lane = 0; lane < lanes && !differs; ++lane) {
            const auto *x = a.data() + lane * type.lane_bytes, *y = e.data() + lane * type.lane_bytes;
            differs = !is_padding(type, lane) && std::memcmp(x, y, type.lane_bytes) != 0 &&
                      !with_lane_type(type, [&]<typename T>(T) { return errors.tolerates(load<T>(x), load<T>(y)); });
        }
        count += differs;
    }
    return "; " + std::to_string(count) + " of " + std::to_string(found.size() / type.bytes) + " elements differ";
}

std::size_t untouched_bytes(std::span<const std::byte> data, std::uint64_t seed, const ElementType& type) {
    constexpr std::size_t word_bytes = 8;
    const auto words = data.size() / word_bytes;
    const auto holds = [&](std::size_t byte) { return type.bytes == 0 || type.holds(byte % type.bytes); };
    std::atomic<std::size_t> all{0}, held{0};
    in_parallel(words, parallel_piece, [&](std::size_t begin, std::size_t end) {
        std::size_t own = 0, own_held = 0;
        std::array<std::byte, 512 * word_bytes> poison;
        for (auto at = begin * word_bytes; at < end * word_bytes; at += poison.size()) {
            const auto bytes = std::min(poison.size(), end * word_bytes - at);
            model::poison(std::span(poison).first(bytes), seed, at);
            for (std::size_t i = 0; i < bytes; i += word_bytes) {
                if (std::memcmp(poison.data() + i, data.data() + at + i, word_bytes) != 0) continue;
                ++own;
                own_held += holds(at + i) && holds(at + i + word_bytes - 1) ? word_bytes : 0;
            }
        }
        all += own, held += own_held;
    });
    std::size_t tail = words * word_bytes;
    while (tail < data.size() && data[tail] == model::poison_byte(seed, tail)) ++tail;
    return all == words && tail == data.size() ? data.size() : held.load();
}

}  // namespace cllab::kernelfile

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
    // The largest absolute error, relative error and ulps; the fourth is 0 if all lanes are near enough.
    const auto largest = [=]<typename Real>(Real, const model::Tolerance& allowed) {
        // Numbers that are not negative have the order of their bits, which vectors can compare.
        using Bits = std::conditional_t<sizeof(Real) == sizeof(float), std::int32_t, std::int64_t>;
        std::array<Bits, 4> out;
        widest([=, to = &out] {
            Bits most_apart = 0, most_part = 0, most_steps = 0, faults = 0;
            for (std::size_t k = 0; k < count; ++k) {
                const auto a = load<T>(found + k * sizeof(T)), e = load<T>(expected + k * sizeof(T));
                const auto f = static_cast<Real>(a), w = static_cast<Real>(e), size = std::abs(w);
                Real apart = 0, steps = 0;
                bool equal = false, finite = true;
                if constexpr (std::is_integral_v<T>) {
                    apart = static_cast<Real>(model::distance(a, e));
                    equal = a == e;
                } else {
                    apart = std::abs(f - w), steps = model::ulps_between(a, e);
                    equal = (f == w) | ((f != f) & (w != w));
                    finite = (std::abs(f) < INFINITY) & (size < INFINITY);
                }
                const Real part = apart / (w == 0 ? static_cast<Real>(INFINITY) : size);
                const bool near = (apart <= static_cast<Real>(allowed.absolute)) |
                                  (apart <= static_cast<Real>(allowed.relative) * size) |
                                  (!std::is_integral_v<T> & (steps <= static_cast<Real>(allowed.ulp)));
                const Bits counts = equal ? 0 : -1;
                faults |= (near & finite) ? 0 : counts;
                most_apart = std::max(most_apart, std::bit_cast<Bits>(apart) & counts);
                most_part = std::max(most_part, std::bit_cast<Bits>(part) & counts);
                most_steps = std::max(most_steps, std::bit_cast<Bits>(steps) & counts);
            }
            *to = {most_apart, most_part, most_steps, faults};
        });
        const auto real = std::bit_cast<std::array<Real, 4>>(out);
        return std::array<double, 4>{real[0], real[1], real[2], out[3] == 0 ? 0.0 : 1.0};
    };
    const auto& allowed = errors.allowed();
    if constexpr (sizeof(T) == 1) {
        // Floats order the quotients of bytes as doubles do. Most blocks have no larger error than those before.
        const auto [absolute, relative, ulp, wrong] =
            largest(float{}, {std::floor(allowed.absolute), allowed.relative * (1 - 0x1p-20), 0});
        if (wrong == 0 && absolute <= errors.absolute() && relative <= static_cast<float>(errors.relative()))
            return true;
    }
    const auto [absolute, relative, ulp, wrong] = largest(double{}, allowed);
    if (wrong == 0) errors.add(absolute, relative, ulp, !std::is_integral_v<T>);
    return wrong == 0;
}

constexpr std::size_t at_once = 256;  // lanes compared as bytes first: most are equal

/// Two arrays, or one field of two arrays of structs.
struct Compared {
    std::span<const std::byte> found, expected;
    const ElementType& type;   ///< of the elements or of the field; nibbles are read as bytes
    std::size_t begin, every;  ///< of the field; bytes from element to element
    bool packed = false;

    bool is_field() const { return every != type.bytes; }
    std::size_t lanes() const {
        return packed ? 2 * found.size() : is_field() ? found.size() / every * width() : found.size() / type.lane_bytes;
    }
    std::size_t width() const { return type.bytes / type.lane_bytes; }  ///< a 3-vector has 4
    /// Whether a lane is the fourth of a 3-vector, which is padding.
    bool is_padding(std::size_t lane) const { return type.lanes == 3 && lane % 4 == 3; }

    /// At most `at_once` lanes from `first`, a multiple of that. They are copied if they are not one after the other.
    const std::byte* block(std::span<const std::byte> of, std::size_t first, std::size_t count, std::byte* copy) const {
        if (packed) {
            widest([=, from = of.data() + first / 2] {
                for (std::size_t k = 0; k < count / 2; ++k)
                    copy[2 * k] = from[k] & std::byte{15}, copy[2 * k + 1] = from[k] >> 4;
            });
            return copy;
        }
        if (!is_field()) return of.data() + first * type.lane_bytes;
        for (std::size_t i = 0; i < count / width(); ++i)
            std::memcpy(copy + i * type.bytes, of.data() + (first / width() + i) * every + begin, type.bytes);
        return copy;
    }

    /// Calls work(found, expected, first, count) for blocks that differ in more than padding, while it returns true.
    void each_unequal(std::size_t first, std::size_t end, const auto& work) const {
        std::array<std::byte, at_once * sizeof(double)> copy, other;
        for (; first < end; first += at_once) {
            const auto count = std::min(at_once, end - first), bytes = count * type.lane_bytes;
            if (packed && std::memcmp(&found[first / 2], &expected[first / 2], bytes / 2) == 0) continue;
            const auto *a = block(found, first, count, copy.data()), *e = block(expected, first, count, other.data());
            if (std::memcmp(a, e, bytes) == 0) continue;
            if (type.lanes == 3) {
                std::memmove(copy.data(), a, bytes);
                for (auto k = type.lanes; k < count; k += 4)
                    std::memcpy(&copy[k * type.lane_bytes], e + k * type.lane_bytes, type.lane_bytes);
                a = copy.data();
                if (std::memcmp(a, e, bytes) == 0) continue;
            }
            if (!work(a, e, first, count)) return;
        }
    }
};

/// "dst[3]" for element 3 of `dst`, "p[3].x" for that of the field `p.x`.
std::string element_text(const std::string& name, std::size_t number) {
    const auto dot = std::min(name.find('.'), name.size());
    return name.substr(0, dot) + "[" + std::to_string(number) + "]" + name.substr(dot);
}

/// The first lane that is not near enough, if any. Adds the errors of the lanes up to it to `errors`.
template <typename T>
std::optional<std::size_t> first_wrong_lane(const Compared& both, model::Errors& errors) {
    std::map<std::size_t, std::pair<std::optional<std::size_t>, model::Errors>> pieces;
    std::mutex adding;
    in_parallel(both.lanes(), parallel_piece, [&](std::size_t begin, std::size_t end) {
        model::Errors own(errors.allowed());
        std::optional<std::size_t> wrong;
        both.each_unequal(begin, end, [&](const std::byte* a, const std::byte* e, std::size_t first, auto count) {
            if (all_near_enough<T>(a, e, count, own)) return true;
            for (std::size_t k = 0; k < count && !wrong; ++k, a += sizeof(T), e += sizeof(T))
                if (std::memcmp(a, e, sizeof(T)) != 0 && !own.tolerates(load<T>(a), load<T>(e))) wrong = first + k;
            return !wrong;
        });
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
    bool finite = true;
    bool zero_expected = false;  ///< where they differ: no relative tolerance allows that
    bool is_small = false;       ///< the errors are, against the median of the expected sizes: unwritten elements may
                                 ///< hold anything

    bool is_relative() const { return !zero_expected && errors.relative() < rounding_part; }
    bool is_rounding() const { return finite && (is_relative() || is_small); }
};

/// The bits of a floating-point lane without its sign. They have the order of the sizes.
template <typename T>
BitsOf<T> size_bits(const std::byte* lane) {
    return static_cast<BitsOf<T>>(load<BitsOf<T>>(lane) << 1) >> 1;
}

/// Whether `absolute` is small against the upper median of the finite sizes |expected|: against at least half of them.
template <typename T>
bool is_small_error(const Compared& both, double absolute) {
    using Bits = BitsOf<T>;
    const auto infinite = std::bit_cast<Bits>(to_lane<T>(INFINITY));
    Bits least = 0, most = infinite;  // of a size that the error is small against
    while (least < most) {
        const auto middle = static_cast<Bits>(least + (most - least) / 2);
        if (absolute < rounding_part * static_cast<double>(std::bit_cast<T>(middle)))
            most = middle;
        else
            least = static_cast<Bits>(middle + 1);
    }
    std::atomic<std::size_t> sizes{0}, large{0};
    in_parallel(both.lanes(), parallel_piece, [&](std::size_t begin, std::size_t end) {
        std::array<std::byte, at_once * sizeof(T)> copy;
        std::size_t own_sizes = 0, own_large = 0;
        for (; begin < end; begin += at_once) {
            const auto count = static_cast<Bits>(std::min(at_once, end - begin));
            const Bits skip = both.type.lanes == 3 ? 3 : 4;
            widest(
                [=, at = both.block(both.expected, begin, count, copy.data()), all = &own_sizes, above = &own_large] {
                    Bits finite = 0, larger = 0;
                    for (Bits k = 0; k < count; ++k) {
                        const auto size = size_bits<T>(at + k * sizeof(T));
                        const Bits counts = size < infinite && k % 4 != skip;
                        finite = static_cast<Bits>(finite + counts);
                        larger = static_cast<Bits>(larger + (size >= least ? counts : 0));
                    }
                    *all += finite, *above += larger;
                });
        }
        sizes += own_sizes, large += own_large;
    });
    return large > 0 && 2 * large >= sizes;
}

template <typename T>
Spread spread_of(const Compared& both) {
    Spread out;
    std::mutex adding;
    in_parallel(both.lanes(), parallel_piece, [&](std::size_t begin, std::size_t end) {
        model::Errors own({INFINITY, 0, 0});
        bool finite = true, zero = false;
        both.each_unequal(begin, end, [&](const std::byte* a, const std::byte* e, std::size_t, std::size_t count) {
            finite = all_near_enough<T>(a, e, count, own);
            widest([=, to = &zero] {
                BitsOf<T> any = 0;
                for (std::size_t k = 0; k < count; ++k)
                    any |= size_bits<T>(e + k * sizeof(T)) == 0 ? size_bits<T>(a + k * sizeof(T)) : BitsOf<T>{0};
                *to |= any != 0;
            });
            return finite;
        });
        const std::lock_guard lock(adding);
        out.errors.merge(own);
        out.finite = out.finite && finite, out.zero_expected = out.zero_expected || zero;
    });
    out.is_small = out.finite && !out.is_relative() && is_small_error<T>(both, out.errors.absolute());
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

/// The first lanes that differ by more than `errors` allows, in words.
std::optional<std::string> lanes_difference(const std::string& name, const Compared& both, model::Errors& errors,
                                            const std::string& whose, bool all_errors) {
    const auto& type = both.type;
    const auto lane = with_lane_type(type, [&]<typename T>(T) { return first_wrong_lane<T>(both, errors); });
    if (!lane) return std::nullopt;
    std::array<std::byte, at_once * sizeof(double)> copy;
    const auto text = [&](std::span<const std::byte> of) {
        const auto first = *lane / at_once * at_once, count = std::min(at_once, both.lanes() - first);
        return lane_text(both.block(of, first, count, copy.data()) + (*lane - first) * type.lane_bytes, type);
    };
    const auto width = both.width();
    std::string where = element_text(name, *lane / width);
    if (width > 1) where += ".s" + std::string(1, "0123456789abcdef"[*lane % width]);
    std::string out = where + " is " + text(both.found) + ", " + whose + " " + text(both.expected);
    if (!type.is_floating()) return out;
    const auto spread = with_lane_type(type, [&]<typename T>(T) {
        if constexpr (std::is_integral_v<T>)
            return Spread{};
        else
            return spread_of<T>(both);
    });
    if (spread.is_rounding()) return out + " (" + words_of(spread) + ")";
    return all_errors ? out + "; " + words_of(spread) : out;
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
    const auto bytes = *model::builtin_type("uchar");
    // The tolerance is for rounding. In a struct with floating-point fields, all other fields must be equal.
    model::Errors exact{model::Tolerance{}};
    for (const auto& member : type.members)
        if (auto wrong =
                lanes_difference(name + "." + member.name, {found, expected, member.type, member.begin, type.bytes},
                                 has_floats(type) && !has_floats(member.type) ? exact : errors, whose, all_errors))
            return wrong;
    if (!type.members.empty()) return std::nullopt;
    if (type.is_packed()) return lanes_difference(name, {found, expected, bytes, 0, 1, true}, errors, whose, false);
    if (!type.is_opaque() && type.lane_bytes > 0)
        return lanes_difference(name, {found, expected, type, 0, type.bytes}, errors, whose, all_errors);
    const auto i = *first_wrong_lane<std::uint8_t>({found, expected, bytes, 0, 1}, exact);
    return "byte " + std::to_string(i) + " of " + name + " is " + std::to_string(std::to_integer<unsigned>(found[i])) +
           ", " + whose + " " + std::to_string(std::to_integer<unsigned>(expected[i]));
}

namespace {

/// Whether two elements differ in more than padding and tolerated errors.
bool is_different(const std::byte* found, const std::byte* expected, const ElementType& type, model::Errors& errors) {
    if (std::memcmp(found, expected, type.bytes) == 0) return false;
    const auto lanes = type.is_opaque() ? 0 : type.bytes / type.lane_bytes;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        const auto *x = found + lane * type.lane_bytes, *y = expected + lane * type.lane_bytes;
        const bool is_padding = type.lanes == 3 && lane % 4 == 3;
        if (!is_padding && std::memcmp(x, y, type.lane_bytes) != 0 &&
            !with_lane_type(type, [&]<typename T>(T) { return errors.tolerates(load<T>(x), load<T>(y)); }))
            return true;
    }
    return type.is_opaque();
}

}  // namespace

std::string count_of_differences(std::span<const std::byte> found, std::span<const std::byte> expected,
                                 const ElementType& type, const model::Tolerance& allowed) {
    if (found.size() != expected.size() || (type.bytes == 0 && !type.is_packed())) return {};
    const auto elements = type.is_packed() ? 2 * found.size() : found.size() / type.bytes;
    const auto bytes = *model::builtin_type("uchar");
    std::atomic<std::size_t> count{0};
    in_parallel(elements, parallel_piece, [&](std::size_t begin, std::size_t end) {
        model::Errors errors(allowed);
        std::size_t own = 0;
        if (type.is_packed())
            Compared{found, expected, bytes, 0, 1, true}.each_unequal(begin, end, [&](auto* a, auto* e, auto, auto n) {
                for (std::size_t k = 0; k < n; ++k) own += is_different(a + k, e + k, bytes, errors);
                return true;
            });
        else
            for (auto i = begin; i < end; ++i)
                own += is_different(&found[i * type.bytes], &expected[i * type.bytes], type, errors);
        count += own;
    });
    return "; " + std::to_string(count) + " of " + std::to_string(elements) + " elements differ";
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

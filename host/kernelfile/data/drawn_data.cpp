#include "kernelfile/data/drawn_data.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

#include "core/random.hpp"
#include "kernelfile/data/data.hpp"

namespace cllab::kernelfile {
namespace {

using model::ElementType;

/// In [0, 1).
double fraction(Random& random) { return static_cast<double>(random() >> 40) * 0x1p-24; }

double uniform(Random& random, const Drawn& of) { return of.low + (of.high - of.low) * fraction(random); }

/// Box and Muller's.
double normal(Random& random, const Drawn& of) {
    const double radius = std::sqrt(-2 * std::log1p(-fraction(random)));
    return of.low + of.high * radius * std::cos(2 * std::numbers::pi * fraction(random));
}

/// How far above `least` an integer lies.
std::uint64_t above(Random& random, const Drawn& of) {
    const auto values = static_cast<std::uint64_t>(of.most) - static_cast<std::uint64_t>(of.least) + 1;
    return values == 0 ? random() : random.below(values);  // 0: all that there are
}

std::int64_t whole(std::uint64_t above, const Drawn& of) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(of.least) + above);
}

/// The lanes of a buffer, one after the other.
class Lanes {
public:
    Lanes(model::Bytes& out, const ElementType& lane) : out_(out), lane_(lane) {}
    std::size_t size() const { return out_.size() / lane_.lane_bytes; }
    std::size_t element_of(std::size_t i) const { return i * lane_.lane_bytes / lane_.bytes; }
    bool are_floating() const { return lane_.is_floating(); }
    bool are_signed() const { return lane_.kind != ElementType::Kind::unsigned_integer; }
    void put(std::size_t i, double value) { put_real(at(i), lane_, value); }
    void put_whole(std::size_t i, std::int64_t value) { put_integer(at(i), lane_, value); }
    /// Each lane what `real` or `whole` gives for its type.
    void put_each(const auto& real, const auto& whole) {
        for (std::size_t i = 0; i < size(); ++i) are_floating() ? put(i, real()) : put_whole(i, whole());
    }

private:
    std::byte* at(std::size_t i) { return out_.data() + i * lane_.lane_bytes; }
    model::Bytes& out_;
    const ElementType& lane_;
};

void put_sorted(Lanes& lanes, Random& random, const Drawn& of) {
    if (lanes.are_floating()) {
        std::vector<double> values(lanes.size());
        for (auto& value : values) value = uniform(random, of);
        std::ranges::sort(values);
        for (std::size_t i = 0; i < values.size(); ++i) lanes.put(i, values[i]);
        return;
    }
    std::vector<std::uint64_t> values(lanes.size());
    for (auto& value : values) value = above(random, of);
    std::ranges::sort(values);
    if (of.draw == Draw::offsets) {
        values.front() = 0;
        if (values.size() > 1) values.back() = static_cast<std::uint64_t>(of.most);
    }
    for (std::size_t i = 0; i < values.size(); ++i) lanes.put_whole(i, whole(values[i], of));
}

/// All lanes of an element have its number.
void put_permutation(Lanes& lanes, const std::vector<std::uint32_t>& order) {
    for (std::size_t i = 0; i < lanes.size(); ++i) lanes.put_whole(i, order[lanes.element_of(i)]);
}

void put_powers(Lanes& lanes, Random& random) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const auto bits = random.below(8);
        const std::int64_t value = std::int64_t{1} << (bits >> 1);
        lanes.put_whole(i, lanes.are_signed() && (bits & 1) ? -value : value);
    }
}

void put_one_hot(Lanes& lanes, Random& random, const Drawn& of) {
    const auto width = static_cast<std::size_t>(of.most);
    for (std::size_t row = 0; row < lanes.size(); row += width) lanes.put_whole(row + random.below(width), 1);
}

void put_text(Lanes& lanes, Random& random) {
    // About as often as in English.
    static constexpr std::string_view letters = "eeeeeeetttttaaaaoooiiinnnsssrrrhhhddllluuccmmfwygpbvk";
    std::uint64_t left = 0;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const bool between = i > 0 && left == 0;
        if (left == 0) left = 2 + random.below(9);
        --left;
        lanes.put_whole(i, between ? (random.below(12) == 0 ? '\n' : ' ') : letters[random.below(letters.size())]);
    }
}

/// Whether each of 0 to `last` is a number of the type, and of 32 bits.
bool counts_to(const ElementType& type, std::size_t last) {
    const std::size_t exact = type.kind == ElementType::Kind::bfloat16 ? 1 << 8
                              : type.lane_bytes == 2                   ? 1 << 11
                              : type.lane_bytes == 4                   ? 1 << 24
                                                                       : UINT32_MAX;
    return type.is_floating() ? last <= exact : last <= UINT32_MAX && fits(type, static_cast<std::int64_t>(last));
}

}  // namespace

std::string undrawable(const ElementType& type, std::size_t count, const Drawn& drawn) {
    if (drawn.draw == Draw::uniform || drawn.draw == Draw::zero) return {};
    if (type.is_opaque()) return "are not numbers";
    const bool floating = type.is_floating();
    switch (drawn.draw) {
        case Draw::normal:
            return floating ? "" : "are no floating-point numbers";
        case Draw::permutation:
            return counts_to(type, count - 1) ? "" : "cannot count to " + std::to_string(count - 1);
        case Draw::offsets:
            if (floating || type.lanes > 1) return "are no integers";
            return fits(type, drawn.most) ? "" : "cannot count to " + std::to_string(drawn.most);
        case Draw::one_hot:
            if (type.lanes > 1) return "are vectors";
            return count % static_cast<std::size_t>(drawn.most) == 0
                       ? ""
                       : "are " + std::to_string(count) + ", no whole number of rows of " + std::to_string(drawn.most);
        case Draw::text:
            return type.is_integer() && type.lane_bytes == 1 ? "" : "are no bytes";
        default:
            return {};
    }
}

model::SharedBytes drawn_data(const ElementType& type, std::size_t count, std::uint64_t seed, const Drawn& drawn) {
    if (type.is_packed()) {
        const auto single = drawn_data(*model::builtin_type("uchar"), count, seed, drawn);
        return {type.bytes_of(count), [single] { return packed_nibbles(*single); }};
    }
    const auto lane = type.is_opaque() ? *model::builtin_type("float") : type;
    const auto size = count * type.bytes;
    return {size, [=] {
                model::Bytes out(size);
                Random random(mix64(seed));
                Lanes lanes(out, lane);
                switch (drawn.draw) {
                    case Draw::zero:
                        break;
                    case Draw::counting:
                        for (std::size_t i = 0; i < lanes.size(); ++i)
                            lanes.put_whole(i, static_cast<std::int64_t>(lanes.element_of(i)));
                        break;
                    case Draw::constant:
                        lanes.put_each([&] { return drawn.low; }, [&] { return drawn.least; });
                        break;
                    case Draw::uniform:
                        lanes.put_each([&] { return uniform(random, drawn); },
                                       [&] { return whole(above(random, drawn), drawn); });
                        break;
                    case Draw::sorted:
                    case Draw::offsets:
                        put_sorted(lanes, random, drawn);
                        break;
                    case Draw::normal:
                        for (std::size_t i = 0; i < lanes.size(); ++i) lanes.put(i, normal(random, drawn));
                        break;
                    case Draw::permutation:
                        put_permutation(lanes, random_order(count, mix64(seed)));
                        break;
                    case Draw::powers:
                        put_powers(lanes, random);
                        break;
                    case Draw::one_hot:
                        put_one_hot(lanes, random, drawn);
                        break;
                    case Draw::text:
                        put_text(lanes, random);
                        break;
                }
                return out;
            }};
}

}  // namespace cllab::kernelfile

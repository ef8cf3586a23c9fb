#include "kernelfile/data/drawn_data.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <mutex>
#include <numbers>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/random.hpp"
#include "core/widest.hpp"
#include "kernelfile/data/data.hpp"
#include "kernelfile/data/lane_type.hpp"

namespace cllab::kernelfile {
namespace {

using model::ElementType;

/// A random number in [0, 1).
double fraction(Random& random) { return static_cast<std::int32_t>(random() >> 40) * 0x1p-24; }

double uniform(Random& random, const Drawn& of) { return of.low + (of.high - of.low) * fraction(random); }

/// A Gaussian random number, by the Box-Muller transform.
double normal(Random& random, const Drawn& of) {
    const double radius = std::sqrt(-2 * std::log1p(-fraction(random)));
    return of.low + of.high * radius * std::cos(2 * std::numbers::pi * fraction(random));
}

/// Two bounds of the value that normal() returns. They need no function calls, so the loop can use vector instructions.
std::pair<double, double> bounds_of_normal(Random& random, const Drawn& of) {
    // log(1 - u) = e log 2 + log m with m from sqrt(1/2) to sqrt(2).
    constexpr std::uint64_t root_half = 0x3FE6A09E667F3BCD, mantissa = (std::uint64_t{1} << 52) - 1;
    const auto above = std::bit_cast<std::uint64_t>((1 - fraction(random)) * 0x1p24) - root_half;
    const auto m = std::bit_cast<double>((above & mantissa) + root_half), s = (m - 1) / (m + 1);
    double artanh = 0, sine = 1;  // divided by the argument
    for (int k = 6; k >= 0; --k) artanh = artanh * (s * s) + 1.0 / (2 * k + 1);
    const auto log = (static_cast<std::int32_t>(above >> 52) - 24) * std::numbers::ln2 + 2 * s * artanh;
    // cos(2 pi v) = sin(pi / 2 (4 |v - 1/2| - 1))
    const auto x = std::numbers::pi / 2 * (4 * std::abs(fraction(random) - 0.5) - 1);
    for (int k = 7; k > 0; --k) sine = 1 - sine * (x * x * (1.0 / (2 * k * (2 * k + 1))));
    const auto size = of.high * std::sqrt(-2 * log), value = of.low + size * x * sine;
    // Both series together leave out 7e-12; normal() and this sum are rounded; numbers near 0 lose their last places.
    const auto error = std::abs(size) * 0x1p-36 + std::abs(value) * 0x1p-51 + 0x1p-1000;
    return {value - error, value + error};
}

/// A random integer within the bounds, as its distance from `least`.
std::uint64_t above(Random& random, const Drawn& of) {
    const auto values = static_cast<std::uint64_t>(of.most) - static_cast<std::uint64_t>(of.least) + 1;
    if (values == 0) return random();  // all 2^64 values are allowed
    if (values > UINT32_MAX) return random.below(values);
    const auto word = random();  // as below(), in 64 bits, which vectors have
    return ((word >> 32) * values + ((word & UINT32_MAX) * values >> 32)) >> 32;
}

std::int64_t whole(std::uint64_t above, const Drawn& of) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(of.least) + above);
}

/// The lanes of a buffer, one after the other.
class Lanes {
public:
    Lanes(model::Bytes& out, const ElementType& lane) : out_(out), lane_(lane) {}
    std::size_t size() const { return out_.size() / lane_.lane_bytes; }
    /// The number of the element of lane i is i >> this; a vector takes the room of a power of two.
    int element_shift() const { return std::countr_zero(lane_.bytes / lane_.lane_bytes); }
    bool are_floating() const { return lane_.is_floating(); }
    bool are_signed() const { return lane_.kind != ElementType::Kind::unsigned_integer; }
    void put(std::size_t i, double value) { put_real(at(i), lane_, value); }
    void put_whole(std::size_t i, std::int64_t value) { put_integer(at(i), lane_, value); }
    /// Sets each lane to `real` or `whole` of its index, by the lane's type. Uses all cores. `numbers`: random numbers
    /// per lane.
    void put_each(const Random& random, unsigned numbers, const auto& real, const auto& whole) {
        in_blocks(random, numbers,
                  [&]<typename T>(T* lanes, const Random& first, std::size_t begin, std::size_t count) {
                      widest([=] {
                          auto own = first;
                          for (std::size_t k = 0; k < count; ++k)
                              if constexpr (std::is_integral_v<T>)
                                  lanes[k] = static_cast<T>(whole(own, begin + k));
                              else
                                  lanes[k] = to_lane<T>(real(own, begin + k));
                      });
                  });
    }
    void put_each_whole(const Random& random, unsigned numbers, const auto& whole) {
        put_each(
            random, numbers, [=](Random& own, std::size_t i) { return static_cast<double>(whole(own, i)); }, whole);
    }
    void put_normal(const Random& random, const Drawn& drawn) {
        // No rounding hides what the last places of a double are.
        const auto exact = [drawn](Random& own, std::size_t) { return normal(own, drawn); };
        if (lane_.lane_bytes == sizeof(double)) return put_each(random, 2, exact, exact);
        in_blocks(random, 2, [&]<typename T>(T* lanes, const Random& first, std::size_t, std::size_t count) {
            if constexpr (std::is_integral_v<T> || std::is_same_v<T, double>) return;
            std::array<double, at_once> least, most;
            std::array<T, at_once> other;
            widest([=, of = drawn, least = least.data(), most = most.data(), other = other.data()] {
                auto own = first;
                for (std::size_t k = 0; k < count; ++k) std::tie(least[k], most[k]) = bounds_of_normal(own, of);
                for (std::size_t k = 0; k < count; ++k) lanes[k] = to_lane<T>(least[k]);
                for (std::size_t k = 0; k < count; ++k) other[k] = to_lane<T>(most[k]);
            });
            for (std::size_t k = 0; k < count; ++k) {
                if (std::memcmp(&lanes[k], &other[k], sizeof(T)) == 0 && least[k] <= most[k]) continue;
                auto own = first;
                own.skip(2 * k);
                lanes[k] = to_lane<T>(normal(own, drawn));
            }
        });
    }

private:
    static constexpr std::size_t at_once = 1024;  // lanes

    /// Calls work(lanes, random, number of the first, count) for blocks of lanes, on all cores.
    void in_blocks(const Random& random, unsigned numbers, const auto& work) {
        with_lane_type(lane_, [&]<typename T>(T) {
            in_parallel(size(), parallel_piece, [&](std::size_t begin, std::size_t end) {
                auto own = random;
                own.skip(numbers * begin);
                for (auto at = begin; at < end; at += at_once, own.skip(numbers * at_once))
                    work(reinterpret_cast<T*>(out_.data()) + at, own, at, std::min(at_once, end - at));
            });
        });
    }
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

std::int32_t power(Random& random, bool is_signed) {
    const auto bits = static_cast<std::int32_t>(random() >> 61), value = 1 << (bits >> 1);  // as below(8)
    return is_signed && (bits & 1) ? -value : value;
}

void put_one_hot(Lanes& lanes, Random& random, const Drawn& of) {
    const auto width = static_cast<std::size_t>(of.most);
    for (std::size_t row = 0; row < lanes.size(); row += width) lanes.put_whole(row + random.below(width), 1);
}

void put_text(Lanes& lanes, Random& random) {
    // Letters are about as frequent as in English.
    static constexpr std::string_view letters = "eeeeeeetttttaaaaoooiiinnnsssrrrhhhddllluuccmmfwygpbvk";
    std::uint64_t left = 0;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const bool between = i > 0 && left == 0;
        if (left == 0) left = 2 + random.below(9);
        --left;
        lanes.put_whole(i, between ? (random.below(12) == 0 ? '\n' : ' ') : letters[random.below(letters.size())]);
    }
}

/// Whether the type, and 32 bits, can hold each of 0 to `last`.
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
            return floating ? "" : "are not floating-point numbers";
        case Draw::permutation:
            return counts_to(type, count - 1) ? "" : "cannot count to " + std::to_string(count - 1);
        case Draw::offsets:
            if (floating || type.lanes > 1) return "are not integers";
            return fits(type, drawn.most) ? "" : "cannot count to " + std::to_string(drawn.most);
        case Draw::one_hot:
            if (type.lanes > 1) return "are vectors";
            return count % static_cast<std::size_t>(drawn.most) == 0
                       ? ""
                       : "are " + std::to_string(count) + ", not a multiple of the row length " +
                             std::to_string(drawn.most);
        case Draw::text:
            return type.is_integer() && type.lane_bytes == 1 ? "" : "are not bytes";
        default:
            return {};
    }
}

namespace {

void fill(Lanes& lanes, std::size_t count, std::uint64_t seed, const Drawn& drawn) {
    Random random(mix64(seed));
    const int shift = lanes.element_shift();
    switch (drawn.draw) {
        case Draw::zero:
            break;
        case Draw::counting:
            lanes.put_each_whole(random, 0,
                                 [shift](Random&, std::size_t i) { return static_cast<std::int64_t>(i >> shift); });
            break;
        case Draw::constant:
            lanes.put_each(
                random, 0, [drawn](Random&, std::size_t) { return drawn.low; },
                [drawn](Random&, std::size_t) { return drawn.least; });
            break;
        case Draw::uniform:
            lanes.put_each(
                random, 1, [drawn](Random& own, std::size_t) { return uniform(own, drawn); },
                [drawn](Random& own, std::size_t) { return whole(above(own, drawn), drawn); });
            break;
        case Draw::sorted:
        case Draw::offsets:
            put_sorted(lanes, random, drawn);
            break;
        case Draw::normal:
            lanes.put_normal(random, drawn);
            break;
        case Draw::permutation: {  // all lanes of an element get the same number
            const auto order = random_order(count, mix64(seed));
            lanes.put_each_whole(random, 0, [shift, from = order.data()](Random&, std::size_t i) -> std::int64_t {
                return from[i >> shift];
            });
            break;
        }
        case Draw::powers: {
            const bool is_signed = lanes.are_signed();
            lanes.put_each_whole(random, 1, [=](Random& own, std::size_t) { return power(own, is_signed); });
            break;
        }
        case Draw::one_hot:
            put_one_hot(lanes, random, drawn);
            break;
        case Draw::text:
            put_text(lanes, random);
            break;
    }
}

/// Calls put(i) for 0 .. count - 1, on all cores.
void each(std::size_t count, auto put) {
    in_parallel(count, parallel_piece, [put](std::size_t i, std::size_t end) {
        widest([=]() mutable {
            for (; i < end; ++i) put(i);
        });
    });
}

/// A cache of arrays. Cells of a plan and points of a tuning share equal arrays, in this process and on the device.
class Kept {
public:
    /// The array of an equal request, else that of make().
    template <typename Make>
    model::SharedBytes find_or_make(const ElementType& type, std::size_t count, std::uint64_t seed, const Drawn& drawn,
                                    Make make) {
        const std::lock_guard lock(using_);
        for (const auto& entry : entries_)
            if (entry.count == count && entry.seed == seed && entry.drawn == drawn && entry.type == type)
                return entry.data;
        const auto bytes = type.bytes_of(count);
        if (bytes > most_bytes) return make();
        // The oldest arrays are dropped first. Each may have gigabytes.
        for (; bytes_ + bytes > most_bytes; entries_.pop_front()) bytes_ -= entries_.front().data.size();
        bytes_ += bytes;
        entries_.push_back({type, count, seed, drawn, make()});
        return entries_.back().data;
    }

private:
    struct Entry {
        ElementType type;
        std::size_t count;
        std::uint64_t seed;
        Drawn drawn;
        model::SharedBytes data;
    };
    const std::size_t most_bytes =
        std::min<std::size_t>(std::size_t{4} << 30, static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                                                        static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 16);
    std::mutex using_;
    std::deque<Entry> entries_;
    std::size_t bytes_ = 0;
};

}  // namespace

model::Bytes packed_nibbles(std::span<const std::byte> single) {
    model::Bytes out(single.size() / 2);
    each(out.size(), [to = out.data(), from = single.data()](std::size_t i) {
        to[i] = (from[2 * i] & std::byte{15}) | from[2 * i + 1] << 4;
    });
    return out;
}

model::SharedBytes drawn_data(const ElementType& type, std::size_t count, std::uint64_t seed, const Drawn& drawn) {
    static Kept kept;
    if (type.is_packed()) {
        const auto single = drawn_data(*model::builtin_type("uchar"), count, seed, drawn);
        return kept.find_or_make(type, count, seed, drawn, [&] {
            return model::SharedBytes(type.bytes_of(count), [single] { return packed_nibbles(*single); });
        });
    }
    return kept.find_or_make(type, count, seed, drawn, [&] {
        const auto lane = type.is_opaque() ? *model::builtin_type("float") : type;
        const auto size = count * type.bytes;
        return model::SharedBytes(size, [=] {
            model::Bytes out(size);
            Lanes lanes(out, lane);
            fill(lanes, count, seed, drawn);
            return out;
        });
    });
}

}  // namespace cllab::kernelfile

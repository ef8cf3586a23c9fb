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
#include <numeric>
#include <span>
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

/// A number in [0, 1) of a random word.
double fraction(std::uint64_t word) { return static_cast<std::int32_t>(word >> 40) * 0x1p-24; }
double fraction(Random& random) { return fraction(random()); }

double uniform(std::uint64_t word, const Drawn& of) { return of.low + (of.high - of.low) * fraction(word); }

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

/// An integer within the bounds of a random word, as its distance from `least`. It rises with the word.
std::uint64_t above(std::uint64_t word, const Drawn& of) {
    const auto values = static_cast<std::uint64_t>(of.most) - static_cast<std::uint64_t>(of.least) + 1;
    if (values == 0) return word;  // all 2^64 values are allowed
    return values > UINT32_MAX ? Random::below(word, values) : Random::below_32(word, values);
}

std::int64_t whole(std::uint64_t above, const Drawn& of) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(of.least) + above);
}

/// Sorts numbers from 0 to `most`, about evenly distributed, in linear time. `copy`, `places`: memory that calls share.
template <typename T>
void sort_evenly(std::span<T> numbers, std::uint64_t most, std::vector<T>& copy, std::vector<std::uint32_t>& places) {
    // As many places as numbers: those of one place are few, or equal.
    const auto shift = std::bit_width(most >> std::bit_width(numbers.size()));
    places.assign((most >> shift) + 2, 0);
    for (const auto number : numbers) ++places[(number >> shift) + 1];
    std::partial_sum(places.begin(), places.end(), places.begin());
    copy.resize(numbers.size());
    for (const auto number : numbers) copy[places[number >> shift]++] = number;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        auto to = i;
        for (; to > 0 && numbers[to - 1] > copy[i]; --to) numbers[to] = numbers[to - 1];
        numbers[to] = copy[i];
    }
}

constexpr std::size_t at_once = 1024;  // lanes

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
    /// Sets all lanes of an element to its number in a random order.
    void put_permutation(const Permutation& order) {
        in_blocks(Random(0), 0, [&]<typename T>(T* lanes, const Random&, std::size_t begin, std::size_t count) {
            std::array<std::uint32_t, Permutation::at_once> numbers;
            const int shift = element_shift();
            order.put(begin >> shift, std::span(numbers).first(((count - 1) >> shift) + 1));
            for (std::size_t k = 0; k < count; ++k)
                if constexpr (std::is_integral_v<T>)
                    lanes[k] = static_cast<T>(numbers[k >> shift]);
                else
                    lanes[k] = to_lane<T>(numbers[k >> shift]);
        });
    }
    /// Sets the lanes to uniform numbers in ascending order.
    void put_sorted(const Random& random, const Drawn& drawn) {
        with_lane_type(lane_, [&]<typename T>(T) { sort_words<T>(random, drawn); });
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
    template <typename T>
    void sort_words(const Random& random, const Drawn& of);
    std::byte* at(std::size_t i) { return out_.data() + i * lane_.lane_bytes; }
    model::Bytes& out_;
    const ElementType& lane_;
};

/// Sorts by the leading bits of the words, then sorts each bucket by the rest of the number. The words are drawn
/// twice, so that the lanes are the only memory: between the steps they hold a number's distance from its
/// bucket's least.
template <typename T>
void Lanes::sort_words(const Random& random, const Drawn& of) {
    using Lane = BitsOf<T>;
    constexpr std::size_t bucket_bits = 10, buckets = 1 << bucket_bits, most_pieces = 64;
    const auto count = size(), pieces = std::clamp<std::size_t>(count / parallel_piece, 1, most_pieces);
    const auto number = [of](std::uint64_t word) { return std::is_integral_v<T> ? above(word, of) : word >> 40; };
    const auto lane = [of](std::uint64_t distance) {
        if constexpr (std::is_integral_v<T>)
            return static_cast<Lane>(whole(distance, of));
        else
            return std::bit_cast<Lane>(to_lane<T>(uniform(distance << 40, of)));
    };
    const auto least = [number](std::size_t bucket) { return number(std::uint64_t{bucket} << (64 - bucket_bits)); };
    const auto most = [number](std::size_t bucket) {
        return number(std::uint64_t{bucket} << (64 - bucket_bits) | ~std::uint64_t{0} >> bucket_bits);
    };
    auto* const to = reinterpret_cast<Lane*>(out_.data());
    std::vector<std::array<std::size_t, buckets>> starts(pieces);
    const auto each_word = [&](std::size_t piece, const auto& work) {
        std::array<std::uint64_t, at_once> words;
        for (auto begin = count * piece / pieces, end = count * (piece + 1) / pieces; begin < end; begin += at_once) {
            auto own = random;
            own.skip(begin);
            const auto here = std::min(at_once, end - begin);
            widest([=, words = words.data()]() mutable {
                for (std::size_t k = 0; k < here; ++k) words[k] = own();
            });
            for (std::size_t k = 0; k < here; ++k) work(words[k], words[k] >> (64 - bucket_bits));
        }
    };
    each_in_parallel(pieces, [&](std::size_t piece) {
        each_word(piece, [&](std::uint64_t, std::size_t bucket) { ++starts[piece][bucket]; });
    });
    std::array<std::size_t, buckets + 1> ends{};
    for (std::size_t bucket = 0, next = 0; bucket < buckets; ++bucket) {
        for (auto& of_piece : starts) next += std::exchange(of_piece[bucket], next);
        ends[bucket + 1] = next;
    }
    each_in_parallel(pieces, [&](std::size_t piece) {
        each_word(piece, [&](std::uint64_t word, std::size_t bucket) {
            to[starts[piece][bucket]++] = static_cast<Lane>(number(word) - least(bucket));
        });
    });
    each_in_parallel(pieces, [&](std::size_t piece) {
        std::vector<Lane> sorted;
        std::vector<std::uint32_t> places;
        for (auto bucket = buckets * piece / pieces; bucket < buckets * (piece + 1) / pieces; ++bucket) {
            const auto lanes = std::span(to, count).subspan(ends[bucket], ends[bucket + 1] - ends[bucket]);
            sort_evenly<Lane>(lanes, most(bucket) - least(bucket), sorted, places);
            for (auto& one : lanes) one = lane(least(bucket) + one);
        }
    });
}

std::int32_t power(Random& random, bool is_signed) {
    const auto bits = static_cast<std::int32_t>(random() >> 61), value = 1 << (bits >> 1);  // as below(8)
    return is_signed && (bits & 1) ? -value : value;
}

void put_one_hot(Lanes& lanes, const Random& random, const Drawn& of) {
    const auto width = static_cast<std::size_t>(of.most);
    in_parallel(lanes.size() / width, parallel_piece, [&](std::size_t row, std::size_t end) {
        auto own = random;
        for (own.skip(row); row < end; ++row) lanes.put_whole(row * width + own.below(width), 1);
    });
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

void fill(model::Bytes& out, const ElementType& lane, std::size_t count, std::uint64_t seed, const Drawn& drawn) {
    Lanes lanes(out, lane);
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
                random, 1, [drawn](Random& own, std::size_t) { return uniform(own(), drawn); },
                [drawn](Random& own, std::size_t) { return whole(above(own(), drawn), drawn); });
            break;
        case Draw::sorted:
            lanes.put_sorted(random, drawn);
            break;
        case Draw::offsets:
            lanes.put_sorted(random, drawn);
            if (lanes.size() > 0) lanes.put_whole(0, drawn.least);
            if (lanes.size() > 1) lanes.put_whole(lanes.size() - 1, drawn.most);
            break;
        case Draw::normal:
            lanes.put_normal(random, drawn);
            break;
        case Draw::permutation: {  // all lanes of an element get the same number
            if (count > parallel_piece) {
                lanes.put_permutation({count, random});
                break;
            }
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
            put_text(out, random);
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
    static Kept arrays;
    if (type.is_packed()) {
        const auto single = drawn_data(*model::builtin_type("uchar"), count, seed, drawn);
        return arrays.find_or_make(type, count, seed, drawn, [&] {
            return model::SharedBytes(type.bytes_of(count), [single] { return packed_nibbles(*single); });
        });
    }
    return arrays.find_or_make(type, count, seed, drawn, [&] {
        const auto lane = type.is_opaque() ? *model::builtin_type("float") : type;
        const auto size = count * type.bytes;
        return model::SharedBytes(size, [=] {
            model::Bytes out(size);
            fill(out, lane, count, seed, drawn);
            return out;
        });
    });
}

}  // namespace cllab::kernelfile

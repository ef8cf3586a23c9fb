#include "kernelfile/data/drawn_data.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <functional>
#include <mutex>
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
#include "kernelfile/data/series.hpp"

namespace cllab::kernelfile {
namespace {

using model::ElementType;

/// An integer within the bounds of a random word, as its distance from `least`. It rises with the word.
std::uint64_t above(std::uint64_t word, const Drawn& of) {
    const auto values = static_cast<std::uint64_t>(of.most) - static_cast<std::uint64_t>(of.least) + 1;
    if (values == 0) return word;  // all 2^64 values are allowed
    return values - 1 > UINT32_MAX ? Random::below(word, values) : Random::below_32(word, values);
}

/// A uniform number for lanes of type T. It never falls when the word rises.
template <typename T>
auto number(std::uint64_t word, const Drawn& of) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(of.least) + above(word, of));
    else
        return of.low + (of.high - of.low) * (static_cast<std::int32_t>(word >> 40) * 0x1p-24);
}

constexpr std::size_t at_once = 1024;  // lanes

/// How many of `count` random bits are set.
std::size_t set_bits(Random& random, std::size_t count) {
    constexpr std::size_t word_bits = 64;
    std::array<std::uint64_t, 256> words;
    std::size_t out = 0;
    for (std::size_t here = 0; count > 0; count -= here) {
        here = std::min(count, word_bits * words.size());
        const auto used = (here + word_bits - 1) / word_bits;
        widest([=, own = random, words = words.data(), to = &out]() mutable {
            for (std::size_t k = 0; k < used; ++k) words[k] = own();
            words[used - 1] >>= used * word_bits - here;
            for (std::size_t k = 0; k < used; ++k) *to += static_cast<std::size_t>(std::popcount(words[k]));
        });
        random.skip(used);
    }
    return out;
}

/// Sets the lanes to `lane` of uniform words from `first` to first + 2^bits - 1, in ascending order. `lane` never
/// falls.
template <typename Lane>
void put_rising(Random& random, std::span<Lane> lanes, std::uint64_t first, int bits, const auto& lane) {
    if (lanes.empty()) return;
    if (bits == 0 || lane(first) == lane(first + (~std::uint64_t{0} >> (64 - bits))))
        return std::fill(lanes.begin(), lanes.end(), lane(first));
    if (lanes.size() > at_once) {  // the number of those in the upper half is drawn
        const auto lower = lanes.size() - set_bits(random, lanes.size());
        put_rising(random, lanes.first(lower), first, bits - 1, lane);
        return put_rising(random, lanes.subspan(lower), first + (std::uint64_t{1} << (bits - 1)), bits - 1, lane);
    }
    // Sums of exponential steps, divided by a last sum, are distributed as sorted uniform numbers (Renyi 1953).
    const auto count = lanes.size();
    std::array<std::uint32_t, at_once + 1> steps;
    std::array<std::uint64_t, at_once + 1> sums;
    widest([own = random, count, steps = steps.data()]() mutable {
        for (std::size_t k = 0; k <= count; ++k)
            steps[k] = static_cast<std::uint32_t>(
                static_cast<std::int32_t>(exponential<float>(static_cast<std::int32_t>(own() >> 33)) * 0x1p18F) + 1);
    });
    std::inclusive_scan(steps.begin(), steps.begin() + count + 1, sums.begin(), std::plus<>{}, std::uint64_t{0});
    // The unit is at least 2^31, so lower bits of its own keep the order.
    widest([own = random, count, unit = UINT64_MAX / sums[count], first, bits, lane, sums = sums.data(),
            to = lanes.data()]() mutable {
        for (std::size_t k = 0; k < count; ++k)
            to[k] = lane(first + ((sums[k] * unit + (own() & INT32_MAX)) >> (64 - bits)));
    });
    random.skip(count + 1);
}

/// Two numbers to each byte of `to`.
void pack(std::byte* to, std::span<const std::byte> single) {
    in_parallel(single.size() / 2, parallel_piece, [=, from = single.data()](std::size_t i, std::size_t end) {
        widest([=]() mutable {
            for (; i < end; ++i) to[i] = (from[2 * i] & std::byte{15}) | from[2 * i + 1] << 4;
        });
    });
}

/// The lanes of a buffer, one after the other.
class Lanes {
public:
    /// `packed`: as two nibbles to a byte, by functions that call in_blocks().
    Lanes(model::Bytes& out, const ElementType& lane, bool packed) : out_(out), lane_(lane), packed_(packed) {}
    std::size_t size() const { return packed_ ? 2 * out_.size() : out_.size() / lane_.lane_bytes; }
    /// The number of the element of lane i is i >> this; a vector takes the room of a power of two.
    int element_shift() const { return std::countr_zero(lane_.bytes / lane_.lane_bytes); }
    bool are_signed() const { return lane_.kind != ElementType::Kind::unsigned_integer; }
    void put_whole(std::size_t i, std::int64_t value) { put_integer(at(i), lane_, value); }
    /// Sets each lane to make(lane type's zero, own, its index). Uses all cores. `numbers`: random numbers per lane.
    void put_each(const Random& random, unsigned numbers, const auto& make) {
        in_blocks(random, numbers,
                  [&]<typename T>(T* lanes, const Random& first, std::size_t begin, std::size_t count) {
                      widest([=, own = first]() mutable {
                          for (std::size_t k = 0; k < count; ++k) lanes[k] = to_lane<T>(make(T{}, own, begin + k));
                      });
                  });
    }
    /// Sets all lanes of an element to its number in a random order.
    void put_permutation(const Permutation& order) {
        in_blocks(Random(0), 0, [&]<typename T>(T* lanes, const Random&, std::size_t begin, std::size_t count) {
            std::array<std::uint32_t, Permutation::at_once> numbers;
            const int shift = element_shift();
            order.put(begin >> shift, std::span(numbers).first(((count - 1) >> shift) + 1));
            for (std::size_t k = 0; k < count; ++k) lanes[k] = to_lane<T>(numbers[k >> shift]);
        });
    }
    /// Sets the lanes to uniform numbers in ascending order.
    void put_sorted(const Random& random, const Drawn& of) {
        // The number of lanes of each bucket of words is drawn first, for parts of the lanes.
        constexpr std::size_t most_parts = 64;
        const auto count = size(), parts = std::clamp<std::size_t>(count / parallel_piece, 1, most_parts);
        const int bits = std::clamp(static_cast<int>(std::bit_width(count / at_once)), 1, 10);
        const auto buckets = std::size_t{1} << bits;
        std::vector<std::vector<std::size_t>> sizes(parts, std::vector<std::size_t>(buckets));
        each_in_parallel(parts, [&](std::size_t part) {
            Random own(random.skipped(part)());
            auto& of_part = sizes[part];
            of_part[0] = count * (part + 1) / parts - count * part / parts;
            for (auto width = buckets / 2; width > 0; width /= 2)
                for (std::size_t b = 0; b < buckets; b += 2 * width) {
                    of_part[b + width] = set_bits(own, of_part[b]);
                    of_part[b] -= of_part[b + width];
                }
        });
        std::vector<std::size_t> ends(buckets + 1);
        for (std::size_t b = 0; b < buckets; ++b)
            for (ends[b + 1] = ends[b]; const auto& of_part : sizes) ends[b + 1] += of_part[b];
        with_lane_type(lane_, [&]<typename T>(T) {
            const auto lane = [of](std::uint64_t word) {
                return std::bit_cast<BitsOf<T>>(to_lane<T>(number<T>(word, of)));
            };
            const auto lanes = std::span(reinterpret_cast<BitsOf<T>*>(out_.data()), count);
            each_in_parallel(buckets, [&](std::size_t b) {
                Random own(random.skipped(parts + b)());
                put_rising(own, lanes.subspan(ends[b], ends[b + 1] - ends[b]), std::uint64_t{b} << (64 - bits),
                           64 - bits, lane);
            });
        });
    }
    void put_normal(const Random& random, const Drawn& of) {
        in_blocks(random, 1, [of]<typename T>(T* lanes, const Random& first, std::size_t, std::size_t count) {
            if constexpr (std::is_integral_v<T>) return;
            using Real = std::conditional_t<sizeof(T) == sizeof(double), double, float>;
            std::array<Real, at_once> numbers;
            widest([=, own = first, numbers = numbers.data()]() mutable {
                for (std::size_t k = 0; k < at_once / 2; ++k)
                    std::tie(numbers[k], numbers[k + at_once / 2]) = normal_pair<Real>(own());
                for (std::size_t k = 0; k < count; ++k) lanes[k] = to_lane<T>(of.low + of.high * numbers[k]);
            });
        });
    }

private:
    /// Calls work(lanes, random, number of the first, count) for blocks of lanes, on all cores.
    void in_blocks(const Random& random, unsigned numbers, const auto& work) {
        with_lane_type(lane_, [&]<typename T>(T) {
            in_parallel(size(), parallel_piece, [&](std::size_t begin, std::size_t end) {
                auto own = random.skipped(numbers * begin);
                std::array<T, at_once> single;
                for (auto at = begin; at < end; at += at_once, own.skip(numbers * at_once)) {
                    const auto count = std::min(at_once, end - at);
                    work(packed_ ? single.data() : reinterpret_cast<T*>(out_.data()) + at, own, at, count);
                    if (packed_) pack(out_.data() + at / 2, std::as_bytes(std::span(single).first(count)));
                }
            });
        });
    }
    std::byte* at(std::size_t i) { return out_.data() + i * lane_.lane_bytes; }
    model::Bytes& out_;
    const ElementType& lane_;
    bool packed_;
};

std::int32_t power(Random& random, bool is_signed) {
    const auto bits = static_cast<std::int32_t>(random() >> 61), value = 1 << (bits >> 1);  // as below(8)
    return is_signed && (bits & 1) ? -value : value;
}

void put_one_hot(Lanes& lanes, const Random& random, const Drawn& of) {
    const auto width = static_cast<std::size_t>(of.most);
    in_parallel(lanes.size() / width, parallel_piece, [&](std::size_t row, std::size_t end) {
        for (auto own = random.skipped(row); row < end; ++row) lanes.put_whole(row * width + own.below(width), 1);
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

void fill(model::Bytes& out, const ElementType& lane, std::size_t count, std::uint64_t seed, const Drawn& drawn,
          bool packed) {
    if (packed && (drawn.draw == Draw::sorted || drawn.draw == Draw::offsets || drawn.draw == Draw::one_hot)) {
        model::Bytes single(count);
        fill(single, lane, count, seed, drawn, false);
        return pack(out.data(), {single.data(), single.size()});
    }
    Lanes lanes(out, lane, packed);
    Random random(mix64(seed));
    const int shift = lanes.element_shift();
    switch (drawn.draw) {
        case Draw::zero:
            break;
        case Draw::counting:
            lanes.put_each(random, 0,
                           [shift](auto, Random&, std::size_t i) { return static_cast<std::int64_t>(i >> shift); });
            break;
        case Draw::constant:
            lanes.put_each(random, 0, [drawn](auto zero, Random&, auto) { return number<decltype(zero)>(0, drawn); });
            break;
        case Draw::uniform:
            lanes.put_each(random, 1,
                           [drawn](auto zero, Random& own, auto) { return number<decltype(zero)>(own(), drawn); });
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
            lanes.put_each(random, 0,
                           [=, from = order.data()](auto, Random&, std::size_t i) { return from[i >> shift]; });
            break;
        }
        case Draw::powers: {
            const bool is_signed = lanes.are_signed();
            lanes.put_each(random, 1, [=](auto, Random& own, auto) { return power(own, is_signed); });
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

/// A cache of arrays. Cells of a plan and points of a tuning share equal arrays, in this process and on the device.
class Kept {
public:
    struct Request {
        ElementType type;
        std::size_t count;
        std::uint64_t seed;
        Drawn drawn;

        bool operator==(const Request&) const = default;
    };
    /// The array of an equal request, else that of make().
    model::SharedBytes find_or_make(const Request& request, const auto& make) {
        const std::lock_guard lock(using_);
        const auto found = std::ranges::find(entries_, request, &Entry::first);
        if (found != entries_.end()) return found->second;
        const auto bytes = request.type.bytes_of(request.count);
        if (bytes > most_bytes) return make();
        // The oldest arrays are dropped first. Each may have gigabytes.
        for (; bytes_ + bytes > most_bytes; entries_.pop_front()) bytes_ -= entries_.front().second.size();
        bytes_ += bytes;
        return entries_.emplace_back(request, make()).second;
    }

private:
    using Entry = std::pair<Request, model::SharedBytes>;
    const std::size_t most_bytes =
        std::min<std::size_t>(std::size_t{4} << 30, static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                                                        static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 16);
    std::mutex using_;
    std::deque<Entry> entries_;
    std::size_t bytes_ = 0;
};

}  // namespace

model::SharedBytes drawn_data(const ElementType& type, std::size_t count, std::uint64_t seed, const Drawn& drawn) {
    static Kept arrays;
    return arrays.find_or_make({type, count, seed, drawn}, [&] {
        const auto lane =
            type.is_opaque() || type.is_packed() ? *model::builtin_type(type.is_packed() ? "uchar" : "float") : type;
        const auto size = type.bytes_of(count);
        return model::SharedBytes(size, [=] {
            model::Bytes out(size);
            fill(out, lane, count, seed, drawn, type.is_packed());
            return out;
        });
    });
}

}  // namespace cllab::kernelfile

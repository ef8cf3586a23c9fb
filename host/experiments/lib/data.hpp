// Inputs: random data that nothing compresses, and keeping it for the variants that share it.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/parallel.hpp"
#include "core/random.hpp"
#include "model/experiment.hpp"

namespace cllab::model::lib {

inline SharedBytes random_bytes(std::uint64_t size, std::uint64_t seed) {
    return {size, [size, seed] {
                Bytes out(size);
                fill_random(out, seed);
                return out;
            }};
}

/// `count` values of T, which `fill` writes when they are wanted.
template <typename T, typename Fill>
SharedBytes filled(std::size_t count, Fill fill) {
    return {count * sizeof(T), [count, fill] {
                Bytes out(count * sizeof(T));
                fill(std::span(reinterpret_cast<T*>(out.data()), count));
                return out;
            }};
}

/// `count` values of the four-byte type T; `make` turns a random 32-bit word into one, and is called from several
/// threads.
template <typename T, typename Make>
SharedBytes random_values(std::size_t count, std::uint64_t seed, Make make) {
    static_assert(sizeof(T) == 4);
    return filled<T>(count, [seed, make](std::span<T> out) {
        in_parallel(out.size(), parallel_piece, [&](std::size_t begin, std::size_t end) {
            Random random(seed);
            random.skip(begin / 2);
            // The data of fill_random: two values to a word, the low half first. A piece begins with the low half.
            for (std::size_t i = begin; i < end; i += 2) {
                const auto words = random();
                out[i] = make(static_cast<std::uint32_t>(words));
                if (i + 1 < end) out[i + 1] = make(static_cast<std::uint32_t>(words >> 32));
            }
        });
    });
}

/// Uniform floats in [low, high) with full mantissas.
inline SharedBytes random_floats(std::size_t count, std::uint64_t seed, float low, float high) {
    const float step = (high - low) * 0x1p-24f;
    return random_values<float>(count, seed, [=](std::uint32_t w) { return low + step * static_cast<float>(w >> 8); });
}

/// 0 .. count-1 in random order. Visited cyclically this is one cycle through all, drawn uniformly among all such
/// cycles.
inline std::vector<std::uint32_t> random_order(std::size_t count, std::uint64_t seed) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0u);
    Random random(seed);
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

/// The bytes as values of T.
template <typename T>
std::span<const T> view(const SharedBytes& bytes) {
    return {reinterpret_cast<const T*>(bytes->data()), bytes->size() / sizeof(T)};
}

/// What make() returns, kept for the other variants of the point where the request has a memo. `name`: the family's.
template <typename Key, typename Make>
auto kept(const Request& request, const std::string& name, const Key& key, const Make& make) {
    using Value = std::invoke_result_t<const Make&>;
    return request.memo ? request.memo->get(name, key, make) : std::make_shared<Value>(make());
}

}  // namespace cllab::model::lib

// What a kernel left behind against what it should be, in words.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/units.hpp"
#include "model/experiment.hpp"

namespace cllab::model::lib {

/// A value with the digits that tell it from its neighbours.
template <typename T>
std::string shown(const T& v) {
    if constexpr (std::is_integral_v<T>)
        return std::to_string(v);
    else
        return format_general(static_cast<double>(v), sizeof(T) > 4 ? 17 : 9);
}

/// "dst[17] is 3, expected 4"
template <typename T>
std::string difference(const std::string& buffer, std::size_t i, const T& found, const T& expected) {
    return concat(buffer, "[", i, "] is ", shown(found), ", expected ", shown(expected));
}

/// What `look(begin, end)` says of the first piece of 0 .. count of which it says something; called from several
/// threads as in_parallel() does. It says what is wrong with the first of its piece.
template <typename Look>
std::optional<std::string> first_of_pieces(std::size_t count, std::size_t least_piece, Look look) {
    std::map<std::size_t, std::string> found;
    std::mutex adding;
    in_parallel(count, least_piece, [&](std::size_t begin, std::size_t end) {
        if (auto wrong = look(begin, end)) {
            const std::lock_guard lock(adding);
            found.emplace(begin, std::move(*wrong));
        }
    });
    return found.empty() ? std::nullopt : std::optional(found.begin()->second);
}

/// The first element of the buffer whose bits are not those of `expected(i)`, which is called from several threads;
/// with a tolerance, the first floating-point number that is not near enough.
template <typename T, typename Expected>
std::optional<std::string> first_difference(const Buffers& buffers, const std::string& buffer, Expected expected) {
    const auto found = buffers.as<T>(buffer);
    std::mutex merging;
    return first_of_pieces(
        found.size(), parallel_piece, [&](std::size_t begin, std::size_t end) -> std::optional<std::string> {
            Errors errors(buffers.errors ? buffers.errors->allowed() : Tolerance{});
            std::array<T, 1024> wanted;  // many at once: a loop that only computes, and one comparison of them all
            for (std::size_t at = begin; at < end; at += wanted.size()) {
                const auto count = std::min(wanted.size(), end - at);
                for (std::size_t k = 0; k < count; ++k) wanted[k] = expected(at + k);
                if (std::memcmp(&found[at], wanted.data(), count * sizeof(T)) == 0) continue;
                for (std::size_t k = 0; k < count; ++k) {
                    const auto i = at + k;
                    if (std::memcmp(&found[i], &wanted[k], sizeof(T)) == 0) continue;
                    if constexpr (std::is_floating_point_v<T>)
                        if (buffers.errors && errors.tolerates(found[i], wanted[k])) continue;
                    return difference(buffer, i, found[i], wanted[k]);
                }
            }
            if (!buffers.errors) return std::nullopt;
            const std::lock_guard lock(merging);
            buffers.errors->merge(errors);
            return std::nullopt;
        });
}

/// What `wrong(i)` says of the first of 0 .. count of which it says something; called from several threads.
template <typename Wrong>
std::optional<std::string> first_wrong(std::size_t count, Wrong wrong) {
    return first_of_pieces(count, parallel_piece, [&](std::size_t i, std::size_t end) -> std::optional<std::string> {
        for (; i < end; ++i)
            if (auto found = wrong(i)) return found;
        return std::nullopt;
    });
}

/// The same as first_difference for expected words that are all there.
inline std::optional<std::string> first_difference(const Buffers& buffers, const std::string& buffer,
                                                   std::span<const std::uint32_t> expected) {
    if (const auto size = buffers.as<std::uint32_t>(buffer).size(); size != expected.size())
        return concat(buffer, " has ", size, " words, expected ", expected.size());
    return first_difference<std::uint32_t>(buffers, buffer, [&](std::size_t i) { return expected[i]; });
}

/// What the first of `who`, numbered in steps of `every`, left in "out" that is not expected(number).
template <typename Expected>
std::optional<std::string> first_left(const Buffers& buffers, const char* who, std::uint32_t every, Expected expected) {
    const auto found = buffers.as<std::uint32_t>("out");
    return first_wrong(found.size(), [&](std::size_t i) -> std::optional<std::string> {
        const auto number = static_cast<std::uint32_t>(i) * every;
        if (found[i] == expected(number)) return std::nullopt;
        return concat(who, number, " left ", found[i], ", expected ", expected(number));
    });
}

/// What the words of an output are that nobody may write.
inline std::vector<std::uint32_t> poisoned_words(const Buffers& buffers, const std::string& buffer) {
    std::vector<std::uint32_t> out(buffers.as<std::uint32_t>(buffer).size());
    poison(std::as_writable_bytes(std::span(out)), buffers.poison_seed);
    return out;
}

}  // namespace cllab::model::lib

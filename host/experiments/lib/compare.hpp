// What a kernel left behind against what it should be, in words.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "model/experiment.hpp"

namespace cllab::model::lib {

/// A value with the digits that tell it from its neighbours.
template <typename T>
std::string shown(const T& v) {
    if constexpr (std::is_integral_v<T>) {
        return std::to_string(v);
    } else {
        char out[40];
        std::snprintf(out, sizeof out, sizeof(T) > 4 ? "%.17g" : "%.9g", static_cast<double>(v));
        return out;
    }
}

/// "dst[17] is 3, expected 4"
template <typename T>
std::string difference(const std::string& buffer, std::size_t i, const T& found, const T& expected) {
    return buffer + "[" + std::to_string(i) + "] is " + shown(found) + ", expected " + shown(expected);
}

/// The first element of the buffer whose bits are not those of `expected(i)`.
template <typename T, typename Expected>
std::optional<std::string> first_difference(const Buffers& buffers, const std::string& buffer, Expected expected) {
    const auto found = buffers.as<T>(buffer);
    for (std::size_t i = 0; i < found.size(); ++i) {
        const T e = expected(i);
        if (std::memcmp(&found[i], &e, sizeof(T)) != 0) return difference(buffer, i, found[i], e);
    }
    return std::nullopt;
}

/// The same for expected words that are all there.
inline std::optional<std::string> first_difference(const Buffers& buffers, const std::string& buffer,
                                                   std::span<const std::uint32_t> expected) {
    if (const auto size = buffers.as<std::uint32_t>(buffer).size(); size != expected.size())
        return buffer + " has " + std::to_string(size) + " words, expected " + std::to_string(expected.size());
    return first_difference<std::uint32_t>(buffers, buffer, [&](std::size_t i) { return expected[i]; });
}

}  // namespace cllab::model::lib

// Bounds-checked little-endian reads: the parsed bytes come from a driver, or from a file that may be damaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace cllab::inspect {

using ByteSpan = std::span<const std::byte>;

/// `size` bytes from `offset`; nullopt if any of them is outside. Safe for every value of both.
inline std::optional<ByteSpan> slice(ByteSpan bytes, std::uint64_t offset, std::uint64_t size) {
    if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
    return bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

/// Little-endian unsigned number of sizeof(T) bytes at `offset`.
template <typename T>
std::optional<T> load(ByteSpan bytes, std::uint64_t offset) {
    const auto part = slice(bytes, offset, sizeof(T));
    if (!part) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) value |= std::to_integer<std::uint64_t>((*part)[i]) << (8 * i);
    return static_cast<T>(value);
}

inline std::string_view as_text(ByteSpan bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

inline ByteSpan as_bytes(std::string_view text) {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace cllab::inspect

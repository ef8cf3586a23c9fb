// SHA-256 (FIPS 180-4), which identifies a source text in a record, and a faster hash for large data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cllab {

std::string sha256_hex(std::string_view bytes);  ///< 64 lower-case hex digits

/// A hash of 64 bits for the results of verifications, computed by all cores; SHA-256 of 256 MB takes 1.5 s. Not
/// cryptographic: two different arrays have the same digest by chance once in 2^64, but are easily constructed.
std::uint64_t digest(std::span<const std::byte> bytes);

}  // namespace cllab

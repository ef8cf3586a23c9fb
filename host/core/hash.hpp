// SHA-256 (FIPS 180-4), to name a source text in a record.
#pragma once

#include <string>
#include <string_view>

namespace cllab {

std::string sha256_hex(std::string_view bytes);  ///< 64 lower-case hex digits

}  // namespace cllab

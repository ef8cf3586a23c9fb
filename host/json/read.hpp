// The one way JSON and MessagePack are read, whoever wrote them: no text exhausts the stack, the memory or the
// patience. And the one way JSON is written.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace cllab {

inline constexpr std::size_t most_json_bytes = 16 << 20;  ///< of a text; a record with the longest samples has 20 KiB
inline constexpr std::size_t deepest_json = 64;           ///< arrays and objects inside each other; a record has 4
/// Of an object; keys in the order of the text are searched one by one.
inline constexpr std::size_t most_json_members = 1000;

/// What is wrong with a text; what() goes on after "is": "damaged at byte 17 of 100".
class JsonRefused : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// J: nlohmann::json, or nlohmann::ordered_json to keep the keys' order. Throws JsonRefused for what is no JSON, has a
/// key twice in an object, or is beyond the limits above.
template <typename J>
J parse_json(std::string_view text);

/// On one line, or indented. What is no UTF-8 becomes the replacement character.
template <typename J>
std::string json_text(const J& value, int indent = -1) {
    return value.dump(indent, ' ', false, J::error_handler_t::replace);
}

/// The value at the start of the bytes; nothing where there is none, by the same limits. Binary data reads as null.
std::optional<nlohmann::json> parse_msgpack(std::span<const std::byte> bytes);

}  // namespace cllab

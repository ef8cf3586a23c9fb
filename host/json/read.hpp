// The only functions that read JSON and MessagePack from any source. Limits protect against texts that would exhaust
// stack, memory or time. Also the only function that writes JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace cllab {

/// Maximum size of a text; a record with the longest samples has 20 KiB.
inline constexpr std::size_t most_json_bytes = 16 << 20;
inline constexpr std::size_t deepest_json = 64;  ///< nesting depth of arrays and objects; a record has 4
/// Per object; ordered keys are searched one by one.
inline constexpr std::size_t most_json_members = 1000;

/// Reports the fault of a text. what() continues a sentence after "is": "damaged at byte 17 of 100".
class JsonRefused : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// J: nlohmann::json, or nlohmann::ordered_json to keep the order of keys. Throws JsonRefused if the text is not JSON,
/// has a key twice in an object, or exceeds a limit.
template <typename J>
J parse_json(std::string_view text);

/// The value as text: on one line, or indented. Invalid UTF-8 becomes the replacement character.
template <typename J>
std::string json_text(const J& value, int indent = -1) {
    return value.dump(indent, ' ', false, J::error_handler_t::replace);
}

/// The value at the start of the bytes; nullopt if there is none or it exceeds a limit. Binary data becomes null.
std::optional<nlohmann::json> parse_msgpack(std::span<const std::byte> bytes);

}  // namespace cllab

// Tables from the values of an enumeration to other values or names, read in both directions; and lists of pairs.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <type_traits>

namespace cllab {

template <typename Key, typename Value>
struct Entry {
    Key key;
    Value value;
};

/// The value for `key`; `otherwise` if no row has it.
template <typename Key, typename Value, std::size_t N>
constexpr Value value_of(const Entry<Key, Value> (&rows)[N], std::type_identity_t<Key> key,
                         std::type_identity_t<Value> otherwise = {}) {
    const auto row = std::ranges::find(rows, key, &Entry<Key, Value>::key);
    return row == std::end(rows) ? otherwise : row->value;
}

/// The key of the first row with this value.
template <typename Key, typename Value, std::size_t N, typename Sought>
constexpr std::optional<Key> key_of(const Entry<Key, Value> (&rows)[N], const Sought& wanted) {
    const auto row = std::ranges::find_if(rows, [&](const auto& r) { return wanted == r.value; });
    return row == std::end(rows) ? std::nullopt : std::optional(row->key);
}

/// The value for `key` in a list of pairs; nullptr if there is none.
template <typename Pairs, typename Key>
constexpr auto find_in(Pairs& list, const Key& key) {
    const auto row = std::ranges::find_if(list, [&](const auto& pair) { return pair.first == key; });
    return row == std::end(list) ? nullptr : &row->second;
}

/// The name of `value`. `names`: in the order of the enumeration.
template <typename Enumeration, std::size_t N>
constexpr const char* name_in(const std::array<const char*, N>& names, Enumeration value) {
    return names.at(static_cast<std::size_t>(value));
}

/// The value with this name.
template <typename Enumeration, std::size_t N>
constexpr std::optional<Enumeration> named(const std::array<const char*, N>& names, std::string_view name) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return std::nullopt;
    return static_cast<Enumeration>(found - names.begin());
}

}  // namespace cllab

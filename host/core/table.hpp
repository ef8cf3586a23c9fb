// What belongs to each value of an enumeration, as rows that are read both ways.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <type_traits>

namespace cllab {

template <typename Key, typename Value>
struct Entry {
    Key key;
    Value value;
};

/// The value beside `key`; `otherwise` where no row has it.
template <typename Key, typename Value, std::size_t N>
constexpr Value value_of(const Entry<Key, Value> (&rows)[N], std::type_identity_t<Key> key,
                         std::type_identity_t<Value> otherwise = {}) {
    const auto row = std::ranges::find(rows, key, &Entry<Key, Value>::key);
    return row == std::end(rows) ? otherwise : row->value;
}

/// The key of the first row with this value.
template <typename Key, typename Value, std::size_t N, typename Wanted>
constexpr std::optional<Key> key_of(const Entry<Key, Value> (&rows)[N], const Wanted& wanted) {
    const auto row = std::ranges::find_if(rows, [&](const auto& r) { return wanted == r.value; });
    return row == std::end(rows) ? std::nullopt : std::optional(row->key);
}

}  // namespace cllab

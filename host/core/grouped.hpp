// Lists made from the elements of a range: groups by a key, results of a function, places, and unique values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <ranges>
#include <type_traits>
#include <vector>

namespace cllab {

/// Groups the elements by key. Groups and their members are in the order of first appearance.
template <typename Range, typename KeyOf>
auto grouped(const Range& range, KeyOf key_of) {
    using Value = std::ranges::range_value_t<Range>;
    std::vector<std::vector<Value>> out;
    std::map<std::decay_t<std::invoke_result_t<KeyOf, const Value&>>, std::size_t> known;
    for (const auto& one : range) {
        const auto [at, is_new] = known.emplace(key_of(one), out.size());
        if (is_new) out.emplace_back();
        out[at->second].push_back(one);
    }
    return out;
}

/// The result of `of`, a function or a member, for each element.
template <typename Range, typename Of>
auto mapped(const Range& range, Of of) {
    std::vector<std::decay_t<std::invoke_result_t<Of&, std::ranges::range_reference_t<const Range&>>>> out;
    for (const auto& one : range) out.push_back(std::invoke(of, one));
    return out;
}

/// Indices of the elements for which `fits` is true: 0, 2, 3.
template <typename Range, typename Fits>
std::vector<std::size_t> places_where(const Range& range, Fits fits) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < range.size(); ++i)
        if (std::invoke(fits, range[i])) out.push_back(i);
    return out;
}
/// Indices of all elements: 0, 1, 2.
template <typename Range>
std::vector<std::size_t> places_in(const Range& range) {
    return places_where(range, [](const auto&) { return true; });
}

/// Appends the value if the list does not contain it.
template <typename Value>
void add_once(std::vector<Value>& list, const std::type_identity_t<Value>& value) {
    if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

}  // namespace cllab

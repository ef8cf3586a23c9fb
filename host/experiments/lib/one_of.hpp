// A name among several.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace cllab::model::lib {

inline bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
}
inline bool is_one_of(std::string_view name, const std::vector<std::string>& names) {
    return std::ranges::find(names, name) != names.end();
}

}  // namespace cllab::model::lib

// A name among several.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace cllab::model::lib {

inline bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace cllab::model::lib

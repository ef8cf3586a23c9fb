// A cell's point in JSON, the same in every kind of line, so that lines are joined by its values.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace cllab::report {

/// A value is a number where the number is written back as the same text, else text ("64x4", "linear").
nlohmann::ordered_json point_json(const std::vector<std::pair<std::string, std::string>>& point);

}  // namespace cllab::report

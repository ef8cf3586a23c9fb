// A cell's point and device in JSON, the same in every kind of line, so that lines are joined by their values.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "model/result.hpp"

namespace cllab::report {

/// A value is a number where the number is written back as the same text, else text ("64x4", "linear").
nlohmann::ordered_json point_json(const std::vector<std::pair<std::string, std::string>>& point);

/// What a line that is no cell's record says of its device.
nlohmann::ordered_json device_json(const model::DeviceInfo& device);

/// What a line that is no cell's record begins with, where it is of one cell.
nlohmann::ordered_json line_of(const char* record, const std::string& id,
                               const std::vector<std::pair<std::string, std::string>>& point,
                               const model::DeviceInfo& device);

/// On one line; what is not UTF-8 becomes U+FFFD, never an exception.
std::string line_text(const nlohmann::ordered_json& json);

}  // namespace cllab::report

#pragma once
/// How the reports write a ratio of two times and its interval.

#include <nlohmann/json.hpp>
#include <string>

#include "model/comparison.hpp"

namespace cllab::report {

/// Of a share of 1: "0.42 %", "3.1 %", "12 %".
std::string percent(double part);

/// The interval is left out where none is covered.
nlohmann::ordered_json to_json(const model::RatioEstimate& estimate);
nlohmann::ordered_json to_json(const model::Arrangement& arrangement);

}  // namespace cllab::report

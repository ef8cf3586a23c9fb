// What a variant must have of its device, in words of Variant::needs.
#pragma once

#include <optional>
#include <string>

#include "model/device.hpp"
#include "model/experiment.hpp"

namespace cllab::run {

/// "the device has no double precision", or nothing when every need is met.
std::optional<std::string> missing_need(const model::Variant& variant, const model::Device& device);

}  // namespace cllab::run

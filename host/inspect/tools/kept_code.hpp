// A cache of compiled code, in the user's cache folder: the same text with the same options and the same tools is
// compiled once.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "inspect/isa/isa.hpp"

namespace cllab::inspect {

/// The result of `make`, or its earlier result for the same key, text and options if `tools` have not changed. Failures
/// are not kept, nor is code whose text or options read other files.
OfflineCode kept_code(const std::vector<std::string>& key, const std::vector<std::filesystem::path>& tools,
                      const std::string& text, const std::vector<std::string>& options,
                      const std::function<OfflineCode()>& make);

}  // namespace cllab::inspect

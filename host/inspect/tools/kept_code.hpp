// Code that compilers made, kept below the user's cache: the same text with the same options by the same tools is
// compiled once.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "inspect/isa/isa.hpp"

namespace cllab::inspect {

/// What `make` gives, or gave for this key, with the same `tools` as they are on the disk. Nothing is kept of a
/// failure, nor of a text or options that read other files.
OfflineCode kept_code(const std::vector<std::string>& key, const std::vector<std::filesystem::path>& tools,
                      const std::string& text, const std::vector<std::string>& options,
                      const std::function<OfflineCode()>& make);

}  // namespace cllab::inspect

// What a kernel's text asks for, as far as it may be compiled.
#pragma once

#include <string>
#include <vector>

namespace cllab::explain {

/// Whether a line that may be compiled has one of these words. Of what stands behind #ifdef NAME it is known where
/// `options` do not define NAME.
bool asks_for(const std::string& text, const std::string& options, const std::vector<std::string>& functions);

}  // namespace cllab::explain

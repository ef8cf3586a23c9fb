// What may be changed of a kernel's text so that what it computes stays, for the tests of a claim.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cllab::explain {

/// `text` with more parameters in each kernel of one of these names, behind its own, and with `statements` in front of
/// its own; nothing where there is no such kernel.
std::optional<std::string> with_parameters(const std::string& text, const std::vector<std::string>& names,
                                           const std::string& parameters, const std::string& statements);

/// Whether a line that may be compiled has one of these words. Of what stands behind #ifdef NAME it is known where
/// `options` do not define NAME.
bool asks_for(const std::string& text, const std::string& options, const std::vector<std::string>& functions);

}  // namespace cllab::explain

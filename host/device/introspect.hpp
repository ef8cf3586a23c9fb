// The kernels of a text and their parameters, by clGetKernelArgInfo in a build of its own: never the one that is timed,
// but on PoCL (option_of_users_kernels).
#pragma once

#include <string>

#include "device/session.hpp"
#include "model/kernel_signature.hpp"

namespace cllab::device {

/// Builds `text` with `options` and -cl-kernel-arg-info, without its bodies where it is in order and still does not
/// build. Sizes of types that the language does not define are asked of
/// the device, by a kernel behind the text that writes them. A failed build is an answer, not an exception.
model::Introspection introspect(Session& session, const std::string& text, const std::string& options);

}  // namespace cllab::device

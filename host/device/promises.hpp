// Whether a device's compiler has what the device's list of extensions promises.
#pragma once

#include <string>

namespace cllab::device {

class Session;

/// Whether a kernel that uses what `extension` adds to the language builds for the session's device. The answer of the
/// first call is kept. True for an extension without a trial here, which is believed.
bool keeps_promise(Session& session, const std::string& extension);

}  // namespace cllab::device

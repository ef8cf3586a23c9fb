#pragma once

namespace cllab {

/// "0.1.0 (commit 0123456789ab)"; without the commit if the program was not built from a git checkout.
const char* version();

}  // namespace cllab

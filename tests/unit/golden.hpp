// Output tested like code: text against a file of tests/golden/.
#pragma once

#include <string>

namespace cllab::test {

/// Compares `text` with tests/golden/<name>, and says the first line that differs. With CLLAB_UPDATE_GOLDEN=1 in the
/// environment it writes the file instead; read the difference in git before you commit it. A missing file is a
/// failure.
void matches_golden(const std::string& name, const std::string& text);

/// The text of tests/golden/<name>; empty where there is no such file.
std::string golden(const std::string& name);

}  // namespace cllab::test

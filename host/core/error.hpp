// The one exception type of the lab: who is to blame decides the exit status (see app/main.cpp).
#pragma once

#include <stdexcept>
#include <string>

namespace cllab {

enum class Blame {
    usage,        ///< the command line or an input file is wrong: exit status 2
    environment,  ///< no platform, no such device, a file cannot be written: exit status 3
    result,       ///< a cell failed: exit status 1
};

/// One clear sentence: the thing, the value found, the values possible.
class Error : public std::runtime_error {
public:
    Error(Blame blame, const std::string& sentence) : std::runtime_error(sentence), blame_(blame) {}
    Blame blame() const noexcept { return blame_; }

private:
    Blame blame_;
};

/// Thrown by an experiment's setup when the device cannot do this point. The cell becomes `unsupported`; the text is
/// its reason.
class Unsupported : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace cllab

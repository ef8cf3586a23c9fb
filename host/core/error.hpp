// The exceptions of the lab. The blame of an Error decides the exit status (see app/program.cpp).
#pragma once

#include <concepts>
#include <stdexcept>
#include <string_view>

#include "core/text.hpp"

namespace cllab {

enum class Blame {
    usage,        ///< the command line or an input file is wrong: exit status 2
    environment,  ///< no platform, no such device, a file cannot be written: exit status 3
    result,       ///< a cell failed: exit status 1
};

/// One clear sentence from parts, as in concat(). It names the thing, the value found and the possible values.
class Error : public std::runtime_error {
public:
    template <typename... Part>
    Error(Blame blame, const Part&... sentence) : std::runtime_error(concat(sentence...)), blame_(blame) {}
    Blame blame() const noexcept { return blame_; }

private:
    Blame blame_;
};

/// Thrown by an experiment's setup if the device cannot do this point. The cell becomes `unsupported` with the text as
/// its reason.
class Unsupported : public std::runtime_error {
public:
    template <std::convertible_to<std::string_view> First, typename... Part>
    explicit Unsupported(const First& first, const Part&... reason) : std::runtime_error(concat(first, reason...)) {}
};

}  // namespace cllab

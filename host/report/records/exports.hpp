// Records in the formats of other programs: each a function, an entry of `exports`, and an option of `cllab report`.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "model/result.hpp"

namespace cllab::report {

/// Takes the next lines of the file, without the last newline.
using Lines = std::function<void(const std::string&)>;

struct Export {
    const char *option, *about;
    void (*write)(const std::vector<model::Record>&, const Lines&);
};

extern const std::array<Export, 5> exports;

}  // namespace cllab::report

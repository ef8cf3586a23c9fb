// The style and the scripts of the page, embedded at build time.
#pragma once

#include <string_view>

namespace cllab::report::html {

/// "page.css", "page.js" or "d3.min.js"; the last is empty in a build without D3.
std::string_view asset(std::string_view name);

}  // namespace cllab::report::html

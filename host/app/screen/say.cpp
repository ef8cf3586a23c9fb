#include "app/screen/say.hpp"

#include <cstdio>

#include "core/text.hpp"

namespace cllab::app {

void say(std::string_view text) { std::fprintf(stderr, "cllab: %s\n", sentence(text).c_str()); }

}  // namespace cllab::app

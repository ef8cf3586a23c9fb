#include "app/screen/say.hpp"

#include <unistd.h>

#include <cstdio>

#include "app/screen/streams.hpp"
#include "core/text.hpp"

namespace cllab::app {

void say(std::string_view text) { std::fprintf(stderr, "cllab: %s\n", sentence(text).c_str()); }

void say_doing(const std::string& doing) {
    if (!takes_escapes(STDERR_FILENO)) return;
    std::fprintf(stderr, "\r\033[K%s", printable(doing).c_str());
    std::fflush(stderr);
}

}  // namespace cllab::app

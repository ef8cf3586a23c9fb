// What is longer than the screen goes through the user's pager.
#pragma once

#include <sstream>
#include <streambuf>

namespace cllab::app {

/// Off for --no-pager, and where somebody waits for the next lines.
void allow_pager(bool allowed);

/// While it lives, what results() takes is kept. At its end that is printed: through PAGER (less where it is not set)
/// when standard output is a terminal with fewer lines, else as it is.
class Paged {
public:
    Paged();
    ~Paged();
    Paged(const Paged&) = delete;
    Paged& operator=(const Paged&) = delete;

private:
    std::stringbuf kept_;
    std::streambuf* shown_ = nullptr;  ///< of results(); null where nothing is kept
};

}  // namespace cllab::app

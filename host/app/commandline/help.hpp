// What `cllab help TOPIC` explains beside the commands: each topic fits a screen.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cllab::app {

inline std::size_t help_width = 100;  ///< columns of every page of the help, at most; main() knows the terminal

struct Topic {
    const char *name, *about;
    std::string text() const;  ///< topics/NAME.txt
};

const std::vector<Topic>& topics();

struct ExitStatus {
    int status;
    const char* meaning;
};
extern const std::vector<ExitStatus> exit_statuses;

}  // namespace cllab::app

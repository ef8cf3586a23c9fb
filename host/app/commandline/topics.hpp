// What `cllab help TOPIC` explains beside the commands: each topic fits a screen.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cllab::app {

inline std::size_t help_width = 100;  ///< columns of every page of the help, at most; main() knows the terminal

struct Topic {
    const char *name, *about;
    std::string (*text)();
};

const std::vector<Topic>& topics();

std::string kernel_file_help();
std::string proof_help();
std::string sequences_help();
std::string data_help();

struct ExitStatus {
    int status;
    const char* meaning;
};
extern const std::vector<ExitStatus> exit_statuses;

}  // namespace cllab::app

// Standard output holds results and nothing else. Drivers print what they like to descriptor 1, kernels by printf: from
// keep_stdout() on that goes to standard error, and std::cout writes to where descriptor 1 pointed before.
#pragma once

#include <cstdio>

namespace cllab::app {

/// Called once, before anything else uses the standard streams.
void keep_stdout();
/// The descriptor of the results, for isatty and the like; 1 before keep_stdout().
int results_fd();
/// The results as a C stream; stays open.
std::FILE* results_file();
/// In a child process, whose results go to its parent by other ways: it can print none.
void drop_stdout();

}  // namespace cllab::app

// Standard output holds results and nothing else. Drivers print what they like to descriptor 1, kernels by printf: from
// keep_stdout() on that goes to standard error. So does std::cout, which a driver shares with this process; the results
// have a stream of their own.
#pragma once

#include <cstdio>
#include <ostream>

namespace cllab::app {

/// Called once, before anything else uses the standard streams.
void keep_stdout();
/// Where results are printed.
std::ostream& results();
/// The descriptor of the results, for isatty and the like; 1 before keep_stdout().
int results_fd();
/// The results as a C stream; stays open.
std::FILE* results_file();
/// In a child process, whose results go to its parent by other ways: it can print none.
void drop_stdout();

}  // namespace cllab::app

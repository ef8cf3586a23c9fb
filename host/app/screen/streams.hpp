// Standard input, output and error as a user may leave them: closed, full, no terminal, or one without escape codes.
//
// Standard output holds results and nothing else. Drivers print what they like to descriptor 1, kernels by printf: from
// keep_stdout() on that is held in memory, and goes to standard error before what is said next: each line once, as a
// kernel is launched thousands of times. So does std::cout, which a driver shares with this process; the results have
// a stream of their own.
#pragma once

#include <cstdio>
#include <ostream>
#include <string>
#include <string_view>

namespace cllab::app {

/// Opens what is closed of descriptors 0 to 2, so that no file of the user's gets one of them and a table with it. What
/// was closed cannot be read or written afterwards either. Before anything else is opened.
void open_missing_streams();

/// Called once, before anything else uses the standard streams.
void keep_stdout();
/// In a child process, whose results go to its parent by other ways: it can print none. What its drivers say on
/// standard error goes the way of what they print.
void drop_stdout();

/// Where results are printed.
std::ostream& results();
/// From now on they go to standard error: standard output is for lines that programs read.
void print_results_to_stderr();
/// The descriptor of the results, for isatty and the like; 1 before keep_stdout().
int results_fd();
/// The results as a C stream; stays open.
std::FILE* results_file();
/// Throws Error(environment) when standard output did not take all that was printed.
void require_printed();

/// Prints "cllab: " and the text as core's sentence() has it to standard error: whatever a record, a device or a driver
/// is called, what is said is one line.
void say(std::string_view text);
/// What is being done, on one line of a terminal that the next one takes the place of; empty: clears it.
void say_doing(const std::string& doing);

/// True when the descriptor is a terminal that understands escape codes.
bool takes_escapes(int fd);
/// The results go to such a one, and NO_COLOR is not set.
bool wants_colour();
/// Columns of a page of results: the terminal's. Without one, those of the variable COLUMNS, or `otherwise`: a pipe, a
/// file and a mail read alike.
unsigned page_width(unsigned otherwise = 80);
/// Lines of text for people, wrapped between words at the page's width: 100 columns without a terminal.
std::string wrapped_to_page(const std::string& text);

}  // namespace cllab::app

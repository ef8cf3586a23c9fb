// Standard input, output and error in any state: closed, full, not a terminal, or without escape codes.
//
// Standard output holds results only. Drivers and kernels (printf) print to descriptor 1. After keep_stdout() this
// output is captured in memory. It goes to standard error before the next message. Each line appears once, because a
// kernel is launched thousands of times. Output to std::cout is captured too, because drivers share that stream with
// this process. Results use a separate stream.
#pragma once

#include <cstdio>
#include <ostream>
#include <string>
#include <string_view>

namespace cllab::app {

/// Opens those of descriptors 0 to 2 that are closed, so that no output file gets one of their numbers. They still
/// cannot be read or written. Call this before anything else is opened.
void open_missing_streams();

/// Call once, before the standard streams are used.
void keep_stdout();
/// For a child process, which sends its results to its parent in another way: it can print none. Drivers' messages on
/// its standard error are captured as their output is.
void drop_stdout();

/// The stream for results.
std::ostream& results();
/// Redirects results to standard error, because standard output is used for machine-readable lines.
void print_results_to_stderr();
/// The descriptor of the results, for example for isatty; 1 before keep_stdout().
int results_fd();
/// The results as a C stream; stays open.
std::FILE* results_file();
/// Throws Error(environment) if standard output did not accept everything.
void require_printed();

/// Prints "cllab: " and sentence(text) to standard error, always as one line.
void say(std::string_view text);
/// Prints several lines to standard error, each printable; tabs stay.
void say_lines(const std::string& text);
/// Shows current activity on one terminal line, which the next call replaces. Empty: clears the line.
void say_doing(const std::string& doing);

/// True when the descriptor is a terminal that understands escape codes.
bool takes_escapes(int fd);
/// Whether the results go to such a terminal and NO_COLOR is not set.
bool wants_colour();
/// Width of a page of results in columns: the terminal's. Without a terminal, the variable COLUMNS or `otherwise`, so
/// that pipes and files have the same layout.
unsigned page_width(unsigned otherwise = 80);
/// Text wrapped between words at the page's width; 100 columns without a terminal.
std::string wrapped_to_page(const std::string& text);

}  // namespace cllab::app

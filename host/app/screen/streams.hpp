// Standard input, output and error as a user may leave them: closed, full, no terminal, or one without escape codes.
#pragma once

#include <string>

namespace cllab::app {

/// Opens what is closed of descriptors 0 to 2, so that no file of the user's gets one of them and a table with it. What
/// was closed cannot be read or written afterwards either. Before anything else is opened.
void open_missing_streams();

/// Throws Error(environment) when standard output did not take all that was printed.
void require_printed();

/// True when the descriptor is a terminal that understands escape codes.
bool takes_escapes(int fd);
/// The same, and NO_COLOR is not set.
bool wants_colour(int fd);
/// Columns of a page: the terminal's. Without one, those of the variable COLUMNS, or `otherwise`: a pipe, a file and a
/// mail read alike.
unsigned page_width(int fd, unsigned otherwise = 80);
/// Lines of text for people, wrapped between words at the page's width: 100 columns without a terminal.
std::string wrapped_for(int fd, const std::string& text);

}  // namespace cllab::app

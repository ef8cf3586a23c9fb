// Which options each command has, with their sentences: what --help prints and the parser accepts.
#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

namespace cllab::app {

/// A line of a kernel file's block that may stand on the command line.
struct Statement {
    const char *option, *value, *about;
};
extern const std::vector<Statement> statements;

/// For one of `commands()`.
boost::program_options::options_description options_of(const std::string& command);

}  // namespace cllab::app

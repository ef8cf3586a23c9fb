// The program behind main(), in the library: with headers of its own main.cpp took 4 s to compile.
#pragma once

namespace cllab::app {

/// Carries out the command line; its exit status.
int run_program(int argc, char** argv);

}  // namespace cllab::app

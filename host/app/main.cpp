#include "app/program.hpp"

int main(int argc, char** argv) { return cllab::app::run_program(argc, argv); }

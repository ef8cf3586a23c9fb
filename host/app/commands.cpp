#include "app/commands.hpp"

namespace cllab::app {

Command devices_command();
Command list_command();
Command describe_command();
Command run_command();
Command dump_command();
Command isa_command();
Command why_command();
Command count_command();
Command tune_command();
Command regress_command();
Command profile_command();
Command ncu_command();
Command capture_command();
Command report_command();

const std::vector<Command>& commands() {
    static const std::vector<Command> all{
        devices_command(), list_command(), describe_command(), run_command(),    dump_command(),
        isa_command(),     why_command(),  count_command(),    tune_command(),   regress_command(),
        profile_command(), ncu_command(),  capture_command(),  report_command(),
    };
    return all;
}

}  // namespace cllab::app

// What belongs to a process and must end with it: its folder for temporary files, its descriptors, the tools it runs.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "app/files/outputs.hpp"
#include "app/processes/worker.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "core/reading.hpp"
#include "inspect/tools/tool.hpp"
#include "run/executor.hpp"

namespace fs = std::filesystem;
using namespace cllab;

namespace {

/// A process made by fork that does `work` with the end of a pipe, and sleeps until it is killed.
struct Other {
    template <typename Work>
    explicit Other(const Work& work) {
        pid = fork();
        if (pid == 0) {
            work(pipe.write.number());
            for (;;) pause();
        }
        pipe.write.close();
    }
    ~Other() { end(); }
    std::string said() {
        char text[4096];
        const auto n = ::read(pipe.read.number(), text, sizeof text);
        return std::string(text, n > 0 ? static_cast<std::size_t>(n) : 0);
    }
    void end() {
        if (pid <= 0) return;
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
        pid = 0;
    }
    Pipe pipe;
    pid_t pid;
};

void say(int to, const std::string& text) { [[maybe_unused]] const auto n = ::write(to, text.data(), text.size()); }

/// Within ten seconds, for whatever else this machine does.
template <typename Condition>
bool soon(const Condition& condition) {
    for (int i = 0; i < 1000; ++i) {
        if (condition()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(own_things_test)

BOOST_AUTO_TEST_CASE(folder_of_a_dead_process_is_removed_by_the_next) {
    remove_own_folder();
    Other other([](int to) { say(to, own_folder().string()); });
    const fs::path its = other.said();
    BOOST_TEST_REQUIRE(fs::exists(its));
    std::ofstream(its / "left") << "behind";
    const auto mine = own_folder();
    BOOST_TEST((mine != its && fs::exists(mine) && fs::exists(its)));
    remove_own_folder();
    BOOST_TEST(!fs::exists(mine));
    other.end();
    BOOST_TEST(fs::exists(its));
    own_folder();
    BOOST_TEST(!fs::exists(its));
}

BOOST_AUTO_TEST_CASE(folder_of_a_process_exists_as_long_as_its_child) {
    remove_own_folder();
    Other parent([](int to) {
        own_folder();
        const auto child = fork();
        if (child == 0) {
            for (;;) pause();
        }
        say(to, own_folder().string() + "\n" + std::to_string(child));
    });
    const auto said = parent.said();
    const fs::path its = said.substr(0, said.find('\n'));
    const auto child = std::stoi(said.substr(said.find('\n') + 1));
    parent.end();
    own_folder();
    BOOST_TEST(fs::exists(its));
    kill(child, SIGKILL);
    BOOST_TEST(soon([&] {
        remove_own_folder();
        own_folder();
        return !fs::exists(its);
    }));
}

BOOST_AUTO_TEST_CASE(folder_without_a_lock_is_left_alone) {
    remove_own_folder();
    const auto theirs = fs::temp_directory_path() / ("cllab-run-" + std::to_string(getpid()));
    fs::create_directories(theirs);
    own_folder();
    BOOST_TEST(fs::exists(theirs));
    fs::remove(theirs);
}

BOOST_AUTO_TEST_CASE(a_tool_ends_with_the_process_that_runs_it) {
    const inspect::TempFolder temp;
    const auto number = temp.path() / "number";
    Other other([&](int) {
        inspect::run_tool(*inspect::find_tool({"sh"}), {"-c", "echo $$ >" + number.string() + "; exec sleep 300"},
                          std::chrono::minutes(5));
    });
    std::string tool;
    BOOST_TEST_REQUIRE(soon([&] { return (tool = cllab::read_file(number).value_or("")).ends_with('\n'); }));
    tool.pop_back();
    other.end();
    BOOST_TEST(soon([&] {
        const auto state = cllab::read_file("/proc/" + tool + "/stat").value_or("");
        return state.empty() || state.find(") Z ") != std::string::npos;
    }));
}

BOOST_AUTO_TEST_CASE(tool_with_endless_output_is_stopped_and_fails) {
    const auto result = inspect::run_tool(*inspect::find_tool({"cat"}), {"/dev/zero"}, std::chrono::minutes(5));
    BOOST_TEST(!result.ok());
    BOOST_TEST(!result.timed_out);
    BOOST_TEST(result.failure() == "printed more than 64 MiB");
}

BOOST_AUTO_TEST_CASE(tools_of_a_child_do_not_inherit_the_socket_to_its_parent) {
    app::Worker worker([](app::Link& parent, app::Position&) {
        parent.send_line(std::to_string(fcntl(parent.descriptor(), F_GETFD) & FD_CLOEXEC));
    });
    std::string line;
    BOOST_TEST((worker.next(line, 60) == app::Worker::Event::line));
    BOOST_TEST(line == std::to_string(FD_CLOEXEC));
}

BOOST_AUTO_TEST_CASE(line_lost_to_a_full_disk_leaves_no_gap) {
    const inspect::TempFolder temp;
    const auto path = temp.path() / "r.jsonl";
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    {
        app::OutputFile file(path, "--json");
        file.line("first");
        auto small = before;
        small.rlim_cur = 100;
        setrlimit(RLIMIT_FSIZE, &small);
        BOOST_CHECK_THROW(file.line(std::string(1000, 'x')), Error);
        file.line("second");
        setrlimit(RLIMIT_FSIZE, &before);
    }
    std::signal(SIGXFSZ, handler);
    BOOST_TEST(cllab::read_file(path).value_or("") == "first\nsecond\n");
}

BOOST_AUTO_TEST_CASE(all_waiting_cells_finish_and_the_first_failure_is_thrown) {
    run::FinishQueue endings(true, 1e9);
    std::vector<std::size_t> ended;
    for (std::size_t i = 0; i < 4; ++i)
        endings.add(run::CellRun{.index = i, .state = {}}, [&](run::CellRun& cell) {
            ended.push_back(cell.index);
            if (cell.index == 1 || cell.index == 2) throw Error(Blame::environment, std::to_string(cell.index));
        });
    BOOST_CHECK_EXCEPTION(endings.end_all(), Error, [](const Error& e) { return e.what() == std::string("1"); });
    BOOST_TEST((ended == std::vector<std::size_t>{0, 1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(endless_files_are_not_read) {
    const inspect::TempFolder temp;
    const auto pipe = temp.path() / "pipe";
    BOOST_TEST_REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    BOOST_TEST(reading_fault(pipe).starts_with("it is a named pipe"));
    BOOST_TEST(reading_fault("/dev/zero") == "it is a device, not a file");
    BOOST_TEST(reading_fault(temp.path()) == "Is a directory");
    BOOST_TEST(reading_fault(temp.path() / "absent") == "No such file or directory");
    BOOST_TEST(reading_fault(temp.write("file", {})) == "");
    const Pipe open;
    BOOST_TEST(reading_fault("/proc/self/fd/" + std::to_string(open.read.number())) == "");
    BOOST_TEST(!cllab::read_file(pipe).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

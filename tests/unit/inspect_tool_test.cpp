// The tools that disassemble: what they get and give, and that they end.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "core/error.hpp"
#include "inspect/tools/tool.hpp"

BOOST_AUTO_TEST_SUITE(inspect_tool)

using namespace cllab;
using namespace cllab::inspect;
using namespace std::string_literals;

BOOST_AUTO_TEST_CASE(tool_gets_unchanged_arguments_and_returns_output_and_status) {
    const auto echo = find_tool({"no-such-tool-anywhere", "printf"});
    BOOST_TEST_REQUIRE(echo.has_value());
    const auto result = run_tool(*echo, {"[%s]", "a b; $(c) '\"*"});
    BOOST_TEST(result.ok());
    BOOST_TEST(result.out == "[a b; $(c) '\"*]");
    BOOST_TEST(run_tool(*find_tool({"false"}), {}).status == 1);
    BOOST_TEST(run_tool("/no/such/program", {}).failure() == "could not be started: No such file or directory");
}

BOOST_AUTO_TEST_CASE(output_larger_than_a_pipe_arrives_complete) {
    const auto result = run_tool(*find_tool({"seq"}), {"200000"});
    BOOST_TEST(result.ok());
    BOOST_TEST(result.out.ends_with("\n200000\n"));
}

BOOST_AUTO_TEST_CASE(hanging_tool_is_killed_at_its_limit) {
    const auto begin = std::chrono::steady_clock::now();
    const auto result = run_tool(*find_tool({"sleep"}), {"300"}, std::chrono::milliseconds(100));
    BOOST_TEST(result.timed_out);
    BOOST_TEST(!result.ok());
    BOOST_TEST((std::chrono::steady_clock::now() - begin < std::chrono::seconds(150)));
}

BOOST_AUTO_TEST_CASE(tool_gets_its_whole_time_limit) {
    const std::chrono::milliseconds limit(3);
    for (int i = 0; i < 30; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        BOOST_TEST_REQUIRE(run_tool(*find_tool({"sleep"}), {"300"}, limit).timed_out);
        BOOST_TEST_REQUIRE((std::chrono::steady_clock::now() - begin >= limit));
    }
}

BOOST_AUTO_TEST_CASE(children_of_a_tool_end_when_it_ends_or_hangs) {
    for (const char* end : {"exit 0", "sleep 300"}) {
        const auto begin = std::chrono::steady_clock::now();
        const bool ends = end == "exit 0"s;
        const auto result = run_tool(*find_tool({"sh"}), {"-c", "sleep 310 & echo $!; "s + end},
                                     std::chrono::milliseconds(ends ? 100'000 : 1000));
        BOOST_TEST((std::chrono::steady_clock::now() - begin < std::chrono::seconds(150)));
        BOOST_TEST(result.ok() == ends);
        const auto child = std::stoi("0" + result.out);
        BOOST_TEST_REQUIRE(child > 0);
        // Killed at once, but whoever inherits it reaps it: for a moment it may be a zombie.
        bool gone = false;
        for (int i = 0; i < 3000 && !gone; ++i) {
            const auto state = read_file("/proc/" + std::to_string(child) + "/stat").value_or("");
            gone = state.empty() || state.find(") Z ") != std::string::npos;
            if (!gone) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        BOOST_TEST(gone, "the child of a tool that does '" << end << "' lives on");
    }
}

BOOST_AUTO_TEST_CASE(hanging_tools_share_a_budget_and_leave_time_for_the_next) {
    const auto begin = std::chrono::steady_clock::now();
    const ToolBudget budget(std::chrono::seconds(8));
    const auto limit = std::chrono::minutes(5);
    BOOST_TEST(run_tool(*find_tool({"sleep"}), {"300"}, limit).timed_out);
    BOOST_TEST(run_tool(*find_tool({"echo"}), {"still here"}, limit).out == "still here\n");
    BOOST_TEST(run_tool(*find_tool({"sleep"}), {"300"}, limit).timed_out);
    BOOST_TEST((std::chrono::steady_clock::now() - begin < std::chrono::seconds(150)));
}

BOOST_AUTO_TEST_CASE(missing_temporary_folder_is_reported) {
    const std::string before = std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "";
    ::setenv("TMPDIR", "/no/such/folder", 1);
    const auto fault = temporary_folder_fault();
    BOOST_CHECK_EXCEPTION(TempFolder(), Error, [](const Error& e) { return e.blame() == Blame::environment; });
    if (before.empty())
        ::unsetenv("TMPDIR");
    else
        ::setenv("TMPDIR", before.c_str(), 1);
    BOOST_TEST(fault.starts_with("temporary files cannot be written to TMPDIR=/no/such/folder: "));
    BOOST_TEST(temporary_folder_fault().empty());
}

BOOST_AUTO_TEST_SUITE_END()

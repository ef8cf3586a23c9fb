#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "run/kernel_source.hpp"

BOOST_AUTO_TEST_SUITE(run_kernel_source)

using cllab::run::first_error;
using cllab::run::name_lines;

BOOST_AUTO_TEST_CASE(line_directives_name_the_lines_of_anonymous_text) {
    const std::string text =
        "#line 1 \"lab.h\"\nfirst of lab.h\nsecond\n#line 1 \"pitch.cl\"\nfirst of pitch.cl\nint oops = ;\n";
    BOOST_TEST(name_lines("<kernel>:3:1: warning: w\n<kernel>:6:12: error: expected\nint oops = ;\n", text) ==
               "lab.h:2:1: warning: w\npitch.cl:2:12: error: expected\nint oops = ;\n");
}

BOOST_AUTO_TEST_CASE(unknown_lines_and_other_logs_stay_unchanged) {
    const std::string text = "#line 1 \"a.cl\"\none\n";
    for (const std::string log :
         {"<kernel>:99:1: error", "<kernel>:0: error", "<kernel>: error", "<kernel>:", "a.cl:1:2: error", ""})
        BOOST_TEST(name_lines(log, text) == log);
}

BOOST_AUTO_TEST_CASE(family_header_comes_from_the_folder_or_the_embedded_text) {
    namespace fs = std::filesystem;
    using cllab::run::kernel_source;
    BOOST_TEST(kernel_source("saxpy", {}).text.find("\"saxpy.h\"") == std::string::npos);
    const auto embedded = kernel_source("gemm", {}).text;
    BOOST_TEST(embedded.find("#line 1 \"lab.h\"\n") == 0u);
    BOOST_TEST(embedded.find("#line 1 \"gemm.h\"\n") < embedded.find("#line 1 \"gemm.cl\"\n"));

    const auto folder = fs::temp_directory_path() / ("cllab-source-" + std::to_string(getpid()));
    fs::create_directories(folder / "include");
    std::ofstream(folder / "gemm.cl") << "int text;\n";
    BOOST_TEST(kernel_source("gemm", folder).text.ends_with("\nint text;\n"));
    BOOST_TEST(kernel_source("gemm", folder).text.find("point_sources") != std::string::npos,
               "what is not in the folder is embedded");
    std::ofstream(folder / "include" / "gemm.h") << "int header;\n";
    BOOST_TEST(kernel_source("gemm", folder).text.find("#line 1 \"gemm.h\"\nint header;\n") != std::string::npos);
    BOOST_TEST(kernel_source("gemm", folder).text.find("point_sources") == std::string::npos);
    fs::remove_all(folder);
}

BOOST_AUTO_TEST_CASE(variant_header_follows_that_of_its_family) {
    using cllab::run::kernel_source;
    const auto& gemm = *cllab::model::select(cllab::model::registry(), {"gemm"}).front().experiment;
    for (const auto& variant : gemm.variants) {
        const auto text = kernel_source(gemm, variant, {}).text;
        const auto family = text.find("#line 1 \"gemm.h\"\n"), own = text.find("#line 1 \"gemm_pipelined.h\"\n");
        BOOST_TEST(family < text.find("#line 1 \"gemm.cl\"\n"), variant.name);
        BOOST_TEST((own != std::string::npos) == (variant.name == "pipelined"), variant.name);
        if (own != std::string::npos) BOOST_TEST(family < own);
    }
}

BOOST_AUTO_TEST_CASE(reason_is_the_first_error_never_a_warning) {
    BOOST_TEST(first_error("a.cl:3:9: warning: 'X' macro redefined [-Wmacro-redefined]\n"
                           "error.cl:4:1: warning: error is a poor name\n1 warning generated.\n"
                           "a.cl:5:1: error: no such thing\n") == "a.cl:5:1: error: no such thing");
    BOOST_TEST(first_error("a.cl:3:9: warning: odd\n1 warning generated.\nthe tool ended\n") == "the tool ended");
    BOOST_TEST(first_error("Build succeeded.\n") == "the compiler gives no reason");
    BOOST_TEST(first_error("1 warning and 1 error generated.\n") == "the compiler gives no reason");
    BOOST_TEST(first_error("Error(s) while linking:\n\nundefined f\n") == "Error(s) while linking: undefined f");
    BOOST_TEST(first_error("") == "");
}

BOOST_AUTO_TEST_SUITE_END()

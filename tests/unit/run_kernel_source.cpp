#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include <boost/test/unit_test.hpp>

#include "run/kernel_source.hpp"

BOOST_AUTO_TEST_SUITE(run_kernel_source)

using cllab::run::name_lines;

BOOST_AUTO_TEST_CASE(the_lines_of_an_anonymous_text_are_named_by_its_line_directives) {
    const std::string text = "#line 1 \"lab.h\"\nfirst of lab.h\nsecond\n#line 1 \"pitch.cl\"\nfirst of pitch.cl\nint oops = ;\n";
    BOOST_TEST(name_lines("<kernel>:3:1: warning: w\n<kernel>:6:12: error: expected\nint oops = ;\n", text) ==
               "lab.h:2:1: warning: w\npitch.cl:2:12: error: expected\nint oops = ;\n");
}

BOOST_AUTO_TEST_CASE(a_line_that_the_text_does_not_have_and_any_other_log_stay_as_they_are) {
    const std::string text = "#line 1 \"a.cl\"\none\n";
    for (const std::string log : {"<kernel>:99:1: error", "<kernel>:0: error", "<kernel>: error", "<kernel>:", "a.cl:1:2: error", ""})
        BOOST_TEST(name_lines(log, text) == log);
}

BOOST_AUTO_TEST_SUITE_END()

#include <boost/test/unit_test.hpp>

#include "app/screen/streams.hpp"

BOOST_AUTO_TEST_SUITE(progress)

using cllab::app::progress_line;

BOOST_AUTO_TEST_CASE(a_line_says_what_runs_how_many_are_done_and_the_time_left) {
    BOOST_TEST(progress_line(0, 13, "pitch_wide", "H200", "build", 5) == "[1/13] pitch_wide on H200: build");
    BOOST_TEST(progress_line(2, 13, "pitch_wide", "H200", "sample", 8) ==
               "[3/13] pitch_wide on H200: sample, about 40 s left");
    BOOST_TEST(progress_line(12, 13, "pitch_wide", "H200", "sample", 12) ==
               "[13/13] pitch_wide on H200: sample, about 1 s left");
    BOOST_TEST(progress_line(1, 100, "a", "b", "sample", 2) == "[2/100] a on b: sample, about 3 min left");
    BOOST_TEST(progress_line(1, 1001, "a", "b", "sample", 7.3) == "[2/1001] a on b: sample, about 2 h left");
}

BOOST_AUTO_TEST_SUITE_END()

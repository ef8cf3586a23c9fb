#include <boost/test/unit_test.hpp>

#include "app/screen/progress.hpp"

BOOST_AUTO_TEST_SUITE(progress)

using cllab::app::progress_line;

BOOST_AUTO_TEST_CASE(progress_line_has_kernel_counts_and_remaining_time) {
    BOOST_TEST(progress_line(0, 0, 13, "pitch_wide", "H200", "build", 5) == "[0 of 13 done] pitch_wide: build, on H200");
    BOOST_TEST(progress_line(2, 0, 13, "pitch_wide", "H200", "sample", 8) ==
               "[2 of 13 done] pitch_wide: sample, about 40 s left, on H200");
    // All of a comparison are built and verified before the first is done.
    BOOST_TEST(progress_line(0, 4, 4, "a", "b", "sample", 20) == "[0 of 4 done] a: sample, about 20 s left, on b");
    BOOST_TEST(progress_line(1, 0, 100, "a", "b", "sample", 2) == "[1 of 100 done] a: sample, about 3 min left, on b");
    BOOST_TEST(progress_line(1, 0, 1001, "a", "b", "sample", 7.3) == "[1 of 1001 done] a: sample, about 2 h left, on b");
    // What ends soon needs no forecast.
    BOOST_TEST(progress_line(2, 0, 4, "a", "b", "sample", 4) == "[2 of 4 done] a: sample, on b");
}

BOOST_AUTO_TEST_SUITE_END()

// Which samples count when the clock drifts.
#include <boost/test/unit_test.hpp>

#include "run/measure.hpp"

BOOST_AUTO_TEST_SUITE(drift)

using cllab::run::DriftFilter;

namespace {

/// The references, with `samples` samples after each but the last; the samples are 1, 2, 3 ...
DriftFilter blocks(const std::vector<double>& references, unsigned samples, unsigned wanted = 20) {
    DriftFilter out(wanted);
    double next = 1;
    for (std::size_t i = 0; i < references.size(); ++i) {
        out.reference(references[i]);
        for (unsigned k = 0; k < samples && i + 1 < references.size(); ++k) out.sample(next++, 0);
    }
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(without_a_reference_every_sample_counts) {
    DriftFilter filter(20);
    filter.sample(1, 0);
    filter.sample(2, 0);
    filter.conclude();
    BOOST_TEST(filter.used() == (std::vector<double>{1, 2}), boost::test_tools::per_element());
    BOOST_TEST(filter.spread() == 0);
    BOOST_TEST(!filter.throttled());
}

BOOST_AUTO_TEST_CASE(clock_within_10_percent_costs_no_sample) {
    const auto filter = blocks({1.0, 1.09, 0.92, 1.0}, 4);
    BOOST_TEST(filter.used().size() == 12u);
    BOOST_TEST(filter.aside().empty());
    BOOST_TEST(filter.references() == 4u);
    BOOST_TEST(filter.spread() == 0.17, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(the_blocks_on_both_sides_of_a_slow_reference_are_set_aside) {
    const auto filter = blocks({1.0, 1.0, 1.3, 1.0, 1.0}, 2);
    BOOST_TEST(filter.used() == (std::vector<double>{1, 2, 7, 8}), boost::test_tools::per_element());
    BOOST_TEST(filter.aside() == (std::vector<double>{3, 4, 5, 6}), boost::test_tools::per_element());
    BOOST_TEST(filter.spread() == 0);  // beside what counts the clock was steady
}

BOOST_AUTO_TEST_CASE(a_fast_reference_is_drift_too) {
    BOOST_TEST(blocks({1.0, 1.0, 0.8, 1.0, 1.0}, 2).aside().size() == 4u);
}

BOOST_AUTO_TEST_CASE(later_references_reclassify_a_block) {
    DriftFilter filter(20);
    for (const double seconds : {1.3, 1.0, 1.0}) {  // the median of the first two blames both
        filter.reference(seconds);
        filter.sample(seconds, 0);
    }
    BOOST_TEST(filter.used() == (std::vector<double>{1.0, 1.0}), boost::test_tools::per_element());
    BOOST_TEST(filter.aside() == (std::vector<double>{1.3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(samples_after_a_slow_reference_wait_for_the_next_one) {
    auto filter = blocks({1.0, 1.0, 1.0, 1.3}, 2);
    const auto before = filter.used().size();
    filter.sample(99, 0);
    BOOST_TEST(filter.used().size() == before);
    BOOST_TEST(filter.aside().back() == 99);
}

BOOST_AUTO_TEST_CASE(all_samples_count_when_too_many_would_be_set_aside) {
    // Every second reference is slow, so every block is beside one.
    std::vector<double> references;
    for (int i = 0; i < 7; ++i) references.push_back(i % 2 ? 1.5 : 1.0);
    const auto within = blocks(references, 2, 4);
    BOOST_TEST(within.aside().size() == 12u);
    BOOST_TEST(!within.throttled());
    references.push_back(1.5);
    references.push_back(1.0);
    const auto beyond = blocks(references, 2, 4);
    BOOST_TEST(beyond.throttled());
    BOOST_TEST(beyond.aside().empty());
    BOOST_REQUIRE(beyond.used().size() == 16u);
    for (std::size_t i = 0; i < 16; ++i) BOOST_TEST(beyond.used()[i] == static_cast<double>(i + 1));
}

BOOST_AUTO_TEST_CASE(once_throttled_every_later_sample_counts) {
    auto filter = blocks({1.0, 1.5, 1.0, 1.5, 1.0}, 2, 1);
    BOOST_REQUIRE(filter.throttled());
    filter.reference(2.0);
    filter.sample(99, 0);
    filter.reference(2.0);
    BOOST_TEST(filter.used().back() == 99);
}

BOOST_AUTO_TEST_CASE(filter_always_keeps_some_samples) {
    auto filter = blocks({1.0, 1.5, 1.0}, 2);
    BOOST_TEST(filter.used().empty());
    filter.conclude();
    BOOST_TEST(filter.throttled());
    BOOST_TEST(filter.used().size() == 4u);
    auto enough = blocks({1.0, 1.0, 1.0, 1.5, 1.0}, 2);
    enough.conclude();
    BOOST_TEST(!enough.throttled());
    BOOST_TEST(enough.used().size() == 4u);
}

BOOST_AUTO_TEST_CASE(giving_up_without_samples_set_aside_is_no_throttling) {
    auto filter = blocks({1.0, 1.0}, 3);
    filter.give_up();
    BOOST_TEST(!filter.throttled());
}

BOOST_AUTO_TEST_SUITE_END()

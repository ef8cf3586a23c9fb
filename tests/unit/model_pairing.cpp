#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <vector>

#include "core/random.hpp"
#include "model/pairing.hpp"

using namespace cllab;
using model::pair_up;
using model::Verdict;

namespace {

/// `n` times around `middle`, each off by at most `spread` of it, times the drift of its round.
std::vector<double> times(std::size_t n, double middle, double spread, std::uint64_t seed, double drift = 0) {
    Random random(seed);
    std::vector<double> out;
    for (std::size_t i = 0; i < n; ++i) {
        const double noise = 2 * static_cast<double>(random() >> 11) * 0x1p-53 - 1;
        out.push_back(middle * (1 + spread * noise) * (1 + drift * std::sin(0.1 * static_cast<double>(i))));
    }
    return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(model_pairing)

BOOST_AUTO_TEST_CASE(a_difference_of_five_per_cent_is_seen_through_a_shared_drift_of_forty) {
    const auto p = pair_up(times(80, 1.00e-3, 0.01, 1, 0.4), times(80, 1.05e-3, 0.01, 2, 0.4));
    BOOST_TEST((p.verdict == Verdict::faster));
    BOOST_TEST(p.ratio == 1 / 1.05, boost::test_tools::tolerance(0.01));
    BOOST_TEST(p.low <= p.ratio);
    BOOST_TEST(p.high >= p.ratio);
    BOOST_TEST(p.rounds == 80u);
    const auto turned = pair_up(times(80, 1.05e-3, 0.01, 2, 0.4), times(80, 1.00e-3, 0.01, 1, 0.4));
    BOOST_TEST((turned.verdict == Verdict::slower));
}

BOOST_AUTO_TEST_CASE(equal_times_are_the_same_and_never_a_win) {
    for (std::uint64_t seed = 1; seed < 40; ++seed) {
        const auto p = pair_up(times(80, 1e-3, 0.01, seed), times(80, 1e-3, 0.01, 1000 + seed));
        BOOST_TEST((p.verdict == Verdict::same || p.verdict == Verdict::ambiguous));
    }
}

BOOST_AUTO_TEST_CASE(a_difference_smaller_than_a_variants_own_from_round_to_round_is_no_win) {
    // Every second round is 10 % slower, of both alike: what is 3 % apart there is not told apart.
    std::vector<double> left, right;
    for (int i = 0; i < 40; ++i) {
        const double state = i % 2 ? 1.1 : 1.0;
        left.push_back(1e-3 * state);
        right.push_back(1.03e-3 * state);
    }
    const auto p = pair_up(left, right);
    BOOST_TEST(p.floor == 0.1, boost::test_tools::tolerance(0.01));
    BOOST_TEST((p.verdict == Verdict::same));
}

BOOST_AUTO_TEST_CASE(noise_wider_than_the_difference_and_too_few_rounds_are_ambiguous) {
    BOOST_TEST((pair_up(times(20, 1e-3, 0.4, 3), times(20, 1.02e-3, 0.4, 4)).verdict == Verdict::ambiguous));
    BOOST_TEST((pair_up(times(5, 1e-3, 0.01, 3), times(5, 2e-3, 0.01, 4)).verdict == Verdict::ambiguous));
    BOOST_TEST((pair_up({}, {}).verdict == Verdict::ambiguous));
}

BOOST_AUTO_TEST_CASE(the_rounds_of_a_variant_that_ended_early_bound_the_comparison) {
    const auto p = pair_up(times(20, 1e-3, 0.001, 5), times(40, 2e-3, 0.001, 6));
    BOOST_TEST(p.rounds == 20u);
    BOOST_TEST(p.ratio == 0.5, boost::test_tools::tolerance(0.01));
}

BOOST_AUTO_TEST_SUITE_END()

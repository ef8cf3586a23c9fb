#include <boost/test/unit_test.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "compare/verdict.hpp"
#include "core/random.hpp"
#include "unit/noise.hpp"

BOOST_AUTO_TEST_SUITE(compare_verdict, *boost::unit_test::label("simulation"))

using namespace cllab;
using namespace cllab::compare;
using boost::test_tools::tolerance;
using namespace cllab::test;
using model::Verdict;

namespace {

/// Arrangements are added one by one until `enough` or `most`, as a comparison does it.
std::vector<double> taken(Random& random, unsigned most, const Draw& draw) {
    std::vector<double> out;
    while (out.size() < most && !enough(out)) out.push_back(draw(random));
    return out;
}

/// The share of `trials` intervals that hold `truth`.
double coverage_of(unsigned trials, unsigned n, double coverage, double truth, const Draw& draw) {
    Random random(7);
    unsigned held = 0;
    for (unsigned t = 0; t < trials; ++t) {
        const auto e = estimate(sample(random, n, draw), coverage);
        BOOST_REQUIRE(e.covered());
        held += e.low <= std::exp(truth) && std::exp(truth) <= e.high;
    }
    return static_cast<double>(held) / trials;
}

/// Of `trials` comparisons with a control: the share that says `verdict`.
double share_of(Verdict verdict, unsigned trials, unsigned most, const Draw& draw, const Draw& control) {
    Random random(11);
    unsigned said = 0;
    for (unsigned t = 0; t < trials; ++t) {
        const auto ratios = taken(random, most, draw);
        const auto own = sample(random, static_cast<unsigned>(ratios.size()), control);
        said += judge(ratios, own, false).verdict == verdict;
    }
    return static_cast<double>(said) / trials;
}

double winners(unsigned trials, unsigned most, const Draw& draw, const Draw& control) {
    return share_of(Verdict::faster, trials, most, draw, control) +
           share_of(Verdict::slower, trials, most, draw, control);
}

}  // namespace

BOOST_AUTO_TEST_CASE(signed_rank_distribution_matches_the_tables) {
    // Hollander, Wolfe, Chicken, table A.4: P(W >= 36) = 0.004 for n = 8, P(W >= 21) = 0.016 for n = 6; and by
    // counting.
    BOOST_TEST(signed_rank_below(8, 0) == 1.0 / 256, tolerance(1e-12));
    BOOST_TEST(signed_rank_below(6, 0) == 1.0 / 64, tolerance(1e-12));
    BOOST_TEST(signed_rank_below(4, 3) == 5.0 / 16, tolerance(1e-12));  // {}, 1, 2, 3, 1+2 of 16 sign patterns
    BOOST_TEST(signed_rank_below(10, 8) == 25.0 / 1024, tolerance(1e-12));
    BOOST_TEST(signed_rank_below(10, 55) == 1.0, tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(too_few_replicates_give_no_interval_and_no_verdict) {
    const std::vector<double> logs{0.1, 0.11, 0.12, 0.1, 0.11, 0.12, 0.13};
    BOOST_TEST(!estimate(logs, 0.99).covered());
    BOOST_TEST(estimate(logs, 0.95).covered());
    BOOST_TEST(!estimate(std::span(logs).first(5), 0.95).covered());
    BOOST_TEST((judge(std::span(logs).first(6), {}, false).verdict == Verdict::undecided));
    BOOST_TEST(!enough(logs));
    BOOST_TEST(estimate({}, 0.95).n == 0u);
    BOOST_TEST(std::isinf(estimate(logs, 0.99).half_width()));
}

BOOST_AUTO_TEST_CASE(stated_interval_covers_under_symmetric_noise) {
    // 1500 trials: the share is known to within 0.007 at 0.99, 0.015 at 0.95 (two standard errors and a half).
    for (const unsigned n : {8u, 13u, 24u}) {
        for (const auto& draw : {normal(0.02, 0.01), heavy(0.02, 0.005), bimodal(0.02, 0.05, 0.002)}) {
            BOOST_TEST_CONTEXT("n = " << n) {
                BOOST_TEST(coverage_of(1500, n, 0.99, 0.02, draw) >= 0.983);
                BOOST_TEST(coverage_of(1500, n, 0.95, 0.02, draw) >= 0.935);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(every_interval_from_three_replicates_on_covers_as_stated) {
    for (unsigned n = 3; n <= 30; n += n < 12 ? 1 : 9) {
        for (const double asked : {0.95, 0.99}) {
            BOOST_TEST_CONTEXT("n = " << n << ", asked " << asked) {
                Random random(n);
                const auto e = estimate(sample(random, n, normal(0, 0.01)), asked);
                BOOST_TEST(e.covered() == (n >= (asked > 0.95 ? 8u : 6u)));
                if (!e.covered()) continue;
                BOOST_TEST(e.coverage >= asked);
                // Two standard errors and a half below what is printed.
                BOOST_TEST(coverage_of(400, n, asked, 0.03, heavy(0.03, 0.01)) >=
                           e.coverage - 2.5 * std::sqrt(e.coverage * (1 - e.coverage) / 400));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(interval_covers_when_sampling_stops_on_its_width) {
    for (const auto& draw : {normal(0.02, 0.008), heavy(0.02, 0.004), bimodal(0.02, 0.01, 0.002)}) {
        Random random(13);
        unsigned held = 0;
        for (unsigned t = 0; t < 600; ++t) {
            const auto e = estimate(taken(random, 40, draw), 0.99);
            held += e.low <= std::exp(0.02) && std::exp(0.02) <= e.high;
        }
        BOOST_TEST(held >= 0.975 * 600);
    }
}

BOOST_AUTO_TEST_CASE(drift_between_replicates_makes_no_winner) {
    // Whoever goes first is slower, by more and more: the random order makes a sign of it.
    unsigned named = 0;
    Random random(17);
    for (unsigned t = 0; t < 400; ++t) {
        std::vector<double> ratios, own;
        while (ratios.size() < 30 && !enough(ratios)) {
            const double bias = 0.002 * static_cast<double>(ratios.size());
            ratios.push_back(biased_by_side(bias, 0.003)(random));
            own.push_back(biased_by_side(bias, 0.003)(random));
        }
        const auto verdict = judge(ratios, own, false).verdict;
        named += verdict == Verdict::faster || verdict == Verdict::slower;
    }
    BOOST_TEST(named <= 4u);
}

BOOST_AUTO_TEST_CASE(interval_is_no_wider_than_its_coverage_requires) {
    BOOST_TEST(coverage_of(1500, 20, 0.95, 0, normal(0, 0.01)) <= 0.97);
    Random random(3);
    const auto e = estimate(sample(random, 200, normal(std::log(1.05), 0.01)), 0.95);
    BOOST_TEST(e.ratio == 1.05, tolerance(0.002));
    BOOST_TEST(e.half_width() <= 0.002);
}

BOOST_AUTO_TEST_CASE(false_winners_of_equal_kernels_stay_below_1_percent) {
    // 2 % noise per arrangement, with and without wild ones, a bias of 6 % of the side prepared first, two placements
    // 10 % apart.
    BOOST_TEST(winners(500, 30, normal(0, 0.02), normal(0, 0.02)) <= 0.01);
    BOOST_TEST(winners(500, 30, normal(0, 0.004), normal(0, 0.004)) <= 0.002);
    BOOST_TEST(winners(500, 30, heavy(0, 0.01), heavy(0, 0.01)) <= 0.01);
    BOOST_TEST(winners(500, 30, biased_by_side(0.06, 0.002), normal(0, 0.002)) <= 0.01);
    BOOST_TEST(winners(500, 30, bimodal(0, 0.1, 0.002), normal(0, 0.002)) <= 0.01);
}

BOOST_AUTO_TEST_CASE(false_winners_stay_below_1_percent_in_heavy_noise) {
    const auto named = [](unsigned n, const Draw& draw) {
        constexpr unsigned trials = 3000;
        Random random(n);
        unsigned out = 0;
        for (unsigned t = 0; t < trials; ++t) {
            const auto verdict = judge(sample(random, n, draw), sample(random, n, draw), false).verdict;
            out += verdict == Verdict::faster || verdict == Verdict::slower;
        }
        return static_cast<double>(out) / trials;
    };
    for (const unsigned n : {8u, 9u, 10u, 12u, 16u})
        for (const auto& draw : {normal(0, 0.05), heavy(0, 0.05), bimodal(0, 0.06, 0.002)}) {
            BOOST_TEST_CONTEXT("n = " << n) { BOOST_TEST(named(n, draw) <= 0.01); }
        }
}

BOOST_AUTO_TEST_CASE(differences_of_2_and_5_percent_are_found) {
    BOOST_TEST(share_of(Verdict::slower, 400, 20, normal(std::log(1.02), 0.01), normal(0, 0.01)) >= 0.95);
    BOOST_TEST(share_of(Verdict::slower, 400, 20, normal(std::log(1.05), 0.02), normal(0, 0.02)) >= 0.99);
    BOOST_TEST(share_of(Verdict::faster, 400, 20, normal(-std::log(1.05), 0.02), normal(0, 0.02)) >= 0.99);
}

BOOST_AUTO_TEST_CASE(difference_between_equal_builds_sets_the_floor_of_winners) {
    const std::vector<double> three(12, 0.03), four(12, 0.04), none(12, 0.0);
    BOOST_TEST((judge(three, none, false).verdict == Verdict::slower));
    BOOST_TEST((judge(three, four, false).verdict != Verdict::slower));
    BOOST_TEST(judge(three, four, false).floor == std::exp(0.04) - 1, tolerance(1e-9));
    BOOST_TEST(judge(three, {}, false).floor == 0.005, tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(equal_machine_code_has_no_winner_whatever_the_times) {
    const std::vector<double> half(12, std::log(0.5));
    BOOST_TEST((judge(half, {}, true).verdict == Verdict::same_code));
    BOOST_TEST(judge(half, {}, true).ratio.ratio == 0.5, tolerance(1e-9));
    BOOST_TEST((judge(half, {}, false).verdict == Verdict::faster));
}

BOOST_AUTO_TEST_CASE(same_states_its_margin_and_wide_intervals_are_undecided) {
    Random random(5);
    const auto near = judge(sample(random, 20, normal(0.001, 0.003)), {}, false);
    BOOST_TEST((near.verdict == Verdict::same));
    BOOST_TEST(near.within > 0.0);
    BOOST_TEST(near.within <= 0.02);
    BOOST_TEST((judge(sample(random, 10, normal(0, 0.08)), {}, false).verdict == Verdict::undecided));
}

BOOST_AUTO_TEST_CASE(one_outlier_of_ten_moves_neither_estimate_nor_verdict) {
    std::vector<double> logs(10, std::log(1.03));
    for (std::size_t i = 0; i < logs.size(); ++i) logs[i] += 0.001 * (static_cast<double>(i) - 4.5);
    logs.back() = std::log(3.0);
    const auto j = judge(logs, {}, false);
    BOOST_TEST(j.ratio.ratio == 1.03, tolerance(0.003));
}

BOOST_AUTO_TEST_CASE(sampling_time_balances_samples_and_number_of_replicates) {
    BOOST_TEST(sampling_seconds(0.1, 10) == 0.3, tolerance(1e-9));
    BOOST_TEST(sampling_seconds(0.2, 10) == 10.0 / 16 - 0.2, tolerance(1e-9));
    BOOST_TEST(sampling_seconds(0.4, 10) == 0.4, tolerance(1e-9));
    BOOST_TEST(sampling_seconds(0.5, 10) == 10.0 / 11 - 0.5, tolerance(1e-9));
    BOOST_TEST(sampling_seconds(0.8, 10) == 0.4, tolerance(1e-9));
    // Eight of 3.75 s are the three times 10 s that a slow driver may take.
    BOOST_TEST(sampling_seconds(3, 10) == 0.75, tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(sufficient_sampling_time_shrinks_as_replicates_agree) {
    std::vector<model::Arrangement> all(4);
    for (auto& a : all) a.error = 0.003;
    const std::vector<double> seconds(4, 0.1);
    // Twice as well as 0.15 %, which is 0.3 of the half-width wanted, takes four times as long.
    BOOST_TEST(sampling_that_suffices(all, seconds, {}) == 0.4, tolerance(1e-9));
    for (auto& a : all) a.error = 0.0003;
    BOOST_TEST(sampling_that_suffices(all, seconds, {}) == 0.004, tolerance(1e-9));
    all.back().error = 1;  // one that was spoiled
    BOOST_TEST(sampling_that_suffices(all, seconds, {}) < 10.0);
    BOOST_TEST(std::isinf(sampling_that_suffices(std::span(all).first(1), seconds, {})));
    Rules precise;
    precise.precise = 0.0025;
    all.pop_back();
    BOOST_TEST(sampling_that_suffices(all, seconds, precise) == 0.016, tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(fewer_cores_on_one_side_do_not_make_it_slower) {
    const auto judged = [](double ratio, double left, double right) {
        std::vector<model::Arrangement> all;
        for (int i = 0; i < 12; ++i) {
            model::Arrangement a;
            a.log_ratio = std::log(ratio) + 0.002 * (i % 3 - 1);
            a.error = 0.002;
            a.left_cores = left;
            a.right_cores = right;
            all.push_back(a);
        }
        return compare::judge(compare::ratios_of(all), compare::controls_of({}), false);
    };
    using model::Verdict;
    BOOST_TEST((judged(1.8, 1, 1).verdict == Verdict::slower));
    BOOST_TEST((judged(1.8, 0.5, 0.55).verdict == Verdict::slower));  // both lacked as much
    BOOST_TEST((judged(1.8, 0.5, 1).verdict == Verdict::undecided));
    BOOST_TEST((judged(2.2, 0.5, 1).verdict == Verdict::slower));
    BOOST_TEST((judged(1.0, 1, 0.5).verdict == Verdict::undecided));  // right may take half with all of its cores
    BOOST_TEST((judged(0.5, 1, 0.45).verdict == Verdict::undecided));
    BOOST_TEST(judged(1.8, 0.5, 1).ratio.low == 0.9, boost::test_tools::tolerance(0.02));
}

BOOST_AUTO_TEST_SUITE_END()

// What rounds and arrangements say, on synthetic data with known answers.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "compare/verdict.hpp"
#include "core/random.hpp"

BOOST_AUTO_TEST_SUITE(compare_evidence, *boost::unit_test::label("simulation"))

using namespace cllab;
using namespace cllab::compare;
using boost::test_tools::tolerance;
using model::Verdict;

namespace {

using Samples = std::vector<double>;

Differences::Centre centre_of(const Samples& left, const Samples& right) {
    Differences out;
    const std::vector<Turns> ours{{left, {}}}, theirs{{right, {}}};
    out.add(ours, theirs);
    return out.centre();
}

/// Two cells on a host where, for some rounds at a time, another process makes what runs take twice as long.
std::pair<Samples, Samples> beside_another_process(Random& random, unsigned rounds, double ratio, double noise) {
    std::pair<Samples, Samples> out;
    std::normal_distribution<double> normal(0, noise);
    bool busy = false;
    const auto sample = [&](double seconds) {
        if (random() % 4 == 0) busy = !busy;
        return seconds * std::exp(normal(random)) * (busy ? 2 : 1);
    };
    for (unsigned i = 0; i < rounds; ++i) {
        // ABBA
        double l = 0, r = 0;
        if (i % 2 == 0)
            l = sample(ratio * 1e-3), r = sample(1e-3);
        else
            r = sample(1e-3), l = sample(ratio * 1e-3);
        out.first.push_back(l);
        out.second.push_back(r);
    }
    return out;
}

/// The same where both threads of the driver sometimes share a core for a sample: half of the samples take twice as
/// long, at random.
std::pair<Samples, Samples> on_one_core_or_two(Random& random, unsigned rounds, double ratio) {
    std::pair<Samples, Samples> out;
    std::normal_distribution<double> normal(0, 0.01);
    const auto sample = [&](double seconds) { return seconds * std::exp(normal(random)) * (random() & 1 ? 2 : 1); };
    for (unsigned i = 0; i < rounds; ++i) {
        out.first.push_back(sample(ratio * 1e-3));
        out.second.push_back(sample(1e-3));
    }
    return out;
}

/// Arrangements of which every third is twenty times as far off as the others, with an error each that says so or one
/// that says nothing.
Evidence spoiled_now_and_then(Random& random, unsigned n, double centre, bool errors_say) {
    Evidence out;
    std::normal_distribution<double> normal(0, 1);
    for (unsigned i = 0; i < n; ++i) {
        const double scale = random() % 3 == 0 ? 0.06 : 0.003;
        out.log_ratios.push_back(centre + scale * normal(random));
        // Known no better than to a factor of two.
        out.errors.push_back(errors_say ? scale * std::exp(0.35 * normal(random)) : std::exp(normal(random)));
    }
    return out;
}

double share(unsigned trials, const std::function<bool(Random&)>& holds) {
    Random random(23);
    unsigned held = 0;
    for (unsigned t = 0; t < trials; ++t) held += holds(random);
    return static_cast<double>(held) / trials;
}

bool names_winner(const Evidence& evidence, const Evidence& control) {
    const auto verdict = judge(evidence, control, false).verdict;
    return verdict == Verdict::faster || verdict == Verdict::slower;
}

}  // namespace

BOOST_AUTO_TEST_CASE(replicate_ratio_is_the_median_of_its_rounds_despite_drift) {
    Samples left, right;
    for (int i = 0; i < 41; ++i) {
        const double drift = 1 + 0.2 * std::sin(0.05 * i);
        left.push_back(1.05e-3 * drift);
        right.push_back(1e-3 * drift);
    }
    left[3] *= 10;       // preempted
    right.push_back(7);  // one side sampled once more
    BOOST_TEST(centre_of(left, right).log_ratio == std::log(1.05), tolerance(1e-9));
    BOOST_TEST(std::isnan(centre_of({}, right).log_ratio));
    BOOST_TEST(std::isnan(centre_of({0, -1}, {1, 1}).log_ratio));  // differences of two times may be negative
}

BOOST_AUTO_TEST_CASE(samples_are_paired_by_their_round_numbers) {
    // Rounds 2, 3 and 9 are lost on one side; every round takes ten times as long as the one before it but one.
    Samples left, right;
    std::vector<unsigned> of_left, of_right;
    for (unsigned round = 0; round < 12; ++round) {
        const double seconds = 1e-3 * std::pow(10, round / 2);
        left.push_back(1.1 * seconds);
        of_left.push_back(round);
        if (round == 2 || round == 3 || round == 9) continue;
        right.push_back(seconds);
        of_right.push_back(round);
    }
    Differences both;
    const std::vector<Turns> ours{{left, of_left}}, theirs{{right, of_right}};
    both.add(ours, theirs);
    BOOST_TEST(both.centre().log_ratio == std::log(1.1), tolerance(1e-9));
    BOOST_TEST(both.centre().error < 1e-9);
}

BOOST_AUTO_TEST_CASE(swapping_the_sides_only_changes_the_sign) {
    Random random(5);
    for (const unsigned rounds : {2u, 7u, 40u}) {
        const auto [left, right] = beside_another_process(random, rounds, 1.03, 0.01);
        const auto one = centre_of(left, right), other = centre_of(right, left);
        BOOST_TEST(one.log_ratio == -other.log_ratio, tolerance(1e-9));
        BOOST_TEST(one.error == other.error, tolerance(1e-9));
        BOOST_TEST(one.error > 0.0);
    }
}

BOOST_AUTO_TEST_CASE(error_of_a_replicate_matches_the_spread_of_replicates) {
    for (const double noise : {0.003, 0.03}) {
        Random random(31);
        std::vector<double> off, errors;
        for (int i = 0; i < 400; ++i) {
            const auto [left, right] = beside_another_process(random, 40, 1.02, noise);
            const auto [log_ratio, error] = centre_of(left, right);
            off.push_back(std::abs(log_ratio - std::log(1.02)));
            errors.push_back(error);
        }
        std::sort(off.begin(), off.end());
        std::sort(errors.begin(), errors.end());
        // Two thirds of a standard error is the median of what is off. One pair of cells a round gives less than four
        // do, so the error is short.
        BOOST_TEST_CONTEXT("noise " << noise) {
            BOOST_TEST(off[200] / errors[200] > 0.5);
            BOOST_TEST(off[200] / errors[200] < 2.0);
        }
    }
}

BOOST_AUTO_TEST_CASE(randomly_doubled_samples_do_not_move_the_centre) {
    Random random(37);
    std::vector<double> off, of_medians;
    for (int i = 0; i < 200; ++i) {
        const auto [left, right] = on_one_core_or_two(random, 40, 1.02);
        off.push_back(std::abs(centre_of(left, right).log_ratio - std::log(1.02)));
        std::vector<double> logs;
        for (std::size_t r = 0; r < left.size(); ++r) logs.push_back(std::log(left[r] / right[r]));
        std::sort(logs.begin(), logs.end());
        of_medians.push_back(std::abs(logs[logs.size() / 2] - std::log(1.02)));
    }
    std::sort(off.begin(), off.end());
    std::sort(of_medians.begin(), of_medians.end());
    BOOST_TEST(off[180] < 0.01);
    BOOST_TEST(off[180] < 0.7 * of_medians[180]);
}

BOOST_AUTO_TEST_CASE(few_disturbed_rounds_have_a_large_error) {
    // Six rounds, two of them beside what makes the left side 6 % slower and nearly without noise: the closest
    // differences are those.
    Samples left, right;
    Random random(43);
    std::normal_distribution<double> normal(0, 0.004);
    for (int i = 0; i < 6; ++i) {
        const bool disturbed = i >= 4;
        left.push_back(1e-3 * (disturbed ? 1.06 : std::exp(normal(random))));
        right.push_back(1e-3 * (disturbed ? 1 : std::exp(normal(random))));
    }
    const auto [log_ratio, error] = centre_of(left, right);
    BOOST_TEST(std::abs(log_ratio) < 3 * error + 0.005);
}

BOOST_AUTO_TEST_CASE(equal_errors_change_nothing) {
    const std::vector<double> logs{0.01, 0.03, -0.02, 0.02, 0.015, 0.011, 0.04, 0.005, 0.012};
    const auto plain = estimate(logs), alike = estimate({logs, std::vector<double>(logs.size(), 0.25)});
    BOOST_TEST(plain.ratio == alike.ratio, tolerance(1e-12));
    BOOST_TEST(plain.low == alike.low, tolerance(1e-12));
    BOOST_TEST(plain.high == alike.high, tolerance(1e-12));
    BOOST_TEST(signed_rank_p(logs, 0.001) == signed_rank_p({logs, std::vector<double>(logs.size(), 4)}, 0.001),
               tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(interval_covers_as_stated_even_with_meaningless_errors) {
    for (const unsigned n : {8u, 12u, 20u})
        for (const bool errors_say : {true, false})
            BOOST_TEST_CONTEXT("n = " << n << (errors_say ? ", errors that say it" : ", errors that mean nothing")) {
                const auto held = share(1500, [&](Random& random) {
                    const auto e = estimate(spoiled_now_and_then(random, n, 0.02, errors_say), 0.99);
                    return e.low <= std::exp(0.02) && std::exp(0.02) <= e.high;
                });
                BOOST_TEST(held >= 0.983);
            }
}

BOOST_AUTO_TEST_CASE(replicates_known_to_be_disturbed_cost_little) {
    const auto width = [](bool errors_say) {
        Random random(3);
        double sum = 0;
        for (int t = 0; t < 200; ++t)
            sum += estimate(spoiled_now_and_then(random, 14, 0, errors_say), 0.99).half_width();
        return sum / 200;
    };
    BOOST_TEST(width(true) < 0.5 * width(false));
    const auto found = [](bool errors_say) {
        return share(400, [=](Random& random) {
            const auto evidence = spoiled_now_and_then(random, 16, std::log(1.02), errors_say);
            return judge(evidence, spoiled_now_and_then(random, 16, 0, errors_say), false).verdict == Verdict::slower;
        });
    };
    BOOST_TEST(found(true) >= 0.9);
    BOOST_TEST(found(false) <= 0.65);
}

BOOST_AUTO_TEST_CASE(false_winners_beside_another_process_stay_below_1_percent) {
    // All the way from samples, with cells that are 6 % apart in each arrangement, either way.
    const auto named = share(300, [](Random& random) {
        Evidence evidence, control;
        for (int i = 0; i < 12; ++i) {
            const auto noise = i % 3 == 0 ? 0.1 : 0.01;
            for (auto* e : {&evidence, &control}) {
                const auto [left, right] = beside_another_process(random, 6 + static_cast<unsigned>(random() % 30),
                                                                  random() & 1 ? 1.06 : 1 / 1.06, noise);
                const auto [log_ratio, error] = centre_of(left, right);
                e->log_ratios.push_back(log_ratio);
                e->errors.push_back(std::hypot(error, between_arrangements));
            }
        }
        return names_winner(evidence, control);
    });
    BOOST_TEST(named <= 0.01);
}

BOOST_AUTO_TEST_CASE(meaningless_errors_make_no_winners) {
    BOOST_TEST(share(1000, [](Random& random) {
                   return names_winner(spoiled_now_and_then(random, 12, 0, false),
                                       spoiled_now_and_then(random, 12, 0, false));
               }) <= 0.01);
}

BOOST_AUTO_TEST_CASE(p_value_and_interval_use_the_same_weights) {
    // A value just inside the interval is not refuted at its level, one just outside is.
    Random random(41);
    for (int t = 0; t < 50; ++t) {
        const auto evidence = spoiled_now_and_then(random, 12, 0.05, true);
        const auto e = estimate(evidence, 0.95);
        const double low = std::log(e.low);
        if (low <= 1e-4) continue;
        BOOST_TEST(signed_rank_p(evidence, low - 1e-6) <= 0.05);
        BOOST_TEST(signed_rank_p(evidence, low + 1e-6) > 0.05);
    }
}

BOOST_AUTO_TEST_CASE(error_of_a_replicate_is_at_least_the_spread_between_them) {
    std::vector<model::Arrangement> all(2);
    all[0].log_ratio = 0.01, all[0].error = 0;
    all[1].control = 0.02, all[1].control_error = 0.004;
    const auto ratios = ratios_of(all), controls = controls_of(all);
    BOOST_TEST(ratios.log_ratios[0] == 0.01);
    BOOST_TEST(ratios.errors[0] == between_arrangements);
    BOOST_TEST(controls.log_ratios[1] == 0.02);
    BOOST_TEST(controls.errors[1] == 0.005, tolerance(1e-9));
}

BOOST_AUTO_TEST_SUITE_END()

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "compare/verdict.hpp"
#include "core/random.hpp"
#include "unit/noise.hpp"

BOOST_AUTO_TEST_SUITE(regressions)

using namespace cllab;
using namespace cllab::compare;
using boost::test_tools::tolerance;
using namespace cllab::test;
using model::CellChange;

namespace {

/// What a run over `cells` cells says when cell 0 is slowed by the log ratio `slowed`.
std::vector<CellChange> changes(Random& random, unsigned cells, unsigned n, double slowed, const Draw& noise) {
    const FamilyRules rules{0.02, 0.01, cells};
    std::vector<model::CellTest> tests;
    for (unsigned c = 0; c < cells; ++c) {
        auto ratios = sample(random, n, noise);
        if (c == 0)
            for (auto& r : ratios) r += slowed;
        tests.push_back(test_cell(ratios, sample(random, n, noise), rules));
    }
    std::vector<model::CellTest*> all;
    for (auto& test : tests) all.push_back(&test);
    correct(all);
    std::vector<CellChange> out;
    for (const auto& test : tests) out.push_back(change_of(test, rules));
    return out;
}

bool claims(CellChange change) { return change == CellChange::slower || change == CellChange::faster; }

/// The share of `runs` runs over twelve equal cells that claim anything.
double false_runs(unsigned runs, const Draw& noise, unsigned n = 16) {
    Random random(23);
    unsigned wrong = 0;
    for (unsigned i = 0; i < runs; ++i) {
        const auto all = changes(random, 12, n, 0, noise);
        wrong += std::any_of(all.begin(), all.end(), claims);
    }
    return static_cast<double>(wrong) / runs;
}

/// One cell whose arrangements are drawn from `draw`, looked at until it is decided: what is said of it in the end.
CellChange after_all_looks(Random& random, const std::vector<unsigned>& sizes, double rate, const Draw& draw) {
    FamilyRules rules{0.02, rate, 1};
    std::vector<double> ratios;
    model::CellTest test;
    for (std::size_t number = 0; number < sizes.size(); ++number) {
        while (ratios.size() < sizes[number]) ratios.push_back(draw(random));
        rules.share = looks[number].share;
        const auto now = test_cell(ratios, {}, rules);
        test = number == 0 ? now : looked_again(test, now);
        if (change_of(test, rules) != CellChange::undecided) break;
    }
    return change_of(test, rules);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(compare_regression, *boost::unit_test::label("simulation"))

BOOST_AUTO_TEST_CASE(p_values_match_enumeration) {
    const std::vector<double> eight(8, 0.05);
    BOOST_TEST(signed_rank_p(eight, 0.02) == 2.0 / 256, tolerance(1e-12));
    BOOST_TEST(signed_rank_p(eight, 0.05) == 1.0);
    BOOST_TEST(signed_rank_p({}, 0.02) == 1.0);
    // 3 and 4 values: C(7, 3) = 35 orders.
    const std::vector<double> high{1.0, 1.1, 1.2}, low{0.0, 0.1, 0.2, 0.3};
    BOOST_TEST(rank_sum_p(high, low, 0.01) == 2.0 / 35, tolerance(1e-12));
    BOOST_TEST(rank_sum_p(low, high, 0.01) == 2.0 / 35, tolerance(1e-12));
    BOOST_TEST(rank_sum_p(high, {}, 0.01) == 1.0);
    // Just as far apart as is allowed is no evidence of more.
    BOOST_TEST(rank_sum_p(std::vector<double>(4, 0.25), std::vector<double>(4, 0.0), 0.25) == 1.0);
}

BOOST_AUTO_TEST_CASE(same_needs_an_interval_inside_both_thresholds) {
    const FamilyRules rules{0.02, 0.01, 1};
    const auto between = [&](double low, double high) {
        model::CellTest test;
        test.ratio = {.ratio = std::sqrt(low * high), .low = low, .high = high, .coverage = 0.99, .n = 12};
        return change_of(test, rules);
    };
    BOOST_TEST((between(0.985, 1.015) == CellChange::same));
    BOOST_TEST((between(0.9, 1.015) == CellChange::undecided));
    BOOST_TEST((between(0.985, 1.1) == CellChange::undecided));
}

BOOST_AUTO_TEST_CASE(holm_adjustment_is_monotonic) {
    const std::vector<double> p{0.01, 0.04, 0.03, 0.005};
    const auto adjusted = holm(p);
    BOOST_TEST(adjusted[3] == 0.02, tolerance(1e-12));
    BOOST_TEST(adjusted[0] == 0.03, tolerance(1e-12));
    BOOST_TEST(adjusted[2] == 0.06, tolerance(1e-12));
    BOOST_TEST(adjusted[1] == 0.06, tolerance(1e-12));
    BOOST_TEST(holm(std::vector<double>{0.9, 0.8})[0] == 1.0);
    BOOST_TEST(holm({}).empty());
}

BOOST_AUTO_TEST_CASE(more_cells_need_more_replicates_for_an_interval) {
    BOOST_TEST((FamilyRules{0.02, 0.01, 1}.of_cell().least) == 8u);
    BOOST_TEST((FamilyRules{0.02, 0.01, 12}.of_cell().least) == 12u);  // 2 / 2^12 is the first below 0.01 / 12
    const std::vector<double> eleven(11, 0.1), twelve(12, 0.1);
    const FamilyRules rules{0.02, 0.01, 12};
    BOOST_TEST(!test_cell(eleven, {}, rules).ratio.covered());
    BOOST_TEST(test_cell(twelve, {}, rules).ratio.covered());
}

BOOST_AUTO_TEST_CASE(false_claims_over_twelve_equal_cells_stay_below_1_percent) {
    BOOST_TEST(false_runs(150, normal(0, 0.02)) <= 0.014);
    BOOST_TEST(false_runs(150, heavy(0, 0.02)) <= 0.014);
    BOOST_TEST(false_runs(150, biased_by_side(0.06, 0.002)) <= 0.014);
    BOOST_TEST(false_runs(150, bimodal(0, 0.06, 0.002)) <= 0.014);
}

BOOST_AUTO_TEST_CASE(looks_at_a_cell_share_the_error_rate) {
    double sum = 0;
    for (const auto& look : looks) sum += look.share;
    BOOST_TEST(sum == 1.0, tolerance(1e-12));
    FamilyRules half{0.02, 0.01, 12, 0.5};
    BOOST_TEST(half.of_cell().coverage == 1 - 0.005 / 12, tolerance(1e-12));
    const std::vector<double> eight(8, 0.05);
    BOOST_TEST(test_cell(eight, {}, half).p == 4.0 / 256, tolerance(1e-12));
    model::CellTest before, latest;
    before.p = 0.02;
    latest.p = latest.adjusted = 0.3;
    latest.ratio.n = 30;
    BOOST_TEST(looked_again(before, latest).p == 0.02);
    BOOST_TEST(looked_again(before, latest).adjusted == 0.02);
    BOOST_TEST(looked_again(before, latest).ratio.n == 30u);
}

BOOST_AUTO_TEST_CASE(three_looks_keep_the_rate_of_false_claims) {
    // On the edge of what is allowed, where every look may be wrong; a rate large enough to be counted. One side of the
    // test is wrong there, which is half of the rate; three looks that do not share it name 77 to 85.
    for (const auto& noise : {normal(0, 0.01), heavy(0, 0.006), bimodal(0, 0.01, 0.004)}) {
        Random random(37);
        unsigned named = 0;
        for (unsigned i = 0; i < 400; ++i)
            named += claims(
                after_all_looks(random, {12, 30, 60}, 0.2, [&](Random& r) { return std::log(1.02) + noise(r); }));
        BOOST_TEST(named <= 52u);
    }
}

BOOST_AUTO_TEST_CASE(later_looks_tell_a_3_percent_slowdown_from_the_threshold) {
    Random random(41);
    unsigned first = 0, all = 0;
    for (unsigned i = 0; i < 120; ++i) {
        first += after_all_looks(random, {16}, 0.01, normal(std::log(1.03), 0.015)) == CellChange::slower;
        all += after_all_looks(random, {16, 64, 160}, 0.01, normal(std::log(1.03), 0.015)) == CellChange::slower;
    }
    BOOST_TEST(first <= 60u);
    BOOST_TEST(all >= 114u);
}

BOOST_AUTO_TEST_CASE(few_replicates_decide_when_ratios_far_exceed_the_threshold) {
    const FamilyRules rules{0.02, 0.01, 1};
    const auto change = [&](const std::vector<double>& factors) {
        std::vector<double> logs;
        for (const auto factor : factors) logs.push_back(std::log(factor));
        const auto test = test_cell(logs, {}, rules);
        return std::pair(change_of(test, rules), lean_of(test));
    };
    BOOST_TEST((change({8.5e5, 8.4e5, 8.6e5}).first == CellChange::slower));
    BOOST_TEST((change({1230}).first == CellChange::slower));
    BOOST_TEST((change({0.001, 0.002}).first == CellChange::faster));
    // One that equal code may have, or one on the other side, leaves it open; and says where it leans.
    BOOST_TEST((change({1230, 1.5}) == std::pair(CellChange::undecided, model::Lean::all_slower)));
    BOOST_TEST((change({1.1, 1.2, 1.3}) == std::pair(CellChange::undecided, model::Lean::all_slower)));
    BOOST_TEST((change({1.1, 1.2, 0.99}) == std::pair(CellChange::undecided, model::Lean::middle_slower)));
    BOOST_TEST((change({1.01, 1.0, 0.9}) == std::pair(CellChange::undecided, model::Lean::none)));
    BOOST_TEST((change({0.5, 0.6}) == std::pair(CellChange::undecided, model::Lean::none)));
}

BOOST_AUTO_TEST_CASE(recorded_times_lean_by_their_intervals) {
    const auto time = [](double low, double high, unsigned n = 20) {
        model::Timing out;
        out.median = (low + high) / 2;
        out.low = low;
        out.high = high;
        out.n = n;
        return out;
    };
    BOOST_TEST((lean_of_recorded(time(2.6e-3, 2.7e-3), time(4.0e-4, 4.1e-4), 0.02) == model::Lean::all_slower));
    BOOST_TEST((lean_of_recorded(time(4.1e-4, 4.3e-4), time(4.0e-4, 4.1e-4), 0.02) == model::Lean::middle_slower));
    BOOST_TEST((lean_of_recorded(time(2.6e-3, 2.7e-3, 3), time(4.0e-4, 4.1e-4), 0.02) == model::Lean::middle_slower));
}

BOOST_AUTO_TEST_CASE(time_left_is_split_evenly_among_undecided_cells_up_to_a_cap) {
    BOOST_TEST(seconds_of_look(1, 40, 2, 10) == 10.0);  // half of it, for another look may follow
    BOOST_TEST(seconds_of_look(2, 40, 2, 10) == 20.0);
    BOOST_TEST(seconds_of_look(1, 1000, 2, 10) == 30.0);
    BOOST_TEST(seconds_of_look(2, 1000, 2, 10) == 80.0);
    BOOST_TEST(seconds_of_look(1, -3, 2, 10) == 0.0);
}

BOOST_AUTO_TEST_CASE(undecided_cells_get_at_most_three_looks_in_the_time_left) {
    struct Seen {
        std::size_t cell, number;
        double seconds;
        bool operator==(const Seen&) const = default;
    };
    // Of `cells` cells of 10 s the first `tested` take what they may; the first `open` of these stay undecided, unless
    // look `decided` tells.
    const auto seen_of = [](std::size_t tested, std::size_t cells, std::size_t open, std::size_t decided = 9) {
        std::vector<Seen> seen;
        std::vector<double> spent(tested, 0.0);
        unsigned corrected = 0;
        std::size_t last = 0;
        take_looks(tested, cells, 10,
                   {[&](std::size_t cell, double seconds, std::size_t number) {
                        seen.push_back({cell, number, seconds});
                        spent[cell] += seconds;
                        last = number;
                    },
                    [&] { ++corrected; }, [&](std::size_t cell) { return cell < open && last < decided; },
                    [&](std::size_t cell) { return spent[cell]; }});
        BOOST_TEST(corrected == last + 1);
        return seen;
    };
    using All = std::vector<Seen>;
    BOOST_TEST((seen_of(1, 12, 1) == All{{0, 0, 10}, {0, 1, 30}, {0, 2, 80}}));
    BOOST_TEST((seen_of(1, 12, 1, 1) == All{{0, 0, 10}, {0, 1, 30}}));
    BOOST_TEST((seen_of(2, 4, 1) == All{{0, 0, 10}, {1, 0, 10}, {0, 1, 10}, {0, 2, 10}}));
    BOOST_TEST((seen_of(2, 4, 2) == All{{0, 0, 10}, {1, 0, 10}, {0, 1, 5}, {1, 1, 5}, {0, 2, 5}, {1, 2, 5}}));
    BOOST_TEST((seen_of(2, 2, 2) == All{{0, 0, 10}, {1, 0, 10}}));
    BOOST_TEST((seen_of(1, 1, 1) == All{{0, 0, 10}}));
    BOOST_TEST(share_of_look(0, looks_at_a_cell(1)) == 1.0);
    BOOST_TEST(share_of_look(0, looks_at_a_cell(2)) == looks[0].share);
}

BOOST_AUTO_TEST_CASE(slowdown_at_the_threshold_is_reported_no_more_than_the_rate) {
    Random random(29);
    unsigned named = 0;
    for (unsigned i = 0; i < 300; ++i)
        named += changes(random, 1, 16, std::log(1.02), normal(0, 0.01))[0] == CellChange::slower;
    BOOST_TEST(named <= 6u);
}

BOOST_AUTO_TEST_CASE(only_the_slower_cell_of_twelve_is_reported) {
    Random random(31);
    unsigned found = 0, others = 0;
    for (unsigned i = 0; i < 60; ++i) {
        const auto all = changes(random, 12, 20, std::log(1.03), normal(0, 0.004));
        found += all[0] == CellChange::slower;
        others += static_cast<unsigned>(std::count_if(all.begin() + 1, all.end(), claims));
    }
    BOOST_TEST(found >= 57u);
    BOOST_TEST(others <= 1u);
}

BOOST_AUTO_TEST_CASE(equal_cells_are_same_when_precise_and_undecided_when_wide) {
    Random random(37);
    BOOST_TEST((changes(random, 3, 20, 0, normal(0, 0.002))[1] == CellChange::same));
    BOOST_TEST((changes(random, 3, 20, 0, normal(0, 0.06))[1] == CellChange::undecided));
    BOOST_TEST((changes(random, 3, 5, std::log(1.5), normal(0, 0.001))[0] == CellChange::undecided));
}

BOOST_AUTO_TEST_CASE(difference_between_equal_builds_raises_the_floor) {
    const std::vector<double> three(16, 0.03), four(16, 0.04);
    const FamilyRules rules;
    BOOST_TEST((change_of(test_cell(three, {}, rules), rules) == CellChange::slower));
    BOOST_TEST((change_of(test_cell(three, four, rules), rules) != CellChange::slower));
}

BOOST_AUTO_TEST_CASE(interval_between_independent_processes_covers_as_stated) {
    Random random(41);
    unsigned held = 0;
    constexpr unsigned trials = 600;
    for (unsigned t = 0; t < trials; ++t) {
        const auto e = estimate_between(sample(random, 7, heavy(0.05, 0.01)), sample(random, 9, heavy(0, 0.01)), 0.95);
        BOOST_REQUIRE(e.covered());
        held += e.low <= std::exp(0.05) && std::exp(0.05) <= e.high;
    }
    BOOST_TEST(held >= 0.93 * trials);
    BOOST_TEST(!estimate_between(sample(random, 20, normal(0, 1)), sample(random, 1, normal(0, 1)), 0.95).covered());
    BOOST_TEST(!estimate_between(sample(random, 3, normal(0, 1)), sample(random, 3, normal(0, 1)), 0.95).covered());
    BOOST_TEST(estimate_between({}, sample(random, 3, normal(0, 1)), 0.95).n == 0u);
}

BOOST_AUTO_TEST_CASE(shift_shared_by_all_cells_is_subtracted_from_stored_times) {
    Random random(43);
    const FamilyRules rules{0.02, 0.01, 1};
    const auto before = sample(random, 10, normal(0, 0.003)), today = sample(random, 10, normal(0.10, 0.003));
    BOOST_TEST((change_of(test_recorded(today, before, 0, rules), rules) == CellChange::slower));
    BOOST_TEST((change_of(test_recorded(today, before, 0.10, rules), rules) == CellChange::same));
}

BOOST_AUTO_TEST_CASE(common_shift_is_a_median_with_an_interval_from_six_cells) {
    const std::vector<double> six{0.05, 0.051, 0.049, 0.05, 0.052, 0.7};
    BOOST_TEST(common_shift(six).ratio == std::exp(0.0505), tolerance(0.002));
    BOOST_TEST(common_shift(six).covered());
    BOOST_TEST(!common_shift(std::span(six).first(5)).covered());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()

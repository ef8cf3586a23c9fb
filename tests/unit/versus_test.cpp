// Two cells over arrangements, without a device: what is taken of the records, and when it ends.
#include "app/comparing/versus.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <sstream>

#include "app/processes/child_runner.hpp"
#include "unit/fake_runner.hpp"

BOOST_AUTO_TEST_SUITE(versus)

using namespace cllab;
using boost::test_tools::tolerance;

namespace {

model::Cell cell(const std::string& id) {
    model::Cell out;
    out.id = id;
    return out;
}

const auto nobody = [](const model::Comparison&) {};

model::Comparison compared(app::Runner& runner, double seconds,
                           const std::vector<model::Record>& records = std::vector<model::Record>(2)) {
    app::Versus versus(runner, {}, "0:0", {cell("left"), cell("right")}, records);
    versus.run(seconds, {}, nobody);
    return versus.comparison();
}

}  // namespace

BOOST_AUTO_TEST_CASE(two_builds_of_both_sides_give_four_pairs_and_own_controls) {
    test::FakeRunner runner(std::vector{1.10, 1.00, 1.12, 1.01});
    const auto c = compared(runner, 1);
    BOOST_REQUIRE(runner.cells.size() == 4u);
    BOOST_TEST(runner.cells[2].id == "left");
    BOOST_TEST(runner.cells[3].id == "right");
    for (const std::size_t control : {2u, 3u})
        BOOST_TEST(runner.cells[control].options != runner.cells[control - 2].options);
    BOOST_TEST(c.arrangements.front().log_ratio == std::log(1.10 * 1.12 / (1.00 * 1.01)) / 2, tolerance(1e-9));
    BOOST_TEST(c.arrangements.front().control == std::log(1.12 / 1.10 * 1.01 / 1.00) / 2, tolerance(1e-9));
    BOOST_TEST((c.control_of == model::Control::both));
    BOOST_TEST((c.judgement.verdict == model::Verdict::slower));
}

BOOST_AUTO_TEST_CASE(several_variants_alternate_with_the_first_with_own_verdicts) {
    test::FakeRunner runner(std::vector{1.00, 1.10, 0.90, 1.00, 1.02});
    app::Versus all(runner, {}, "0:0", {cell("first"), cell("slow"), cell("fast"), cell("equal")},
                    std::vector<model::Record>(4), model::Control::left);
    all.run(60, app::rules_for(3), nobody);
    BOOST_REQUIRE(runner.cells.size() == 5u);
    BOOST_TEST(runner.cells[4].id == "first");
    BOOST_TEST(runner.cells[4].options != runner.cells[0].options);
    BOOST_REQUIRE(all.comparisons().size() == 3u);
    BOOST_TEST(runner.arrangements == app::rules_for(3).least);
    const auto& [slow, fast, equal] = std::tie(all.comparisons()[0], all.comparisons()[1], all.comparisons()[2]);
    BOOST_TEST(slow.right == "slow");
    BOOST_TEST(slow.arrangements.front().log_ratio == std::log(1.00 / 1.10), tolerance(1e-9));
    BOOST_TEST(slow.arrangements.front().control == std::log(1.02), tolerance(1e-9));
    BOOST_TEST((slow.judgement.verdict == model::Verdict::faster));
    BOOST_TEST((fast.judgement.verdict == model::Verdict::slower));
    BOOST_TEST((equal.judgement.verdict == model::Verdict::same));
}

BOOST_AUTO_TEST_CASE(comparison_stops_when_decided_and_can_be_continued) {
    test::FakeRunner runner(std::vector{1.0, 1.0, 1.0, 1.0});
    app::Versus both(runner, {}, "0:0", {cell("left"), cell("right")}, std::vector<model::Record>(2));
    compare::Rules rules;
    both.run(60, rules, nobody);
    BOOST_TEST(both.comparison().arrangements.size() == rules.least);  // nothing differs, so the least is enough
    rules.precise = -1;
    both.run(0, rules, nobody);
    BOOST_TEST(both.comparison().arrangements.size() == rules.least + 1);  // no time for another
    BOOST_TEST(runner.seeds.size() == rules.least + 1);
    BOOST_TEST(runner.arrangements == rules.least + 1);
    BOOST_TEST(both.comparison().judgement.ratio.n == rules.least + 1);
}

BOOST_AUTO_TEST_CASE(processes_are_started_ahead_and_all_end_with_the_comparison) {
    test::FakeRunner runner(std::vector{1.0, 1.0, 1.0, 1.0});
    compared(runner, 60);
    BOOST_REQUIRE(runner.expected_when_run.size() == 8u);
    for (std::size_t i = 0; i < 8; ++i) BOOST_TEST(runner.expected_when_run[i]);
    BOOST_TEST(!runner.expects);
    test::FakeRunner lost(std::vector{1.0, 1.0, 1.0, 1.0});
    lost.fails_after = 3;
    BOOST_CHECK_THROW(compared(lost, 60), app::DeviceLost);
    BOOST_TEST(lost.expected_when_run.size() == 4u);
    BOOST_TEST(!lost.expects);
}

BOOST_AUTO_TEST_CASE(equal_code_with_other_arguments_may_have_a_winner) {
    model::Record left, right;
    left.code.fingerprint = right.code.fingerprint = "equal";
    left.launch = "one";
    right.launch = "other";
    test::FakeRunner runner(std::vector{1.0, 2.0, 1.0, 2.0});
    const auto verdict = [&] { return compared(runner, 1, {left, right}).judgement.verdict; };
    BOOST_TEST((verdict() == model::Verdict::faster));
    right.launch = "one";
    BOOST_TEST((verdict() == model::Verdict::same_code));
}

BOOST_AUTO_TEST_CASE(failure_in_a_replicate_ends_it_and_names_the_side) {
    for (const std::size_t wrong : {0u, 1u, 2u, 3u}) {
        test::FakeRunner runner([&](model::Record& record, const model::Cell&, std::size_t index) {
            if (index != wrong || runner.requests.size() < 3) return;
            record.status = model::Status::wrong_result;
            record.reason = "dst[1] is 2, expected 1";
        });
        app::Versus both(runner, {}, "0:0", {cell("left"), cell("right")}, std::vector<model::Record>(2));
        both.run(60, {}, nobody);
        BOOST_REQUIRE(both.failure().has_value());
        BOOST_TEST((both.failure()->status == model::Status::wrong_result));
        BOOST_TEST(both.failure()->is_left == (wrong % 2 == 0));
        BOOST_TEST(runner.requests.size() == 3u);
    }
}

BOOST_AUTO_TEST_CASE(processes_are_started_ahead_only_without_disturbing_timing) {
    model::Device device;
    device.type = model::DeviceType::gpu;
    device.unified_memory = false;
    BOOST_TEST(app::ArrangementPool::pays(device, 16));
    BOOST_TEST(!app::ArrangementPool::pays(device, 2), "they would take the cores of the one that measures");
    device.unified_memory = true;  // it shares the host's memory and power
    BOOST_TEST(!app::ArrangementPool::pays(device, 16));
    device.type = model::DeviceType::cpu;
    device.unified_memory = false;
    BOOST_TEST(!app::ArrangementPool::pays(device, 16));
}

BOOST_AUTO_TEST_CASE(each_side_has_the_cores_of_its_worse_cell) {
    const std::vector cores{2.0, 1.0, 1.5, 2.0};
    test::FakeRunner runner([&](model::Record& record, const model::Cell&, std::size_t index) {
        record.time->cores = cores.at(index);
        record.time->waited = 2 - cores.at(index);
    });
    const auto c = compared(runner, 1);
    BOOST_TEST(c.arrangements.front().left_cores == 0.75, tolerance(1e-9));
    BOOST_TEST(c.arrangements.front().right_cores == 0.5, tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(several_pairs_keep_the_rate_of_false_winners_of_one) {
    const double one = 1 - compare::Rules{}.coverage;
    BOOST_TEST(1 - app::rules_for(1).coverage == one, tolerance(1e-9));
    for (const std::size_t pairs : {2u, 5u, 20u})
        BOOST_TEST(static_cast<double>(pairs) * (1 - app::rules_for(pairs).coverage) <= one * 1.001);
}

BOOST_AUTO_TEST_CASE(table_that_disagrees_with_the_verdict_is_explained) {
    const auto page = [](double left) {
        const test::FakeRunner runner(std::vector{1.0, 1.0});
        app::Pair pair{runner.record_of(cell("left"), "0:0"), runner.record_of(cell("right"), "0:0")};
        test::take(pair.left, left);
        test::take(pair.right, 1);
        pair.comparison.emplace();
        pair.comparison->left = "left", pair.comparison->right = "right";
        pair.comparison->judgement.ratio = {1, 0.996, 1.004, 0.95, 8};
        std::ostringstream out;
        app::print_pairs(out, {pair, pair}, false);
        return out.str();
    };
    BOOST_TEST(
        page(1.09).find("in the table left takes 1.09 times as long as right; the table comes from one process") !=
        std::string::npos);
    BOOST_TEST(page(1.01).find("in the table") == std::string::npos);  // each known within 0.5 %
}

BOOST_AUTO_TEST_SUITE_END()

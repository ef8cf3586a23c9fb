// Two cells over arrangements, without a device: what is taken of the records, and when it ends.
#include "app/comparing/versus.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <optional>
#include <set>

#include "app/processes/ahead.hpp"

BOOST_AUTO_TEST_SUITE(versus)

using namespace cllab;
using boost::test_tools::tolerance;

namespace {

/// Cells that take what they are said to take, twice as long in the rounds of a busy machine.
class ScriptedRunner : public app::Runner {
public:
    explicit ScriptedRunner(std::vector<double> seconds) : seconds_(std::move(seconds)) {}
    std::vector<model::Device> devices(const std::vector<std::string>&, std::vector<std::string>*) override {
        return {};
    }
    void run(const run::RunRequest& request, const std::string&, const app::Events& events,
             const std::set<run::CellNumber>&) override {
        BOOST_TEST(request.settings.arrangement);
        expected_when_run.push_back(expects);
        if (fails_after && expected_when_run.size() > *fails_after) throw app::DeviceLost("gone");
        seeds.insert(request.settings.seed);
        cells = request.comparisons.front();
        for (std::size_t i = 0; i < cells.size(); ++i) {
            model::Record record;
            record.id = cells[i].id;
            record.status = model::Status::ok;
            record.time.emplace();
            if (!cores.empty()) record.time->cores = cores.at(i), record.time->waited = 2 - cores.at(i);
            for (unsigned round = 0; round < 7; ++round) {
                record.samples.push_back(seconds_.at(i) * (round % 3 == 1 ? 2 : 1));
                record.rounds.push_back(round);
            }
            events.done(0, i, record);
        }
    }

    void expect(const run::RunRequest&, const std::string&, bool more) override { expects = more; }

    bool expects = false;
    std::vector<double> cores{};  ///< of two, that each cell had
    std::optional<std::size_t> fails_after;
    std::vector<bool> expected_when_run;
    model::Group cells;             ///< of the last arrangement
    std::set<std::uint64_t> seeds;  ///< of all

private:
    std::vector<double> seconds_;
};

model::Cell cell(const std::string& id) {
    model::Cell out;
    out.id = id;
    return out;
}

const auto nobody = [](const model::Comparison&) {};

}  // namespace

BOOST_AUTO_TEST_CASE(with_both_sides_built_once_more_all_four_pairs_are_evidence_and_each_side_its_own_control) {
    ScriptedRunner runner({1.10, 1.00, 1.12, 1.01});
    const auto c = app::compare_cells(runner, {}, "0:0", {cell("left"), cell("right")}, {}, {}, 1, nobody);
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

BOOST_AUTO_TEST_CASE(with_one_side_built_once_more_three_take_turns_and_that_one_is_the_control) {
    ScriptedRunner runner({1.10, 1.00, 1.03});
    const auto c = app::compare_cells(runner, {}, "0:0", {cell("left"), cell("right")}, {}, {}, 1, nobody, {},
                                      model::Control::right);
    BOOST_REQUIRE(runner.cells.size() == 3u);
    BOOST_TEST(runner.cells[2].id == "right");
    BOOST_TEST(c.arrangements.front().log_ratio == std::log(1.10), tolerance(1e-9));
    BOOST_TEST(c.arrangements.front().control == std::log(1.03), tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(it_ends_when_enough_is_known_and_goes_on_where_it_was_when_more_is_wanted) {
    ScriptedRunner runner({1.0, 1.0, 1.0, 1.0});
    app::Versus both(runner, {}, "0:0", {cell("left"), cell("right")}, {}, {});
    compare::Rules rules;
    both.run(60, rules, nobody);
    BOOST_TEST(both.comparison().arrangements.size() == rules.least);  // nothing differs, so the least is enough
    rules.precise = -1;
    both.run(0, rules, nobody);
    BOOST_TEST(both.comparison().arrangements.size() == rules.least + 1);  // no time for another
    BOOST_TEST(runner.seeds.size() == rules.least + 1);
    BOOST_TEST(both.comparison().judgement.ratio.n == rules.least + 1);
}

BOOST_AUTO_TEST_CASE(
    processes_are_made_ahead_from_the_second_arrangement_on_and_none_is_left_at_its_end_however_it_ends) {
    ScriptedRunner runner({1.0, 1.0, 1.0, 1.0});
    app::compare_cells(runner, {}, "0:0", {cell("left"), cell("right")}, {}, {}, 60, nobody);
    BOOST_REQUIRE(runner.expected_when_run.size() == 8u);
    for (std::size_t i = 0; i < 8; ++i)
        BOOST_TEST(runner.expected_when_run[i] == (i > 0));  // the first finds out what the others need not
    BOOST_TEST(!runner.expects);
    ScriptedRunner lost({1.0, 1.0, 1.0, 1.0});
    lost.fails_after = 3;
    BOOST_CHECK_THROW(app::compare_cells(lost, {}, "0:0", {cell("left"), cell("right")}, {}, {}, 60, nobody),
                      app::DeviceLost);
    BOOST_TEST(lost.expected_when_run.size() == 4u);
    BOOST_TEST(!lost.expects);
}

BOOST_AUTO_TEST_CASE(they_are_made_ahead_where_they_leave_alone_what_is_measured) {
    model::Device device;
    device.type = model::DeviceType::gpu;
    device.unified_memory = false;
    BOOST_TEST(app::Ahead::pays(device, 16));
    BOOST_TEST(!app::Ahead::pays(device, 2), "they would take the cores of the one that measures");
    device.unified_memory = true;  // it shares the host's memory and power
    BOOST_TEST(!app::Ahead::pays(device, 16));
    device.type = model::DeviceType::cpu;
    device.unified_memory = false;
    BOOST_TEST(!app::Ahead::pays(device, 16));
}

BOOST_AUTO_TEST_CASE(each_side_has_the_cores_of_its_worse_cell) {
    Told runner({1.0, 1.0, 1.0, 1.0});
    runner.cores = {2, 1, 1.5, 2};
    const auto c = app::compare_cells(runner, {}, "0:0", {cell("left"), cell("right")}, {}, {}, 1, nobody);
    BOOST_TEST(c.arrangements.front().left_cores == 0.75, tolerance(1e-9));
    BOOST_TEST(c.arrangements.front().right_cores == 0.5, tolerance(1e-9));
}

BOOST_AUTO_TEST_SUITE_END()

// Several devices of one run at once.
#include <boost/test/unit_test.hpp>
#include <utility>

#include "app/processes/concurrent.hpp"

BOOST_AUTO_TEST_SUITE(side_by_side)

using namespace cllab;

namespace {

model::Device gpu(const std::string& identity) {
    model::Device out;
    out.selector = identity;
    out.identity = identity;
    out.type = model::DeviceType::gpu;
    return out;
}

run::RunRequest comparisons(std::size_t number) {
    run::RunRequest out;
    out.comparisons.resize(number);
    return out;
}

model::Record timed(const std::string& selector, double median, double half_width) {
    model::Record out;
    out.id = "saxpy_w128";
    out.device.selector = selector;
    out.time.emplace();
    out.time->median = median;
    out.time->low = median - half_width;
    out.time->high = median + half_width;
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(gpus_with_memory_of_their_own_work_at_once_and_nothing_else_does) {
    auto shared = gpu("integrated"), cpu = gpu("cpu"), nameless = gpu("");
    shared.unified_memory = true;
    cpu.type = model::DeviceType::cpu;
    const std::vector<model::Device> all{gpu("a"), shared, cpu, nameless, gpu("b"), gpu("a")};
    const auto chosen = app::may_work_at_once(all, comparisons(10), "gpus");
    BOOST_TEST_REQUIRE(chosen.size() == 2u);
    BOOST_TEST(chosen[0].identity == "a");
    BOOST_TEST(chosen[1].identity == "b");
    BOOST_TEST(app::may_work_at_once(all, comparisons(10), "never").empty());
    BOOST_TEST(app::may_work_at_once(all, comparisons(10), "all").size() == all.size());
    BOOST_TEST(app::may_work_at_once(all, comparisons(3), "gpus").empty());
    BOOST_TEST(app::may_work_at_once({gpu("a"), cpu}, comparisons(10), "gpus").empty());
    auto verify = comparisons(10);
    verify.settings.measure = false;
    BOOST_TEST(app::may_work_at_once(all, verify, "gpus").empty());
}

BOOST_AUTO_TEST_CASE(a_device_is_slowed_by_others_when_its_time_is_longer_beyond_both_intervals) {
    const std::vector<model::Record> alone{timed("0:0", 100, 1), timed("0:1", 200, 1)};
    std::pair<double, double> ratios;
    BOOST_TEST(!app::slowed(alone, {timed("0:0", 101, 1), timed("0:1", 198, 1)}, ratios));
    BOOST_TEST(ratios.first == 0.99);
    BOOST_TEST(ratios.second == 1.01);
    const auto short_launch = timed("0:0", 6.0e-6, 1e-8), longer = timed("0:0", 6.8e-6, 1e-8),
               much_longer = timed("0:0", 7.3e-6, 1e-8);
    BOOST_TEST(!app::slowed({short_launch}, {longer}, ratios), "launches differ by as much without others");
    BOOST_TEST(app::slowed({short_launch}, {much_longer}, ratios).has_value());
    const auto why = app::slowed(alone, {timed("0:0", 100, 1), timed("0:1", 210, 1)}, ratios);
    BOOST_TEST_REQUIRE(why.has_value());
    BOOST_TEST(*why == "saxpy_w128 took 1.05 times as long on device 0:1 beside the others as alone");
    BOOST_TEST(!app::slowed(alone, {timed("0:1", 210, 20)}, ratios), "intervals that overlap show nothing");
    BOOST_TEST(app::slowed(alone, {}, ratios).has_value(), "without a time nothing is known, which is no permission");
    BOOST_TEST(app::slowed(alone, {timed("0:7", 100, 1)}, ratios).has_value());
}

BOOST_AUTO_TEST_CASE(devices_measure_alone_in_turn_and_beside_each_other_only_when_all_have_done_so) {
    app::Turns turns(3);
    BOOST_TEST(turns.may_measure(0, app::Turns::alone));
    BOOST_TEST(!turns.may_measure(2, app::Turns::alone));
    turns.leave(1);  // it is lost before its turn, which makes it nobody's turn while the first one measures
    BOOST_TEST(!turns.may_measure(2, app::Turns::alone));
    BOOST_TEST(!turns.may_measure(0, app::Turns::beside));
    BOOST_TEST(turns.may_measure(2, app::Turns::alone));
    BOOST_TEST(turns.may_measure(2, app::Turns::beside));
    BOOST_TEST(turns.may_measure(0, app::Turns::beside));
    BOOST_TEST(app::Turns(2).may_measure(0, app::Turns::beside + 1), "what the user asked for waits for nobody");
}

BOOST_AUTO_TEST_SUITE_END()

// issue without a device: its check counts every addition, and its rate is of all cores.
#include <boost/test/unit_test.hpp>

#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(issue)

using namespace cllab;
using namespace cllab::test;

BOOST_AUTO_TEST_CASE(missing_addition_is_a_wrong_result) {
    for (const std::string variant : {"integer", "vector", "mixed"}) {
        const auto setup = set_up(std::string("issue_") + variant, probe_cpu(), {{"chains", "2"}});
        const auto start = argument<std::uint32_t>(setup, "start");
        const auto sum_of = [&](std::uint32_t additions) {
            std::uint32_t sum = 0;
            for (std::size_t j = 0; j < 2; ++j) {
                sum += start[j] + (variant == "vector" ? 0 : additions * start[19]);
                for (std::uint32_t lane = 0; lane < 4; ++lane)
                    for (std::uint32_t times = 0; times < 2 * lane + 1; ++times)
                        sum += start[8 + j + lane] + (variant == "integer" ? 0 : additions * start[20]);
            }
            return sum;
        };
        const std::int32_t trips = 3;
        const auto groups = argument<std::uint32_t>(setup, "out").size();
        require_right_and_watched(setup, "out", std::vector<std::uint32_t>(groups, sum_of(16 * trips)), trips,
                                  groups - 1);
        BOOST_TEST(verdict(setup, "out", std::vector<std::uint32_t>(groups, sum_of(16 * trips - 1)), trips) != "",
                   variant);
    }
}

BOOST_AUTO_TEST_CASE(the_rate_is_that_of_the_best_kind_on_all_cores) {
    const auto found = [](double cores, double waited) {
        std::vector<model::Curve> curves;
        for (const auto& [variant, rate] : {std::pair{"integer", 20e9}, {"mixed", 30e9}, {"vector", 25e9}}) {
            auto& curve = curves.emplace_back();
            curve.variant = variant;
            auto& sample = curve.samples.emplace_back(model::Curve::Sample{8, 1e-9, 0.9e-9, 1.1e-9, {}, 1e-9, 9, {}});
            sample.metrics = {{"instruction_rate", rate}, {"cores", cores}, {"cores_waited", waited}};
        }
        auto two = probe_cpu();
        two.compute_units = 2;
        return concluded("issue", curves, two).at(0);
    };
    BOOST_TEST(found(2, 0).value == 30e9, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(says(found(2, 0).how, "mixed, 8"));
    BOOST_TEST(found(1, 1).value == 60e9, boost::test_tools::tolerance(1e-6));  // others had the other core
}

BOOST_AUTO_TEST_SUITE_END()

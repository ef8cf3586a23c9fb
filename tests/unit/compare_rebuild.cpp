#include <boost/test/unit_test.hpp>
#include <cmath>
#include <span>
#include <vector>

#include "compare/build_spread.hpp"
#include "core/random.hpp"
#include "unit/noise.hpp"

BOOST_AUTO_TEST_SUITE(regressions)

using namespace cllab;
using namespace cllab::compare;
using namespace cllab::test;
using boost::test_tools::tolerance;

BOOST_AUTO_TEST_SUITE(compare_rebuild)

BOOST_AUTO_TEST_CASE(the_spread_is_split_into_that_of_codes_of_arrangements_and_of_samples) {
    Random random(67);
    std::vector<BuiltRun> runs;
    for (unsigned build = 0; build < 60; ++build) {
        const double code = build % 3 == 0 ? 0.06 : 0.0;
        for (unsigned process = 0; process < 2; ++process) {
            const double arrangement = code + normal(0, 0.01)(random);
            std::vector<double> samples = sample(random, 40, normal(arrangement, 0.003));
            for (auto& s : samples) s = 1e-3 * std::exp(s);
            runs.push_back({code > 0 ? "slow" : "fast", samples});
        }
    }
    const auto codes = codes_of(runs);
    BOOST_REQUIRE(codes.size() == 2u);
    BOOST_TEST(codes[0].code == "fast");
    BOOST_TEST(codes[0].runs == 80u);
    BOOST_TEST(std::log(codes[1].median / codes[0].median) == 0.06, tolerance(0.15));
    const auto parts = split(runs);
    BOOST_TEST(parts.within == 0.003, tolerance(0.15));
    BOOST_TEST(parts.between_arrangements == 0.01, tolerance(0.2));
    BOOST_TEST(parts.between_codes == 0.06 / std::sqrt(2), tolerance(0.15));
}

BOOST_AUTO_TEST_CASE(one_code_has_no_spread_between_codes_and_one_process_none_between_arrangements) {
    const std::vector<BuiltRun> one{{"a", {1.0, 1.1, 1.2}}, {"a", {1.0, 1.1, 1.2}}};
    BOOST_TEST(split(one).between_codes < 0);
    BOOST_TEST(split(one).between_arrangements == 0.0);
    BOOST_TEST(split(std::span(one).first(1)).between_arrangements < 0);
    const std::vector<BuiltRun> each_once{{"a", {1.0}}, {"b", {2.0}}};
    BOOST_TEST(split(each_once).between_codes < 0);
    BOOST_TEST(split(each_once).within < 0);
    BOOST_TEST(codes_of(each_once).size() == 2u);
    // Codes whose processes differ by more than their means do: nothing is left to the codes.
    const std::vector<BuiltRun> alike{{"a", {1.0}}, {"a", {1.3}}, {"b", {1.1}}, {"b", {1.25}}};
    BOOST_TEST(split(alike).between_arrangements > 0.1);
    BOOST_TEST(split(alike).between_codes == 0.0);
    BOOST_TEST(split({}).within < 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()

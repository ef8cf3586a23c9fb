// integer: the checks of dot products against products written as the kernel has them, and chains that show what is
// left out.
#include <boost/test/unit_test.hpp>
#include <set>

#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(integer_family)

using namespace cllab;
using namespace cllab::model;
using namespace cllab::test;

namespace {

using Word = std::uint32_t;

Word dot_of_bytes(Word a, Word b) {
    return (a & 255) * (b & 255) + (a >> 8 & 255) * (b >> 8 & 255) + (a >> 16 & 255) * (b >> 16 & 255) +
           (a >> 24) * (b >> 24);
}

Word dot_of_shorts(Word a, Word b) {
    const auto part = [](Word w, unsigned at) { return std::int64_t{static_cast<std::int16_t>(w >> at)}; };
    return static_cast<Word>(part(a, 0) * part(b, 0) + part(a, 16) * part(b, 16));
}

/// What integer.cl leaves of chains of `dot` after so many links.
template <typename Dot>
std::vector<Word> left(const Setup& setup, std::int64_t links, Dot dot) {
    const auto start = argument<Word>(setup, "start");
    std::vector<Word> out(argument<Word>(setup, "out").size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        const Word s = start[i % start.size()];
        Word v = s, t = 0;
        for (std::int64_t k = 0; k < links; k += 2) {
            t += dot(v, s);
            if (k + 1 < links) v += dot(t, s);
        }
        out[i] = v + t;
    }
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(dot_products_are_checked_product_by_product) {
    for (const std::string variant : {"integer_dot", "integer_dot_latency", "integer_pair", "integer_pair_latency"}) {
        const auto setup = set_up(variant, probe_gpu());
        const bool of_bytes = variant.starts_with("integer_dot");
        const int links = 3 * (variant.ends_with("_latency") ? 16 : 4);
        const auto dot = of_bytes ? dot_of_bytes : dot_of_shorts;
        require_right_and_watched(setup, "out", left(setup, links, dot), 3, 7);
        for (unsigned at = 0; at < 32; at += of_bytes ? 8 : 16) {
            const Word others = ~((of_bytes ? 0xFFu : 0xFFFFu) << at);
            const auto without = [&](Word a, Word b) { return dot(a & others, b); };
            BOOST_TEST(verdict(setup, "out", left(setup, links, without), 3) != "", variant << " without " << at);
        }
    }
}

BOOST_AUTO_TEST_CASE(short_dot_product_respects_signs) {
    const auto setup = set_up("integer_pair", probe_gpu());
    const auto unsigned_ones = [](Word a, Word b) { return (a & 0xFFFF) * (b & 0xFFFF) + (a >> 16) * (b >> 16); };
    BOOST_TEST(verdict(setup, "out", left(setup, 4, unsigned_ones), 1) != "");
}

BOOST_AUTO_TEST_CASE(dot_product_chains_detect_any_number_of_missing_links) {
    for (const std::string variant : {"integer_dot_latency", "integer_pair_latency"}) {
        const auto setup = set_up(variant, probe_cpu());
        const auto dot = variant == "integer_dot_latency" ? dot_of_bytes : dot_of_shorts;
        const auto links = 16 * std::int64_t{setup.slope->high};
        const Word s = argument<Word>(setup, "start").front();
        Word v = s, t = 0;
        std::set<std::pair<Word, Word>> seen{{v, t}};
        for (std::int64_t k = 0; k < links; ++k) {
            std::swap(v, t);
            v += dot(t, s);
            seen.emplace(v, t);
        }
        BOOST_TEST(static_cast<std::int64_t>(seen.size()) == links + 1);
    }
}

BOOST_AUTO_TEST_CASE(latency_has_one_chain_and_rate_has_four) {
    const auto rate = set_up("integer_pair", probe_gpu()), latency = set_up("integer_pair_latency", probe_gpu());
    BOOST_TEST(!rate.chained);
    BOOST_TEST(latency.chained);
    BOOST_TEST(latency.slope->steps_per_trip == 16);
    BOOST_TEST(argument<Word>(latency, "out").size() == latency.local.size[0]);
    // Of few work-items the host follows no more chains than there are.
    BOOST_TEST(argument<Word>(latency, "start").size() == latency.local.size[0]);
    BOOST_TEST(argument<Word>(rate, "start").size() == 4 * 256u);
}

BOOST_AUTO_TEST_CASE(conclusion_states_the_instructions_per_dot_product) {
    auto curve = curve_of("pair_latency", {{0, 2e-9}});
    curve.samples.front().metrics["loop_instructions"] = 16 * 5;
    const auto findings = concluded("integer", {curve, curve_of("pair", {{0, 1e-12}})}, probe_gpu());
    BOOST_TEST(says(of_id(findings, "latency.pair").how, "through 5 instructions each"));
    BOOST_TEST(of_id(findings, "pair").value == 1e12, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_SUITE_END()

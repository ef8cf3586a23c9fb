// pages without a device: what the streams read, the check, and the conclusion.
#include <boost/test/unit_test.hpp>

#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(pages)

using namespace cllab;
using namespace cllab::test;

namespace {

/// Every read of every stream, one after the other, as the definition in words says.
std::vector<std::uint32_t> walk(const model::Setup& setup, std::uint32_t lanes, bool one_by_one, std::int32_t trips) {
    const auto words = argument<std::uint32_t>(setup, "words");
    auto sums = argument<std::uint32_t>(setup, "sums");
    const auto count = static_cast<std::uint32_t>(words.size()) / lanes,
               streams = static_cast<std::uint32_t>(sums.size()) / lanes;
    std::fill(sums.begin(), sums.end(), 0);
    for (std::uint32_t stream = 0; stream < streams; ++stream) {
        for (std::uint32_t read = 0; read < 4 * static_cast<std::uint32_t>(trips); ++read) {
            const auto k = one_by_one ? stream * count / streams + read : stream + read * streams;
            for (std::uint32_t lane = 0; lane < lanes; ++lane)
                sums[stream * lanes + lane] += words[k % count * lanes + lane];
        }
    }
    return sums;
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_stream_sums_the_lines_it_visits_on_gpu_and_cpu) {
    for (const bool is_cpu : {false, true}) {
        for (const char* count : {"4", "32", "1024"}) {
            const auto setup = set_up("pages_apart", is_cpu ? probe_cpu() : probe_gpu(), {{"count", count}});
            for (const std::int32_t trips : {1, 3, 70}) {
                const auto sums = walk(setup, is_cpu ? 1 : 32, is_cpu, trips);
                require_right_and_watched(setup, "sums", sums, trips, sums.size() / 2);
                BOOST_TEST(verdict(setup, "sums", sums, trips + 1) != "", "a missing trip passed");
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(lines_apart_need_whole_pages_and_lines_together_do_not) {
    const auto bytes = [](const model::Setup& setup) { return std::get<model::Scratch>(setup.args[1]).size_bytes; };
    BOOST_TEST(bytes(set_up("pages_apart", probe_gpu(), {{"count", "64"}})) == 64u * (2 << 20));
    BOOST_TEST(bytes(set_up("pages_together", probe_gpu(), {{"count", "64"}})) == 64u * 128);
    BOOST_TEST(bytes(set_up("pages_apart", probe_cpu(), {{"count", "64"}})) == 64u * 4096);
    BOOST_TEST(bytes(set_up("pages_apart", probe_cpu(), {{"count", "64"}, {"pages", "huge"}})) == 64u * (2 << 20));
    BOOST_CHECK_THROW(set_up("pages_apart", probe_gpu(), {{"count", "16384"}}), Unsupported);  // 32 GiB of 4
    BOOST_CHECK_THROW(set_up("pages_apart", probe_gpu(), {{"page", "64"}}), Unsupported);      // less than a line
}

BOOST_AUTO_TEST_CASE(tlb_reach_is_the_last_footprint_without_extra_cost) {
    const Axes fixed{{"page", "4096"}, {"pages", "small"}};
    std::vector<std::pair<double, double>> apart, together;
    for (double count = 16; count <= 4096; count *= 2) {
        together.emplace_back(count, 1e-9);
        apart.emplace_back(count, count <= 512 ? 1.02e-9 : 5e-9);
    }
    const auto found =
        concluded("pages", {curve_of("apart", apart, fixed), curve_of("together", together, fixed)}, probe_cpu());
    require_finding(found, "TLB of streams in small pages, reach", 512 * 4096.0);
    require_finding(found, "TLB of streams in small pages, cost per load", 4e-9);
    const auto none =
        concluded("pages", {curve_of("apart", together, fixed), curve_of("together", together, fixed)}, probe_cpu());
    BOOST_REQUIRE(finding(none, "TLB of streams in small pages, reach"));
    BOOST_TEST(!finding(none, "TLB of streams in small pages, reach")->withheld.empty());
    BOOST_TEST(concluded("pages", {curve_of("apart", apart, fixed)}, probe_cpu()).empty());
}

BOOST_AUTO_TEST_SUITE_END()

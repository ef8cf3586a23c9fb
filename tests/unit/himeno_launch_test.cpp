#include <boost/test/unit_test.hpp>
#include <string>
#include <variant>

#include "unit/himeno.hpp"

BOOST_AUTO_TEST_SUITE(himeno_launch)

using namespace cllab::model;
using namespace cllab::test::himeno_cells;

BOOST_AUTO_TEST_CASE(every_interior_point_has_a_work_item_in_any_group) {
    for (const auto* name : {"schedule", "swap", "local", "registers", "wide"}) {
        for (const auto* local : {"1", "7x3", "32x4", "64x8"}) {
            const auto setup = make(name, {{"local", local}});
            const auto& sweep = std::get<Launch>(setup.steps.front());
            const std::size_t first = std::string(name) == "schedule" ? 1 : 0;
            BOOST_TEST(sweep.global.size[0] * define(setup, "LANES") + first >= small.k - 1);
            BOOST_TEST(sweep.global.size[1] >= small.j - 2);
            BOOST_TEST(sweep.global.size[2] * define(setup, "PLANES") >= small.i - 2);
            for (int d = 0; d < 3; ++d) BOOST_TEST(sweep.global.size[d] % sweep.local.size[d] == 0u);
        }
    }
}

BOOST_AUTO_TEST_CASE(every_interior_point_has_a_work_item_in_any_loop_order) {
    for (const std::string order : {"kji", "kij", "jki", "jik", "ikj", "ijk"}) {
        const auto setup = make("swap", {{"order", order}, {"local", "4x2x3"}});
        const auto& global = std::get<Launch>(setup.steps.front()).global;
        BOOST_TEST(define(setup, "K_ID") == order.find('k'));
        BOOST_TEST(global.size[order.find('k')] >= small.k - 1);
        BOOST_TEST(global.size[order.find('j')] >= small.j - 2);
        BOOST_TEST(global.size[order.find('i')] >= small.i - 2);
    }
}

BOOST_AUTO_TEST_CASE(step_6_has_the_grid_of_the_article) {
    // Size M in the article: 16 groups along the slow axis, one for each of 126 rows, of 256 points.
    const auto setup = make("schedule", {{"size", "M"}, {"local", "256"}});
    BOOST_TEST(std::get<Launch>(setup.steps.front()).global.text() == "256x126x16");
}

BOOST_AUTO_TEST_CASE(tile_of_several_planes_moves_along_i_in_whole_steps) {
    const auto setup = make("local", {{"local", "16x4x4"}, {"planes", "3"}});
    BOOST_TEST(define(setup, "PLANES") == 4u);
    const auto& sweep = std::get<Launch>(setup.steps.front());
    BOOST_TEST(sweep.global.size[2] / 4 * 4 >= small.i - 2);
    BOOST_TEST(sweep.global.size[2] % 4 == 0u);
}

BOOST_AUTO_TEST_CASE(required_group_may_exceed_the_default_limit_on_amd) {
    auto amd = gpu();
    amd.max_group = 256;  // what the driver says of kernels that promise nothing
    for (const std::size_t items : {512u, 1024u})
        BOOST_TEST(define(make("schedule", {{"size", "L"}, {"local", std::to_string(items)}}, amd), "LX") == items);
}

BOOST_AUTO_TEST_CASE(impossible_variants_are_unsupported_with_a_reason) {
    BOOST_TEST(unsupported("wide", {{"pad", "1"}}) == "a row has 33 words (axis 'pad'); it must have a multiple of 4");
    BOOST_TEST(unsupported("swap", {{"local", "64x32"}}) ==
               "a work-group of 2048 work-items is too large; at most 1024 are possible here");
    BOOST_TEST(unsupported("wide", {{"local", "64"}}, cpu()) == "axis 'local' is 64x1x1; himeno_wide needs 1 on a CPU");
    BOOST_TEST(unsupported("swap", {{"size", "XL"}}) == "size XL needs 14 GiB; the device has 4 GiB");
    auto small_buffers = gpu();
    small_buffers.max_alloc_bytes = 64u << 20;
    BOOST_TEST(unsupported("swap", {{"size", "L"}}, small_buffers) ==
               "buffer 'p' needs 128 MiB; the device allocates at most 64 MiB at once");
}

BOOST_AUTO_TEST_SUITE_END()

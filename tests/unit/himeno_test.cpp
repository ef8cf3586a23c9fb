#include "unit/himeno.hpp"

#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "experiments/lib/himeno.hpp"
#include "experiments/lib/setups.hpp"
#include "model/result.hpp"

BOOST_AUTO_TEST_SUITE(himeno_family)

using namespace cllab;
using namespace cllab::model;
using namespace cllab::model::himeno;
using namespace cllab::test::himeno_cells;

namespace {

const Experiment& family() {
    for (const auto& e : registry()) {
        if (e.family == "himeno") return e;
    }
    throw Error(Blame::usage, "no family himeno");
}

/// What a right kernel would leave: the reference's field in the setup's layout, and its residual.
struct Result {
    SharedBytes p;
    Bytes bytes;
    float gosa = 0;
    Result(const Grid& grid, std::size_t row, unsigned iterations, Data data = Data::random, std::uint64_t seed = 7) {
        const auto state = Problem(grid, data, seed).after(iterations);
        p = lib::rows_apart(share(state->p), grid.k, row);
        bytes = *p;
        gosa = static_cast<float>(state->gosa);
    }
    float& at(std::size_t word) { return reinterpret_cast<float*>(bytes.data())[word]; }
    Buffers buffers(std::uint64_t operations = 3) const {
        Buffers out;
        out.operations = operations;
        out.data["p"] = bytes;
        out.data["gosa"] = std::as_bytes(std::span(&gosa, 1));
        return out;
    }
};

double residual(const char* size, unsigned iterations) {
    return Problem(grid_of(size), Data::prescribed, 1).after(iterations)->gosa;
}

}  // namespace

// The numbers of operations, and the residuals below, are those of the original program's sizes; see the family's text.
BOOST_AUTO_TEST_CASE(operations_are_counted_over_the_true_interior) {
    BOOST_TEST(flops(grid_of("M")) == 137105136.0);
    BOOST_TEST(flops(grid_of("L")) == 1118707440.0);
    BOOST_TEST(flops(grid_of("XL")) == 9037954800.0);
    BOOST_TEST(make("swap", {{"size", "S"}}).work.flops == 34.0 * 62 * 62 * 126);
    BOOST_TEST(make("whole", {{"size", "XS"}, {"sweeps", "4"}}).work.flops == 4 * 34.0 * 30 * 30 * 62);
    BOOST_CHECK_EXCEPTION(grid_of("XXL"), Error, [](const Error& e) {
        return e.blame() == Blame::usage &&
               std::string(e.what()) == "Himeno has no size 'XXL'; the sizes are XXS, XS, S, M, L, XL";
    });
}

BOOST_AUTO_TEST_CASE(the_reference_has_the_published_residuals) {
    BOOST_TEST(residual("XS", 3) == 6.229796e-3, boost::test_tools::tolerance(1e-7));
    BOOST_TEST(residual("XS", 103) == 2.268030e-3, boost::test_tools::tolerance(3e-7));
    BOOST_TEST(residual("M", 3) == 1.693459e-3, boost::test_tools::tolerance(3e-7));
}

BOOST_AUTO_TEST_CASE(reference_point_matches_the_formula_by_hand) {
    const auto scene = std::make_shared<const Problem>(small, Data::random, 3);
    const auto state = scene->after(1);
    const auto f = [&](const SharedBytes& bytes, std::size_t i, std::size_t j, std::size_t k) {
        float out;
        std::memcpy(&out, bytes->data() + ((i * small.j + j) * small.k + k) * sizeof(float), sizeof out);
        return static_cast<double>(out);
    };
    const std::size_t i = 3, j = 5, k = 17;
    const auto c = [&](himeno::Array a) { return f(scene->coefficient(a), i, j, k); };
    const auto p = [&](int di, int dj, int dk) { return f(scene->initial_p(), i + di, j + dj, k + dk); };
    double s0 = c(wrk1);
    s0 += c(a0) * p(1, 0, 0) + c(a1) * p(0, 1, 0) + c(a2) * p(0, 0, 1);
    s0 += c(c0) * p(-1, 0, 0) + c(c1) * p(0, -1, 0) + c(c2) * p(0, 0, -1);
    s0 += c(b0) * (p(1, 1, 0) - p(1, -1, 0) - p(-1, 1, 0) + p(-1, -1, 0));
    s0 += c(b1) * (p(0, 1, 1) - p(0, -1, 1) - p(0, 1, -1) + p(0, -1, -1));
    s0 += c(b2) * (p(1, 0, 1) - p(-1, 0, 1) - p(1, 0, -1) + p(-1, 0, -1));
    const double ss = (s0 * c(a3) - p(0, 0, 0)) * c(bnd);
    BOOST_TEST(state->p[(i * small.j + j) * small.k + k] == p(0, 0, 0) + 0.8 * ss, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(boundary_is_constant_and_random_problem_is_bounded) {
    const auto scene = std::make_shared<const Problem>(small, Data::random, 3);
    const auto state = scene->after(200);
    float most = 0;
    for (std::size_t x = 0; x < small.points(); ++x) {
        const std::size_t k = x % small.k, j = x / small.k % small.j, i = x / small.k / small.j;
        most = std::max(most, std::abs(state->p[x]));
        if (i > 0 && j > 0 && k > 0 && i + 1 < small.i && j + 1 < small.j && k + 1 < small.k) continue;
        float initial;
        std::memcpy(&initial, scene->initial_p()->data() + x * sizeof(float), sizeof initial);
        BOOST_TEST(state->p[x] == initial);
    }
    BOOST_TEST(most <= 1.0f);
    BOOST_TEST(state->gosa > 0.0);
}

BOOST_AUTO_TEST_CASE(padding_between_rows_is_checked_for_writes) {
    const Grid grid{3, 3, 4};
    const auto state = Problem(grid, Data::random, 1).after(1);
    const auto wide = lib::rows_apart(share(state->p), grid.k, 6);
    std::vector<float> found(3 * 3 * 6);
    std::memcpy(found.data(), wide->data(), wide->size());
    BOOST_TEST((std::bit_cast<std::uint32_t>(found[4]) == lib::gap_word));
    BOOST_TEST(found[6] == state->p[4]);
    BOOST_TEST(!compare_field(found, *state, grid, 6, 0).has_value());
    found[6 + 5] = 0;
    BOOST_TEST(compare_field(found, *state, grid, 6, 0).value() ==
               "p[0][1][5] is 0, written though it lies between two rows");
}

BOOST_AUTO_TEST_CASE(section_has_the_interior_points_without_alignment) {
    const Grid grid{3, 4, 5};
    std::vector<float> field(grid.points());
    for (std::size_t x = 0; x < field.size(); ++x) field[x] = static_cast<float>(x);
    const auto inside = section(share(field), grid);
    std::vector<float> found(inside->size() / sizeof(float));
    std::memcpy(found.data(), inside->data(), inside->size());
    BOOST_TEST(found == (std::vector<float>{26, 27, 28, 31, 32, 33}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(words_before_the_grid_shift_it_and_must_not_be_written) {
    const Grid grid{3, 3, 4};
    const auto state = Problem(grid, Data::random, 1).after(1);
    const auto moved = lib::rows_apart(share(state->p), grid.k, 4, 3);
    std::vector<float> found(3 + grid.points());
    std::memcpy(found.data(), moved->data(), moved->size());
    BOOST_TEST(found[3] == state->p[0]);
    BOOST_TEST(!compare_field(found, *state, grid, 4, 0, nullptr, 3).has_value());
    found[2] = 0;
    BOOST_TEST(compare_field(found, *state, grid, 4, 0, nullptr, 3).value() ==
               "word 2 of p is 0, written though it lies in front of the grid");
}

BOOST_AUTO_TEST_CASE(tolerance_accepts_its_limit_and_records_the_largest_error) {
    const Grid grid{3, 3, 4};
    const auto state = Problem(grid, Data::random, 1).after(1);
    auto found = state->p;
    found[5] += 0.25f;
    BOOST_TEST(compare_field(found, *state, grid, 4, 0).has_value());
    Errors loose({0.5, 0, 0}), tight({0.125, 0, 0});
    BOOST_TEST(!compare_field(found, *state, grid, 4, 0, &loose).has_value());
    BOOST_TEST(compare_field(found, *state, grid, 4, 0, &tight).has_value());
    BOOST_TEST(std::abs(loose.absolute() - 0.25) < 1e-6);
    BOOST_TEST(loose.ulp() > 1);
}

BOOST_AUTO_TEST_CASE(interleaving_places_components_of_a_point_together) {
    const std::vector<SharedBytes> fields{share(std::vector<float>{1, 2}), share(std::vector<float>{3, 4}),
                                          share(std::vector<float>{5, 6})};
    const auto bytes = interleaved(fields);
    std::vector<float> found(6);
    std::memcpy(found.data(), bytes->data(), bytes->size());
    BOOST_TEST(found == (std::vector<float>{1, 3, 5, 2, 4, 6}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(variants_accept_the_reference_and_reject_each_defect) {
    for (const auto& device : {gpu(), cpu()}) {
        for (const auto& v : family().variants) {
            BOOST_TEST_CONTEXT(v.name << (device.is_cpu() ? " on a CPU" : " on a GPU")) {
                const auto setup = make(v.name, {}, device);
                const auto row = define(setup, "ROW");
                const unsigned iterations = setup.verify_operations * static_cast<unsigned>(setup.work.steps);
                BOOST_TEST(iterations == (v.name == "region" || v.name == "whole" ? 10u : 3u));
                Result right(small, row, iterations);
                BOOST_TEST(!setup.check(right.buffers(setup.verify_operations)).has_value());
                const unsigned more = (setup.verify_operations + 1) * static_cast<unsigned>(setup.work.steps);
                BOOST_TEST(!setup.check(Result(small, row, more).buffers(setup.verify_operations + 1)).has_value());

                auto wrong = right;
                const std::size_t last_inner = (6 * small.j + 10) * row + 30;
                wrong.at(last_inner) = std::nextafter(wrong.at(last_inner), 2.0f);
                const auto sentence = setup.check(wrong.buffers(setup.verify_operations));
                BOOST_TEST(sentence.value_or("").rfind("p[6][10][30] is ", 0) == 0u);

                wrong = right;
                wrong.at(0) = std::numeric_limits<float>::quiet_NaN();
                BOOST_TEST(setup.check(wrong.buffers(setup.verify_operations)).has_value());

                wrong = Result(small, row, iterations - 1);
                BOOST_TEST(setup.check(wrong.buffers(setup.verify_operations)).has_value());

                wrong = right;
                wrong.gosa *= 1.0001f;
                BOOST_TEST(setup.check(wrong.buffers(setup.verify_operations)).value_or("").rfind("gosa is ", 0) == 0u);
                wrong.gosa = std::numeric_limits<float>::quiet_NaN();
                BOOST_TEST(setup.check(wrong.buffers(setup.verify_operations)).has_value());
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(contracted_results_are_compared_with_a_tolerance) {
    const auto setup = make("swap", {{"contract", "on"}});
    Result found(small, small.k, 3);
    const std::size_t inner = (2 * small.j + 2) * small.k + 2;
    found.at(inner) += 1e-6f;
    BOOST_TEST(!setup.check(found.buffers()).has_value());
    found.at(inner) += 1e-5f;
    BOOST_TEST(setup.check(found.buffers()).has_value());
    BOOST_TEST(define(setup, "HIMENO_CONTRACT") == 1u);
}

BOOST_AUTO_TEST_CASE(first_verification_is_random_and_timed_data_prescribed) {
    const auto first = make("swap", {}, gpu(), 0), second = make("swap", {}, gpu(), 1);
    Result random(small, small.k, 3), prescribed(small, small.k, 3, Data::prescribed);
    BOOST_TEST(!first.check(random.buffers()).has_value());
    BOOST_TEST(first.check(prescribed.buffers()).has_value());
    BOOST_TEST(!second.check(prescribed.buffers()).has_value());
    BOOST_TEST(second.check(random.buffers()).has_value());
    BOOST_TEST(!first.observe);
    const auto seen = second.observe(prescribed.buffers(), 803);
    BOOST_TEST(seen.at(0).first == "gosa");
    BOOST_TEST(seen.at(0).second == static_cast<double>(prescribed.gosa));
    BOOST_TEST(seen.at(1).second == 803.0);
    BOOST_TEST(!make("swap", {{"data", "random"}}, gpu(), 1).observe);
}

BOOST_AUTO_TEST_CASE(steps_of_the_article_make_the_stated_transfers) {
    const auto count = [](const Setup& setup, auto is) {
        std::size_t n = 0;
        for (const auto& step : setup.steps) n += is(step);
        return n;
    };
    const auto uploads = [](const Step& s) { return std::holds_alternative<Upload>(s); };
    const auto downloads = [](const Step& s) { return std::holds_alternative<Download>(s); };
    const auto launches = [](const Step& s) { return std::holds_alternative<Launch>(s); };
    const auto swaps = [](const Step& s) { return std::holds_alternative<Swap>(s); };
    struct Expected {
        const char* name;
        std::size_t up, down, launch, swap;
    };
    for (const Expected& e :
         {Expected{"transfers", 13, 2, 3, 0}, Expected{"region", 13, 2, 30, 0}, Expected{"whole", 13, 2, 30, 0},
          Expected{"data", 0, 1, 3, 0}, Expected{"resident", 0, 0, 3, 0}, Expected{"schedule", 0, 0, 3, 0},
          Expected{"padded", 0, 0, 3, 0}, Expected{"swap", 0, 0, 2, 1}, Expected{"wide", 0, 0, 2, 1}}) {
        BOOST_TEST_CONTEXT(e.name) {
            const auto setup = make(e.name, {});
            BOOST_TEST(count(setup, uploads) == e.up);
            BOOST_TEST(count(setup, downloads) == e.down);
            BOOST_TEST(count(setup, launches) == e.launch);
            BOOST_TEST(count(setup, swaps) == e.swap);
        }
    }
    BOOST_TEST(std::get<Upload>(make("region", {}).steps.front()).piece_bytes ==
               30u * 10 * 4);  // a plane inside the boundary
    BOOST_TEST(define(make("resident", {}), "ROW") == 33u);
    BOOST_TEST(define(make("region", {}), "ROW") == 32u);  // the shape of the section, not of the static array
    BOOST_TEST(define(make("padded", {}), "ROW") == 64u);
    BOOST_TEST(define(make("swap", {}), "ROW") == 32u);
}

BOOST_AUTO_TEST_CASE(summary_has_the_fastest_record_per_device_and_size) {
    Record slow;
    slow.id = "himeno_swap";
    slow.device.name = "test GPU";
    slow.point = {{"size", "M"}};
    slow.time = Timing{};
    slow.metrics = {
        {"flops", {1e9, "FLOP/s"}}, {"score", {12.071, ""}}, {"gosa", {8.3814e-4, ""}}, {"iterations", {803, ""}}};
    auto fast = slow;
    fast.id = "himeno_wide";
    fast.metrics[0].second.value = 2e9;
    auto random = fast;
    random.id = "himeno_random";
    random.metrics = {{"flops", {9e9, "FLOP/s"}}};
    const auto text = family().summary({&slow, &fast, &random});
    BOOST_TEST(text.rfind("himeno_wide on 'test GPU'\n mimax = 128 mjmax = 128 mkmax = 256 (size M)\n", 0) == 0u);
    BOOST_TEST(text.find(" Gosa : 8.381400e-04\n MFLOPS measured : 2000.000\n") != std::string::npos);
    BOOST_TEST(text.find("himeno_swap") == std::string::npos);
    BOOST_TEST(family().summary({&random}).empty());
}

BOOST_AUTO_TEST_CASE(summary_separates_devices_as_the_tables_do) {
    Record here;
    here.id = "himeno_swap";
    here.device = {.name = "test GPU", .driver = "1.0", .type = "gpu", .selector = "0:0"};
    here.host.name = "node1";
    here.point = {{"size", "M"}};
    here.time = Timing{};
    here.metrics = {
        {"flops", {1e9, "FLOP/s"}}, {"score", {12.071, ""}}, {"gosa", {8.3814e-4, ""}}, {"iterations", {803, ""}}};
    auto there = here;
    there.host.name = "node2";
    const auto blocks = [](const std::string& text) {
        std::size_t count = 0;
        for (auto at = text.find("himeno_"); at != std::string::npos; at = text.find("himeno_", at + 1)) ++count;
        return count;
    };
    BOOST_TEST(blocks(family().summary({&here, &there})) == 2u);  // one selector, two machines
    auto moved = here;
    moved.device.selector = "1:0";  // another driver was installed before its own
    BOOST_TEST(blocks(family().summary({&here, &moved})) == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

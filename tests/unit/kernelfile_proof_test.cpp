// What others say of a kernel's results, and relations, with no device.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/half.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "kernelfile/data/data.hpp"
#include "kernelfile/proof/proof.hpp"

BOOST_AUTO_TEST_SUITE(kernelfile_proof)

using namespace cllab;
using namespace cllab::kernelfile;

namespace {

const auto float_type = *model::builtin_type("float"), int_type = *model::builtin_type("int");

ArgumentArray array(const std::string& type, std::vector<std::size_t> shape, const model::SharedBytes& data = {}) {
    return {"x", *model::builtin_type(type), std::move(shape), data};
}

Ledger::Question question(std::uint64_t seed) {
    Ledger::Question out;
    out.comparison = "c";
    out.variant = "k";
    out.results = {{"y", int_type}};
    out.seed = seed;
    out.random_inputs = true;
    return out;
}

std::string asked(Ledger& ledger, const Ledger::Question& question, const std::vector<std::int32_t>& y) {
    model::Buffers buffers;
    const auto bytes = model::to_bytes(y);
    buffers.data.emplace("y", bytes);
    return ledger.check(question, buffers).value_or("right");
}

std::string refusal(const std::string& text) {
    try {
        parse_relation(text, {"k.cl", 3, 1});
    } catch (const Error& e) {
        return e.what();
    }
    return {};
}

}  // namespace

BOOST_AUTO_TEST_CASE(written_array_is_read_again_with_its_shape) {
    for (const auto& shape : {std::vector<std::size_t>{}, {6}, {2, 3}, {1, 2, 3}}) {
        std::vector<std::int32_t> values(shape.empty() ? 1 : 6, 7);
        const auto header = npy_header(array("int", shape));
        std::vector<char> file(header.begin(), header.end());
        const auto* const data = reinterpret_cast<const char*>(values.data());
        file.insert(file.end(), data, data + values.size() * sizeof values[0]);
        const auto read = read_npy(model::to_bytes(file), "x.npy", {"t", 0, 0});
        BOOST_TEST(read.shape == shape);
        BOOST_TEST(read.type == "int");
        BOOST_TEST((read.data == model::to_bytes(values)));
        BOOST_TEST(header.size() % 64 == 0u);
    }
}

BOOST_AUTO_TEST_CASE(answers_are_keyed_by_all_inputs) {
    const auto one = model::share(std::vector<int>{1, 2}), two = model::share(std::vector<int>{1, 3});
    const auto key = key_of({array("int", {2}, one)});
    BOOST_TEST(key == key_of({array("int", {2}, one)}));
    BOOST_TEST(key != key_of({array("int", {2}, two)}));
    BOOST_TEST(key != key_of({array("int", {1, 2}, one)}));
    BOOST_TEST(key != key_of({array("uint", {2}, one)}));
}

BOOST_AUTO_TEST_CASE(proof_reports_the_strongest_check) {
    Ledger ledger;
    auto all = question(1);
    BOOST_TEST(asked(ledger, all, {1, 2}) == "right");
    BOOST_TEST(ledger.proof(all).checked_by == "only itself");
    all.relations = {{parse_relation("sum of y is 3", {"k.cl", 1, 1}), {}, 3}};
    BOOST_TEST(ledger.proof(all).checked_by == "relation sum of y is 3, one input");
    all.agreement = Agreement{Agreement::Kind::agrees, "Oclgrind at n=16", ""};
    BOOST_TEST(ledger.proof(all).checked_by == "agrees with Oclgrind at n=16, relation sum of y is 3, one input");
    all.answer = Answer{{{"y", model::to_bytes(std::vector<int>{1, 2})}}};
    all.reference = "slow";
    BOOST_TEST(ledger.proof(all).checked_by ==
               "reference slow, reference command, agrees with Oclgrind at n=16, relation sum of y is 3, one input");
}

BOOST_AUTO_TEST_CASE(unordered_results_are_compared_in_ascending_order) {
    Ledger ledger;
    auto one = question(1);
    one.any_order = {parse_relation("any order of y", {"k.cl", 1, 1})};
    BOOST_TEST(asked(ledger, one, {3, -1, 2, -7}) == "right");
    BOOST_TEST(asked(ledger, one, {2, -7, 3, -1}) == "right");
    BOOST_TEST(asked(ledger, one, {2, -7, 3, -2})
                   .starts_with("it is not deterministic: y[1] is -2, an earlier launch on the same data had -1"));
    // What others say has an order of its own.
    auto two = question(2);
    two.any_order = one.any_order;
    two.answer = Answer{{{"y", model::to_bytes(std::vector<int>{2, 3, -1})}}};
    two.results.front().expected = model::share(std::vector<int>{-1, 3, 2});
    BOOST_TEST(asked(ledger, two, {3, 2, -1}) == "right");
    BOOST_TEST(asked(ledger, two, {3, 3, -1}) == "y[1] is 3, expected 2; 1 of 3 elements differ");
    BOOST_TEST(ledger.proof(two).checked_by.find("any order") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(rows_sort_the_same_element_of_each_array_together) {
    const auto sorted = [](const std::string& line, const std::string& type, auto values) {
        std::map<std::string, model::Bytes, std::less<>> contents{{"y.1", model::to_bytes(values)}};
        put_in_order({parse_relation(line, {"k.cl", 1, 1})}, {{"y", *model::builtin_type(type)}}, ".1", contents);
        std::memcpy(values.data(), contents.at("y.1").data(), contents.at("y.1").size());
        return values;
    };
    BOOST_TEST(sorted("any order of y / 2", "int", std::vector<int>{3, 1, 2, 30, 10, 20}) ==
               (std::vector<int>{1, 2, 3, 10, 20, 30}));
    BOOST_TEST(sorted("any order of y", "int2", std::vector<int>{3, 1, 2, 9, 2, 8}) ==
               (std::vector<int>{2, 8, 2, 9, 3, 1}));
    BOOST_TEST(sorted("any order of y", "float", std::vector<float>{1.5f, -2.5f, 0.0f, -0.5f}) ==
               (std::vector<float>{-2.5f, -0.5f, 0.0f, 1.5f}));
    BOOST_TEST(sorted("any order of y", "uint", std::vector<unsigned>{4000000000u, 5}) ==
               (std::vector<unsigned>{5, 4000000000u}));
    BOOST_TEST(sorted("sum of y is 3", "int", std::vector<int>{2, 1}) == (std::vector<int>{2, 1}));
}

BOOST_AUTO_TEST_CASE(reference_overrides_a_differing_device) {
    Ledger ledger;
    auto differs = question(1);
    differs.agreement = Agreement{Agreement::Kind::differs, "", "they differ"};
    BOOST_TEST(asked(ledger, differs, {1, 2}) == "they differ");
    differs.answer = Answer{{{"y", model::to_bytes(std::vector<int>{1, 2})}}};
    BOOST_TEST(asked(ledger, differs, {1, 2}) == "right");
    BOOST_TEST(ledger.proof(differs).checked_by == "reference command, one input");
    BOOST_TEST(ledger.proof(differs).warnings.front() == "elsewhere: they differ");
    differs.answer->remark = "; stale";
    BOOST_TEST(asked(ledger, differs, {1, 3}) == "y[1] is 3, the reference command has 2; 1 of 2 elements differ; stale");
    differs.answer->trouble = "it hangs";
    BOOST_CHECK_THROW(asked(ledger, differs, {1, 2}), Error);
}

BOOST_AUTO_TEST_CASE(proposed_tolerance_covers_all_differences) {
    const std::vector<float> expected{1, 1000, -3, 0.5f}, found{1.0000001f, 1000.0001f, -3.0000005f, 0.5f};
    const auto a = model::to_bytes(found), e = model::to_bytes(expected);
    model::Errors none(Tolerance{});
    const auto wrong = difference("y", a, e, float_type, none, "expected", true).value();
    const auto at = wrong.find("'tolerance relative=");
    BOOST_REQUIRE(at != std::string::npos);
    model::Errors proposed(Tolerance{0, std::stod(wrong.substr(at + 20)), 0});
    BOOST_TEST(!difference("y", a, e, float_type, proposed, "expected"));
    const auto nan = model::to_bytes(std::vector<float>{std::nanf(""), 1000, -3, 0.5f});
    BOOST_TEST(difference("y", nan, e, float_type, none, "expected", true).value().find("no tolerance") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(large_results_report_the_first_error_and_prior_deviations) {
    constexpr std::size_t count = 4 * parallel_piece;
    const Tolerance allowed{0, 1e-3, 0};
    std::vector<float> expected(count), found(count);
    for (std::size_t i = 0; i < count; ++i) {
        expected[i] = 1 + static_cast<float>(i % 1000);
        found[i] = expected[i] * (1 + 1e-9f * static_cast<float>(i));
    }
    found[7] = 0, found[8] = std::nanf("");
    expected[7] = -0.0f, expected[8] = -std::nanf("");
    for (const std::size_t wrong : {count - 1, 3 * parallel_piece, 2 * parallel_piece - 1, std::size_t{1}}) {
        found[wrong] = -1;  // and all those behind it that were made so before
        model::Errors own(allowed), serial(allowed);
        const auto said =
            difference("y", model::to_bytes(found), model::to_bytes(expected), float_type, own, "expected");
        BOOST_TEST(said.value().find("y[" + std::to_string(wrong) + "] is -1, expected ") == 0u, *said);
        for (std::size_t i = 0; i <= wrong; ++i)
            if (std::memcmp(&found[i], &expected[i], sizeof(float)) != 0)
                BOOST_REQUIRE(serial.tolerates(found[i], expected[i]) == (i != wrong));
        BOOST_TEST((own.absolute() == serial.absolute() && own.relative() == serial.relative() &&
                    own.ulp() == serial.ulp() && own.of_floating_point()));
    }
}

namespace {

/// Compares as vector loops do and lane by lane: arrays with small errors, zeros of both signs, NaN on both sides, and
/// perhaps one lane that is wrong.
template <typename T>
void compare_both_ways(const char* name, const Tolerance& allowed, std::size_t count,
                       std::optional<std::size_t> wrong) {
    const auto type = *model::data_type(name);
    std::vector<T> expected(count), found;
    fill_random(std::as_writable_bytes(std::span(expected)), count);
    if constexpr (std::is_floating_point_v<T>)
        for (auto& value : expected) value = static_cast<T>(std::remainder(value, T{1000}));
    expected[0] = expected[2] = expected[count / 2] = {};
    found = expected;
    const auto bytes = std::as_writable_bytes(std::span(found));
    for (std::size_t i = 0; i < count; i += 1 + i % 3) bytes[i * sizeof(T)] ^= std::byte{1};
    if (!std::is_integral_v<T>) bytes[3 * sizeof(T) - 1] ^= std::byte{128};
    if (wrong) bytes[(*wrong + 1) * sizeof(T) - 1] ^= std::byte{96};
    model::Errors own(allowed), serial(allowed);
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < count && !first; ++i)
        if (std::memcmp(&found[i], &expected[i], sizeof(T)) != 0 && !serial.tolerates(found[i], expected[i])) first = i;
    const auto said = difference("y", bytes, std::as_bytes(std::span(expected)), type, own, "expected");
    BOOST_TEST(said.has_value() == first.has_value(), name);
    if (said && first) BOOST_TEST(said->find("y[" + std::to_string(*first) + "] ") == 0u, *said);
    BOOST_TEST((own.absolute() == serial.absolute() && own.relative() == serial.relative() &&
                own.ulp() == serial.ulp() && own.of_floating_point() == serial.of_floating_point()),
               name << " " << count);
}

}  // namespace

BOOST_AUTO_TEST_CASE(vector_loops_find_the_errors_that_one_lane_after_the_other_has) {
    for (const Tolerance& allowed : {Tolerance{1e9, 0, 0}, {0, 0.5, 0}, {0, 0, 1}, {1, 1e-6, 2}, {}})
        for (const std::size_t count : {5, 1023, 1025, 65537, 3 * 65536 + 5})
            for (const auto wrong :
                 {std::optional<std::size_t>(), std::optional(count - 1), std::optional(count / 2)}) {
                compare_both_ways<Half>("half", allowed, count, wrong);
                compare_both_ways<Bfloat16>("bf16", allowed, count, wrong);
                compare_both_ways<float>("float", allowed, count, wrong);
                compare_both_ways<double>("double", allowed, count, wrong);
                compare_both_ways<std::uint8_t>("uchar", allowed, count, wrong);
                compare_both_ways<std::int16_t>("short", allowed, count, wrong);
                compare_both_ways<std::uint32_t>("uint", allowed, count, wrong);
                compare_both_ways<std::int64_t>("long", allowed, count, wrong);
            }
}

BOOST_AUTO_TEST_CASE(padding_of_vectors_is_compared_with_nothing) {
    std::vector<float> expected(4 * 3000, 1.0f), found = expected;
    for (std::size_t i = 3; i < found.size(); i += 4) found[i] = std::nanf("");
    model::Errors errors(Tolerance{0, 0, 1});
    const auto apart = [&] {
        return difference("y", model::to_bytes(found), model::to_bytes(expected), *model::data_type("float3"), errors,
                          "expected");
    };
    BOOST_TEST((!apart() && !errors.of_floating_point()));
    found[2001] = std::nextafter(1.0f, 2.0f);
    BOOST_TEST((!apart() && errors.of_floating_point() && errors.ulp() == 1));
    found[2002] = 2;
    BOOST_TEST(apart().value().find("y[500].s2 is 2, expected 1") == 0u);
}

BOOST_AUTO_TEST_CASE(remaining_poison_is_counted_anywhere) {
    std::vector<std::byte> data(4 * 8 * parallel_piece + 5), written(data.size());
    model::poison(data, 3);
    const auto element = *model::builtin_type("uchar");
    BOOST_TEST(untouched_bytes(data, 3, element) == data.size());
    BOOST_TEST(untouched_bytes(data, 4, element) == 0u);
    constexpr std::size_t step = 1 << 15;
    for (std::size_t at = 0; at + 16 < data.size(); at += step) {
        std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(at), 16,
                    written.begin() + static_cast<std::ptrdiff_t>(at));
        BOOST_REQUIRE(untouched_bytes(written, 3, element) == (at / step + 1) * 16);
    }
}

BOOST_AUTO_TEST_CASE(no_tolerance_is_proposed_for_errors_beyond_rounding) {
    // Nobody wrote the last two; what they hold is the same on both sides and says nothing of the others' size.
    const std::vector<float> expected{1, 0.5f, 0.25f, 0.75f, 1e30f, 1e30f};
    auto found = expected;
    found[1] = 0.875f;
    model::Errors errors{Tolerance{}};
    for (const bool all_errors : {false, true}) {
        const auto wrong = difference("y", std::as_bytes(std::span(found)), std::as_bytes(std::span(expected)),
                                      *model::builtin_type("float"), errors, "expected", all_errors);
        BOOST_REQUIRE(wrong.has_value());
        BOOST_TEST(wrong->find("y[1] is 0.875") == 0u, *wrong);
        BOOST_TEST(wrong->find("tolerance") == std::string::npos, *wrong);
    }
}

BOOST_AUTO_TEST_CASE(expected_zeros_get_a_tolerance_only_if_it_covers_them) {
    model::Errors none{Tolerance{}};
    const auto differ = [&](const std::vector<float>& found, const std::vector<float>& expected) {
        return difference("y", model::to_bytes(found), model::to_bytes(expected), float_type, none, "expected", true)
            .value();
    };
    BOOST_TEST(differ({0, 5}, {0, 0}) ==
               "y[1] is 5, expected 0; the largest errors are 5.0 absolute, some where 0 is expected");
    // The others differ by roundings.
    BOOST_TEST(differ({1.0000001f, 5, 2}, {1, 0, 2}).find("tolerance") == std::string::npos);
    BOOST_TEST(differ({1.0000001f, 1e-6f, 2}, {1, 0, 2}).find("'tolerance absolute=") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(absolute_tolerance_is_proposed_by_the_median_of_the_expected_sizes) {
    const auto each_type = [](const auto& test) {
        test("float", [](double x) { return static_cast<float>(x); });
        test("double", [](double x) { return x; });
        test("half", [](double x) { return to_half(x); });
        test("bf16", [](double x) { return to_bfloat16(static_cast<float>(x)); });
    };
    Random random(1);
    const std::vector<std::function<double()>> kinds{
        [] { return 1; },
        [&] { return random.real(-1, 1); },
        [&] { return random.below(2) ? 2 : -1000; },  // ties
        [&] { return random.below(2) ? std::array<double, 4>{NAN, INFINITY, -INFINITY, 0}.at(random.below(4)) : 8; }};
    for (const std::size_t count : {1, 2, 3, 4, 1025, 2 * 65536 + 5})
        for (const auto& kind : kinds)
            each_type([&](const char* type, const auto& lane) {
                std::vector<decltype(lane(0))> expected(count);
                for (auto& one : expected) one = lane(kind());
                expected.back() = lane(0);  // no relative tolerance takes it
                std::vector<double> sizes;
                for (const auto one : expected)
                    if (std::isfinite(static_cast<double>(one))) sizes.push_back(std::abs(static_cast<double>(one)));
                std::ranges::sort(sizes);
                const auto median = sizes[sizes.size() / 2];
                for (const double part : {0.5e-3, 0.99e-3, 0.999e-3, 1e-3, 1.001e-3, 1.01e-3, 2e-3}) {
                    auto found = expected;
                    found.back() = lane(median > 0 ? part * median : part);
                    const auto error = static_cast<double>(found.back());
                    if (error == 0) continue;
                    model::Errors none{Tolerance{}};
                    const auto wrong = difference("y", std::as_bytes(std::span(found)),
                                                  std::as_bytes(std::span(expected)), *model::data_type(type), none,
                                                  "expected")
                                           .value();
                    BOOST_TEST((wrong.find("'tolerance absolute=") != std::string::npos) == (error < 1e-3 * median),
                               type << " " << count << " " << part << ": " << wrong);
                }
            });
}

BOOST_AUTO_TEST_CASE(first_wrong_byte_or_nibble_of_large_arrays_is_found) {
    constexpr std::size_t count = 3 * parallel_piece + 5;
    const auto differs = [&](const char* type, std::size_t at, std::byte value, const Tolerance& tolerance = {}) {
        model::Bytes found(count), expected(count);
        found[count - 1] = found[at] = value;
        model::Errors errors(tolerance);
        const auto of = model::data_type(type).value_or(model::ElementType{});
        return difference("x", found, expected, of, errors, "expected").value_or("");
    };
    for (const std::size_t at : {std::size_t{1}, parallel_piece - 1, parallel_piece + 1, 2 * parallel_piece + 77}) {
        BOOST_TEST(differs("nibble", at, std::byte{0x50}) == "x[" + std::to_string(2 * at + 1) + "] is 5, expected 0");
        BOOST_TEST(differs("nibble", at, std::byte{0x05}) == "x[" + std::to_string(2 * at) + "] is 5, expected 0");
        BOOST_TEST(differs("nibble", at, std::byte{0x55}, {5, 0, 0}) == "");
        BOOST_TEST(differs("thing", at, std::byte{7}) == "byte " + std::to_string(at) + " of x is 7, expected 0");
    }
}

BOOST_AUTO_TEST_CASE(malformed_relation_is_refused_at_its_place) {
    for (const char* text : {"odd in x", "linear in x y", "same under permute", "sum of y", "sum of y preserved in x"})
        BOOST_TEST(refusal(text).starts_with("k.cl:3:1: 'relation' takes"), text);
    BOOST_TEST(refusal("sum of y is n * 2").empty());
    BOOST_TEST(refusal("same under permute x, y").empty());
}

BOOST_AUTO_TEST_CASE(linear_makes_three_launches_with_the_sum_last) {
    model::Setup setup;
    setup.args = {model::Input{"x", model::share(std::vector<int>(8, 1))}, model::Output{"y", 32},
                  model::value("n", 8)};
    setup.global = model::Extent(8);
    const auto value = [](const Expression&) { return 0.0; };
    const auto line = parse_relation("linear in x", {"k.cl", 1, 1});
    const auto made = relate({line}, setup, {{"x", int_type}, {"y", int_type}}, value, 1, true);
    BOOST_REQUIRE(made.launches);
    BOOST_TEST(made.launches->steps.size() == 3u);
    BOOST_TEST(!relate({line}, setup, {{"x", int_type}, {"y", int_type}}, value, 1, false).launches);
    std::vector<const std::byte*> x;
    for (const auto& argument : made.launches->args)
        if (const auto* input = std::get_if<model::Input>(&argument)) x.push_back(input->data->data());
    BOOST_REQUIRE(x.size() == 3u);
    for (std::size_t i = 0; i < 8; ++i)
        BOOST_TEST(signed_lane(x[2] + 4 * i, 4) == 2 * signed_lane(x[0] + 4 * i, 4) + signed_lane(x[1] + 4 * i, 4));
}

BOOST_AUTO_TEST_SUITE_END()

// The grammar of kernel files and what their results are held against, with no device.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>

#include "core/error.hpp"
#include "kernelfile/data/data.hpp"
#include "kernelfile/proof/proof.hpp"

BOOST_AUTO_TEST_SUITE(kernelfile_test)

using namespace cllab;
using namespace cllab::kernelfile;

namespace {

std::int64_t value(const std::string& text) {
    return Expression::parse(text, {"t", 1, 1})
        .evaluate([](const std::string& name, const Place& place) -> std::int64_t {
            if (name == "n") return 100;
            refuse(place, "unknown " + name);
        });
}

std::string refusal(const std::string& text) {
    try {
        value(text);
    } catch (const Error& e) {
        return e.what();
    }
    return {};
}

model::SharedBytes floats(std::vector<float> v) { return model::share(v); }

Ledger::Question question(const std::string& variant, std::uint64_t seed) {
    Ledger::Question out;
    out.comparison = "c";
    out.alike = "variants of one kernel";
    out.variant = variant;
    out.results = {{"dst", *model::builtin_type("float")}};
    out.seed = seed;
    out.random_inputs = true;
    return out;
}

std::optional<std::string> left(Ledger& ledger, const Ledger::Question& question, const model::SharedBytes& bytes) {
    model::Buffers buffers;
    buffers.data.emplace("dst", *bytes);
    return ledger.check(question, buffers);
}

}  // namespace

BOOST_AUTO_TEST_CASE(integer_expressions_have_precedence_and_round_down) {
    BOOST_TEST(value("1 + 2 * 3") == 7);
    BOOST_TEST(value("(1 + 2) * 3") == 9);
    BOOST_TEST(value("-n / 3") == -34);  // rounded down, as ceil is rounded up
    BOOST_TEST(value("ceil(-n / 3)") == -33);
    for (const char* a : {"-n", "n", "-n + 2", "0"})
        for (const char* b : {"7", "-7", "3", "-3"}) {
            const std::string x = "(" + std::string(a) + ")", y = "(" + std::string(b) + ")";
            BOOST_TEST(value(y + " * (" + x + " / " + y + ") + " + x + " % " + y) == value(a), a << " % " << b);
        }
    BOOST_TEST(value("-n % 7") == 5);
    BOOST_TEST(value("ceil(n / 16) * 16") == 112);
    BOOST_TEST(value("max(1, min(n, 4Ki), 7) - n % 7") == 98);
    BOOST_TEST(value("1 << 2 + 3") == 32);
    BOOST_TEST(value("-n >> 3 << 1") == -26);  // rounded down too
}

BOOST_AUTO_TEST_CASE(conditions_compare_and_combine_like_c) {
    const auto holds = [](const std::string& text) {
        return Expression::condition(text, {"t", 1, 1}).evaluate([](const std::string&, const Place&) -> std::int64_t {
            return 100;
        }) == 1;
    };
    for (const char* text :
         {"n == 100", "n != 1", "n <= 100", "n >= 100", "n < 101", "n > 99", "n % 10 == 0 && n / 10 == 10",
          "n == 1 || n == 100", "n == 100 || n == 1 && n == 2", "(n == 1 || n == 100) && n > 99", "n << 1 > n >> 1",
          "2 * n == 200", "max(n, 4Ki) == 4Ki", "-n < 0"})
        BOOST_TEST(holds(text), text);
    for (const char* text : {"n == 99", "n != 100", "n <= 99", "n >= 101", "n < 100", "n > 100", "n == 100 && n == 1",
                             "n == 1 || n == 2", "(n == 100 || n == 1) && n == 2"})
        BOOST_TEST(!holds(text), text);
    const auto names = Expression::condition("max(a, b) % 4Ki == c", {"t", 1, 1}).names();
    for (const char* name : {"a", "b", "c"}) BOOST_TEST(names.count(name) == 1u, name);
    BOOST_TEST(names.count("max") == 0u);
    BOOST_CHECK_THROW(Expression::condition("n % 10", {"t", 1, 1}), Error);
}

BOOST_AUTO_TEST_CASE(invalid_expression_reports_its_place) {
    BOOST_TEST(refusal("n + m") == "t:1:5: unknown m");
    BOOST_TEST(refusal("n / (n - 100)") == "t:1:3: division by zero");
    BOOST_TEST(refusal("n * 9223372036854775807") == "t:1:3: the value does not fit in 63 bits");
    BOOST_TEST(refusal("n << 62") == "t:1:3: the value does not fit in 63 bits");
    BOOST_TEST(refusal("n >> n") == "t:1:3: this shifts by 100 places; expected 0 to 62");
    BOOST_TEST(refusal("n < 3").find("expected an operator") != std::string::npos);
    BOOST_TEST(refusal(std::string(100, '(') + "1").find("nested deeper than") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(later_description_wins_and_repeated_statements_are_errors) {
    Description block, option;
    parse_blocks("int a;\n/*cllab\narg n = 3\n# a comment\naxis m = 1,2 # another\n*/", "k.cl", block);
    BOOST_TEST(block.all.arguments.at("n").place.text() == "k.cl:3:9");
    parse_option("arg", "n=4", option);
    override_with(block, option);
    BOOST_TEST(block.all.arguments.at("n").text == "4");
    BOOST_TEST(block.axes.front().values == "1,2");
    BOOST_CHECK_THROW(parse_statements("arg a = 1\narg a = 2", "k.cllab", 1, option), Error);
}

BOOST_AUTO_TEST_CASE(halves_are_rounded_to_nearest_even) {
    const auto half = *model::builtin_type("half");
    std::byte bytes[2];
    for (const auto& [in, out] : {std::pair(1.0, 1.0),
                                  {0.1, 0.0999755859375},
                                  {65504.0, 65504.0},
                                  {1e-7, 1.1920928955078125e-07},
                                  {-2.5, -2.5},
                                  {2049.0, 2048.0}}) {
        put_real(bytes, half, in);
        BOOST_TEST(lane_value(bytes, half) == out);
    }
}

BOOST_AUTO_TEST_CASE(difference_reports_element_lane_and_tolerance) {
    const auto a = floats({1, 2, 3, 4}), b = floats({1, 2.5f, 3, 4});
    const auto type = *model::builtin_type("float2");
    const auto told = [](const auto& name, const auto& found, const auto& expected, const auto& of,
                         const Tolerance& tolerance, const auto& whose) {
        model::Errors errors(tolerance);
        return kernelfile::difference(name, found, expected, of, errors, whose);
    };
    BOOST_TEST(told("dst", *a, *b, type, {}, "expected").value() == "dst[0].s1 is 2, expected 2.5");
    BOOST_TEST(!told("dst", *a, *b, type, {0.5, 0, 0}, "expected"));
    BOOST_TEST(!told("dst", *a, *b, type, {0, 0.2, 0}, "expected"));
    const auto next = floats({1, std::nextafter(2.0f, 3.0f), 3, 4});
    BOOST_TEST(told("dst", *a, *next, type, {}, "expected").has_value());
    BOOST_TEST(!told("dst", *a, *next, type, {0, 0, 1}, "expected"));
}

BOOST_AUTO_TEST_CASE(agreement_needs_two_variants_and_reports_the_odd_one) {
    Ledger ledger;
    const auto right = floats({1, 2, 3, 4}), other = floats({5, 6, 7, 8}), wrong = floats({1, 2, 3, 5});
    BOOST_TEST(!left(ledger, question("a", 1), right));
    BOOST_TEST(!left(ledger, question("a", 2), other));
    BOOST_TEST(ledger.proof(question("a", 2)).checked_by == "only itself");
    BOOST_TEST(
        left(ledger, question("a", 2), wrong).value().find("it is not deterministic: dst[0] is 1, an earlier launch") ==
        0u);
    BOOST_TEST(!left(ledger, question("a", 2), other));
    BOOST_TEST(!left(ledger, question("b", 1), right));
    BOOST_TEST(!left(ledger, question("b", 2), other));
    BOOST_TEST(ledger.proof(question("a", 2)).checked_by == "agreement of 2");
    BOOST_TEST(!left(ledger, question("c", 1), wrong));
    BOOST_TEST(ledger.proof(question("c", 1)).disagrees ==
               "dst[3] is 5, 'a' has 4; 1 of 4 elements differ; a line 'reference NAME' says which one is right");
    // Two against one.
    BOOST_TEST(ledger.proof(question("a", 2)).checked_by == "disputed by c");
    BOOST_TEST(ledger.proof(question("a", 2)).disagrees == "");
    // One against one.
    Ledger other_ledger;
    BOOST_TEST(!left(other_ledger, question("a", 1), right));
    BOOST_TEST(!left(other_ledger, question("c", 1), wrong));
    BOOST_TEST(other_ledger.proof(question("a", 1)).disagrees ==
               "dst[3] is 4, 'c' has 5; 1 of 4 elements differ; a line 'reference NAME' says which one is right");
    // One that is not deterministic is no evidence against the other.
    BOOST_TEST(!left(other_ledger, question("a", 2), other));
    BOOST_TEST(!left(other_ledger, question("c", 2), other));
    BOOST_TEST(left(other_ledger, question("c", 2), right).has_value());
    BOOST_TEST(other_ledger.proof(question("a", 1)).disagrees == "");
    BOOST_TEST(other_ledger.proof(question("a", 1)).checked_by == "only itself");
}

BOOST_AUTO_TEST_CASE(kernels_not_declared_the_same_may_differ) {
    Ledger ledger;
    const auto ask = [](const std::string& variant, std::uint64_t seed) {
        auto out = question(variant, seed);
        out.alike = variant;
        return out;
    };
    const auto one = floats({1, 2, 3, 4}), two = floats({5, 6, 7, 8});
    for (const std::uint64_t seed : {1, 2}) {
        BOOST_TEST(!left(ledger, ask("sum", seed), one));
        BOOST_TEST(!left(ledger, ask("product", seed), two));
    }
    const auto alone = ledger.proof(ask("sum", 2));
    BOOST_TEST(alone.checked_by == "only itself");
    BOOST_TEST(alone.disagrees.find("'product' takes the same arguments") == 0u);
    BOOST_TEST(alone.disagrees.find("; if they compute different things, add the line 'differ sum, product' to ") !=
               std::string::npos);
    auto may_differ = ask("sum", 2);
    may_differ.differs = {"sum", "product"};
    BOOST_TEST(ledger.proof(may_differ).disagrees.empty());
    // One line declares all kernels of a file.
    Ledger unrelated;
    const auto three = floats({7, 7, 7, 7});
    for (const std::uint64_t seed : {1, 2}) {
        BOOST_TEST(!left(unrelated, ask("sum", seed), one));
        BOOST_TEST(!left(unrelated, ask("product", seed), two));
        BOOST_TEST(!left(unrelated, ask("maximum", seed), three));
    }
    BOOST_TEST(unrelated.proof(ask("sum", 2)).disagrees.find("'differ sum, maximum, product' to ") !=
               std::string::npos);
    // Equal results of other data are a coincidence.
    for (const std::uint64_t seed : {1, 2}) {
        auto scaled = ask("sum_scaled", seed);
        scaled.given = {{"x", "rand:4:0:9"}};
        BOOST_TEST(!left(unrelated, scaled, one));
    }
    auto of_data = ask("sum", 2);
    of_data.given = {{"x", "rand:4"}};
    BOOST_TEST(unrelated.proof(of_data).checked_by == "only itself");
    // What agrees all the same is evidence.
    for (const std::uint64_t seed : {1, 2}) BOOST_TEST(!left(ledger, ask("sum_again", seed), one));
    BOOST_TEST(ledger.proof(ask("sum", 2)).checked_by == "agreement of 2");
    BOOST_TEST(ledger.proof(ask("product", 2)).checked_by == "only itself");
}

BOOST_AUTO_TEST_CASE(self_inverse_kernel_passes_after_two_operations_if_it_writes) {
    Ledger ledger;
    const auto given = floats({1, 2}), negated = floats({-1, -2});
    auto ask = question("negate", 1);
    ask.results.front().given = given;
    ask.accumulates = true;
    const auto after = [&](const Ledger::Question& q, const model::SharedBytes& data, unsigned operations) {
        model::Buffers buffers;
        buffers.data["dst"] = *data;
        buffers.operations = operations;
        return ledger.check(q, buffers).value_or("");
    };
    BOOST_TEST(after(ask, negated, 1) == "");
    BOOST_TEST(after(ask, given, 2) == "");
    ask.variant = "nothing";
    BOOST_TEST(after(ask, given, 1).find("it writes nothing") == 0u);
    BOOST_TEST(after(ask, given, 2).find("it writes nothing") == 0u);
}

BOOST_AUTO_TEST_CASE(integers_stay_exact_when_results_include_floats) {
    Ledger ledger;
    for (const auto& [floats_too, absolute, is_right] :
         {std::tuple(true, 0.5, false), {true, 1.0, true}, {false, 1.0, true}}) {
        auto ask = question("k", 1);
        ask.results = {{"dst", *model::builtin_type("int")}};
        ask.results.front().expected = model::share(std::vector<int>{1000, 2000});
        if (floats_too) ask.results.push_back({"f", *model::builtin_type("float")});
        ask.tolerance = {absolute, 0.1, 0};
        const auto found = model::share(std::vector<int>{1001, 2000});
        const auto other = floats({1, 2});
        model::Buffers buffers;
        buffers.data["dst"] = *found;
        buffers.data["f"] = *other;
        BOOST_TEST(!ledger.check(ask, buffers) == is_right);
    }
}

BOOST_AUTO_TEST_CASE(variants_with_equal_code_are_no_agreement) {
    Ledger ledger;
    for (const char* variant : {"a", "b", "c"}) {
        BOOST_TEST(!left(ledger, question(variant, 1), floats({1, 2})));
        BOOST_TEST(!left(ledger, question(variant, 2), floats({3, 4})));
    }
    ledger.know_code(question("a", 1), "one");
    ledger.know_code(question("b", 1), "one");
    ledger.know_code(question("c", 1), "other");
    BOOST_TEST(ledger.proof(question("a", 2)).checked_by == "agreement of 2");
    ledger.know_code(question("c", 1), "one");
    const auto proof = ledger.proof(question("a", 2));
    BOOST_TEST(proof.checked_by == "only itself");
    BOOST_TEST(proof.warnings.front().find("variants with the same code prove nothing") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(integers_are_compared_with_their_width_and_sign) {
    const auto difference = [](const char* type, auto found, auto expected, const Tolerance& tolerance = {}) {
        model::Errors errors(tolerance);
        const auto a = model::share(std::vector{found}), b = model::share(std::vector{expected});
        return kernelfile::difference("x", *a, *b, *model::builtin_type(type), errors, "expected").value_or("");
    };
    BOOST_TEST(difference("ulong", (1ull << 62) + 1, 1ull << 62) ==
               "x[0] is 4611686018427387905, expected 4611686018427387904");
    BOOST_TEST(difference("long", (1ll << 53) + 1, 1ll << 53) == "x[0] is 9007199254740993, expected 9007199254740992");
    BOOST_TEST(difference("long", std::int64_t{-1}, INT64_MAX) == "x[0] is -1, expected 9223372036854775807");
    BOOST_TEST(difference("ulong", UINT64_MAX, UINT64_MAX - 1, {1, 0, 0}) == "");
    BOOST_TEST(difference("ulong", UINT64_MAX, UINT64_MAX - 2, {1, 0, 0}) != "");
    BOOST_TEST(difference("long", INT64_MIN, INT64_MAX, {1e9, 0, 0}) != "");
    BOOST_TEST(difference("char", std::int8_t{-1}, std::int8_t{0}, {1, 0, 0}) == "");
    BOOST_TEST(difference("uchar", std::uint8_t{255}, std::uint8_t{0}, {1, 0, 0}) != "");
    BOOST_TEST(difference("short", std::int16_t{-32768}, std::int16_t{32767}, {65534, 0, 0}) != "");
    BOOST_TEST(difference("double", std::nextafter(1.0, 2.0), 1.0) != "");  // a step of 64 bits is one, too
    BOOST_TEST(difference("double", std::nextafter(1.0, 2.0), 1.0, {0, 0, 1}) == "");
}

BOOST_AUTO_TEST_CASE(random_integers_cover_the_whole_type) {
    const auto type = *model::builtin_type("long");
    const auto all = kernelfile::drawn_data(type, 64, 1, {.least = INT64_MIN, .most = INT64_MAX});
    std::set<std::int64_t> values;
    for (std::size_t i = 0; i < 64; ++i) values.insert(signed_lane(all->data() + 8 * i, 8));
    BOOST_TEST(values.size() == 64u);
    BOOST_TEST((*values.begin() < 0 && *values.rbegin() > 0));
    const auto two = kernelfile::drawn_data(type, 64, 1, {.least = INT64_MAX - 1, .most = INT64_MAX});
    for (std::size_t i = 0; i < 64; ++i) BOOST_TEST(signed_lane(two->data() + 8 * i, 8) >= INT64_MAX - 1);
}

BOOST_AUTO_TEST_CASE(output_equal_to_its_input_needs_permission_or_expectation) {
    Ledger ledger;
    const auto data = floats({1, 2, 3, 4});
    auto asked = question("a", 1);
    asked.results.front().given = data;
    BOOST_TEST(
        left(ledger, asked, data).value() ==
        "it writes nothing: 'dst' holds what was there before; if that may be right, add a line 'may leave dst'");
    auto searching = asked;
    searching.results.front().may_stay = true;
    BOOST_TEST(!left(ledger, searching, data));
    asked.results.front().expected = data;
    BOOST_TEST(!left(ledger, asked, data));
    asked.results.clear();
    BOOST_TEST(left(ledger, asked, data).value() ==
               "it writes no buffer and no image, so no result can be checked; give it one");
}

BOOST_AUTO_TEST_CASE(a_kernel_that_writes_nothing_is_wrong) {
    Ledger ledger;
    auto poisoned = model::Bytes(64);
    model::poison(poisoned, 9);
    model::Buffers buffers;
    buffers.poison_seed = 9;
    buffers.data.emplace("dst", poisoned);
    BOOST_TEST(ledger.check(question("a", 1), buffers).value() ==
               "it writes nothing: 'dst' holds what was there before");
}

BOOST_AUTO_TEST_SUITE_END()

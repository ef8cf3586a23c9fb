#include <boost/test/unit_test.hpp>

#include "app/comparing/versus.hpp"
#include "report/table/comparison.hpp"

BOOST_AUTO_TEST_SUITE(report_comparison)

using namespace cllab;
using model::Verdict;

namespace {

model::Comparison of(Verdict verdict, double ratio, double low, double high) {
    model::Comparison out;
    out.left = "pitch_loop";
    out.right = "pitch_short8";
    out.judgement.verdict = verdict;
    out.judgement.ratio = {ratio, low, high, 0.992, 12};
    out.judgement.control = {1.001, 0.998, 1.003, 0.992, 12};
    out.judgement.within = 0.012;
    out.judgement.floor = 0.005;
    out.arrangements.assign(12, {1, 0.0, 0.001, 0.0, 0.002, 9, true});
    out.seconds = 8.25;
    return out;
}

std::string first_line(const model::Comparison& c) {
    const auto text = report::comparison_text(c);
    return text.substr(0, text.find('\n'));
}

}  // namespace

BOOST_AUTO_TEST_CASE(winner_is_reported_with_the_extra_time_of_the_other) {
    BOOST_TEST(first_line(of(Verdict::slower, 1.031, 1.025, 1.038)) ==
               "pitch_loop against pitch_short8: pitch_short8 is faster; pitch_loop takes 3.1 % [2.5 %, 3.8 %] longer");
    BOOST_TEST(first_line(of(Verdict::faster, 0.5, 0.4, 0.8)) ==
               "pitch_loop against pitch_short8: pitch_loop is faster; pitch_short8 takes 2 [1.25, 2.5] times as long");
    BOOST_TEST(
        first_line(of(Verdict::slower, 1.0062, 1.0055, 1.007)) ==
        "pitch_loop against pitch_short8: pitch_short8 is faster; pitch_loop takes 0.62 % [0.55 %, 0.70 %] longer");
}

BOOST_AUTO_TEST_CASE(verdict_of_a_sweep_names_its_point) {
    const auto pair = [](const std::string& n) {
        app::Pair out;
        out.left.point = out.right.point = {{"n", n}, {"mode", "fast"}};
        return out;
    };
    const std::vector pairs{pair("256"), pair("512")};
    BOOST_TEST(app::where_among({pair("512")}, pairs[1]).empty());
    auto c = of(Verdict::slower, 1.031, 1.025, 1.038);
    c.where = app::where_among(pairs, pairs[1]);
    BOOST_TEST(first_line(c).starts_with("pitch_loop against pitch_short8 at n=512: pitch_short8 is faster; "));
    BOOST_TEST(report::comparison_verdict(report::comparison_json(c))
                   ->starts_with("pitch_loop against pitch_short8 at n=512: "));
}

BOOST_AUTO_TEST_CASE(missing_winner_is_explained) {
    BOOST_TEST(first_line(of(Verdict::same, 1.001, 0.99, 1.008)) ==
               "pitch_loop against pitch_short8: the same within 1.2 %");
    BOOST_TEST(first_line(of(Verdict::undecided, 1.001, 0.97, 1.04)) ==
               "pitch_loop against pitch_short8: undecided: pitch_loop takes 3.0 % less to 4.0 % more time; "
               "a larger --max-time or a quieter machine may decide");
    BOOST_TEST(first_line(of(Verdict::same_code, 1.04, 1.03, 1.05)) ==
               "pitch_loop against pitch_short8: same code, so there is no winner; the measured ratio is "
               "noise, 1.0400 [1.0300, 1.0500]");
    auto few = of(Verdict::undecided, 1.2, 0, 0);
    few.judgement.ratio.coverage = 0;
    few.judgement.ratio.n = 3;
    BOOST_TEST(first_line(few) ==
               "pitch_loop against pitch_short8: undecided: 3 replicates are too few for an interval; a larger "
               "--max-time gives more");
}

BOOST_AUTO_TEST_CASE(method_and_control_follow_the_verdict) {
    const auto text = report::comparison_text(of(Verdict::slower, 1.031, 1.025, 1.038));
    BOOST_TEST(
        text.substr(text.find('\n') + 1) ==
        "  99.2 % interval over 12 replicates (fresh process, buffers and order) in 8.2 s; both took turns on the "
        "same memory\n"
        "  control: pitch_loop against itself 1.0010 [0.9980, 1.0030]; a winner must differ by more than 0.50 %\n");
    auto four = of(Verdict::slower, 1.031, 1.025, 1.038);
    four.control_of = model::Control::both;
    BOOST_TEST(report::comparison_text(four).find("  control: each against itself 1.0010 [") != std::string::npos);
    BOOST_TEST(report::comparison_json(four).find("\"control_of\":\"both\"") != std::string::npos);
    auto apart = of(Verdict::slower, 1.031, 1.025, 1.038);
    apart.arrangements.back().same_memory = false;
    BOOST_TEST(report::comparison_text(apart).find("each on its own memory") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(comparison_is_one_self_describing_json_line) {
    auto comparison = of(Verdict::same_code, 1.04, 1.03, 1.05);
    comparison.conditions["governor"] = "powersave";
    const auto line = report::comparison_json(comparison);
    BOOST_TEST(line.find("\"conditions\":{\"governor\":\"powersave\"}") != std::string::npos);
    BOOST_TEST(line.find('\n') == std::string::npos);
    BOOST_TEST(line.find("\"record\":\"comparison\"") != std::string::npos);
    BOOST_TEST(line.find("\"verdict\":\"same code\"") != std::string::npos);
    BOOST_TEST(line.find("\"error\":0.001,\"control\":0.0,\"control_error\":0.002,\"rounds\":9,\"same_memory\":true") !=
               std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

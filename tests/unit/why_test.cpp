// What limits a cell: when a bound may be named, and what is said then.
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "model/work.hpp"
#include "unit/probe.hpp"
#include "unit/why_cells.hpp"

BOOST_AUTO_TEST_SUITE(why)

using namespace cllab;
using namespace test::why;

BOOST_AUTO_TEST_CASE(limiter_is_named_if_its_bound_is_large_and_clear) {
    BOOST_CHECK(judged({0.95, 0.3}) == Limit::named);
    BOOST_CHECK(judged({0.81}) == Limit::named);
    BOOST_CHECK(judged({0.79, 0.1}) == Limit::unexplained);
    BOOST_CHECK(judged({}) == Limit::unexplained);
}

BOOST_AUTO_TEST_CASE(two_close_bounds_name_no_limiter) {
    BOOST_CHECK(judged({0.95, 0.9}) == Limit::close);
    BOOST_CHECK(judged({0.95, 0.78}) == Limit::close);
    BOOST_CHECK(judged({0.95, 0.7}) == Limit::named);
    BOOST_CHECK(judged({0.95, 0.7}, 0.2) == Limit::close);   // their intervals overlap
    BOOST_CHECK(judged({0.95, 0.1, 0.94}) == Limit::close);  // whatever their order
}

BOOST_AUTO_TEST_CASE(bound_above_the_time_is_impossible_and_names_nothing) {
    BOOST_CHECK(judged({1.03, 0.1}) == Limit::named);
    BOOST_CHECK(judged({1.2, 0.1}) == Limit::impossible);
    BOOST_CHECK(judged({1.2, 0.1}, 0.3) == Limit::named);  // the peak may be that much higher
    const auto sentence = said(record(5e-3, copying()));
    BOOST_TEST(sentence.rfind("cannot be: memory bandwidth alone takes at least ", 0) == 0u, sentence);
}

BOOST_AUTO_TEST_CASE(time_with_over_10_percent_uncertainty_names_nothing) {
    const auto spreading = [](double low, double high, unsigned n = 20) {
        auto out = record(11e-3, copying());
        out.time->low = low;
        out.time->high = high;
        out.time->n = n;
        return out;
    };
    BOOST_CHECK(explanation(spreading(10.5e-3, 11.9e-3)).limit == Limit::named);
    const auto wide = spreading(10.5e-3, 13e-3);
    const auto e = explanation(wide);
    BOOST_CHECK(e.limit == Limit::unsteady);
    BOOST_TEST(!e.limiter());
    BOOST_TEST(report::limit_sentence(e, *wide.time) == "not named: its time is known only within 18 %");
    BOOST_TEST(explain::limit_in_a_word(wide, profile()) == "-");
    BOOST_TEST(nlohmann::json::parse(report::explanation_json(wide, e))["limit"] == "unsteady");
    BOOST_CHECK(explanation(spreading(9e-3, 11e-3)).limit == Limit::unsteady);       // to either side
    BOOST_CHECK(explanation(spreading(10.9e-3, 11.2e-3, 3)).limit == Limit::named);  // few, but alike
    // What follows the launch is no better known.
    auto launch = record(1.6e-6, {.flops = 50e3, .type = "float", .launches = 1});
    launch.time->high = 2e-6;
    BOOST_CHECK(explanation(launch).limit == Limit::unsteady);
    // What nothing explains is so at any spread.
    auto slow = record(30e-3, copying());
    slow.time->high = 40e-3;
    BOOST_CHECK(explanation(slow).limit == Limit::unexplained);
}

BOOST_AUTO_TEST_CASE(launch_time_adds_to_the_rest_and_both_are_named) {
    const auto judged_after = [](double launch, const std::vector<double>& parts, double time = 1) {
        std::vector<model::Bound> bounds{{"launch", "launch", "launch", launch, launch / 4, launch, "", ""}};
        for (const double part : parts) bounds.push_back({"b", "b", "b", part, 0.99 * part, 1.01 * part, "", ""});
        std::stable_sort(bounds.begin(), bounds.end(),
                         [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
        return explain::after_launch(bounds,
                                     model::Timing{.median = time, .low = 0.99 * time, .high = 1.01 * time, .n = 20});
    };
    BOOST_TEST(judged_after(0.6, {0.35}) == 1u);
    BOOST_TEST(judged_after(0.35, {0.6}) == 1u);
    BOOST_TEST(judged_after(0.6, {0.35, 0.1}) == 1u);
    BOOST_TEST(judged_after(0.3, {0.6, 0.1}) == 1u);
    BOOST_TEST(judged_after(0.3, {0.55, 0.5}) == 0u);  // which of the two follows is not clear
    BOOST_TEST(judged_after(0.45, {0.38}) == 0u);      // a sixth of the time is something else
    BOOST_TEST(judged_after(0.75, {0.05}) == 0u);      // a trifle
    BOOST_TEST(judged_after(0.7, {0.6}) == 0u);        // more than the time
    BOOST_TEST(judged_after(0.79, {0.34}) == 1u);      // the profile's launch took a tenth longer
    BOOST_TEST(judged_after(0.6, {0.58}) == 0u);
    auto work = model::WorkInfo{.flops = 50e3, .type = "float", .launches = 1};  // 0.5 us behind a launch of 1 us
    const auto e = explanation(record(1.6e-6, work));
    BOOST_TEST(limiter(e) == "launch");
    BOOST_TEST(e.follower()->id == "arithmetic");
    BOOST_TEST(said(record(1.6e-6, work)) == "limited by launch plus float arithmetic: 62 % and 31 % of the time");
    BOOST_TEST(explain::limit_in_a_word(record(1.6e-6, work), profile()) == "launch+float");
    const auto text = report::explanation_text(record(1.6e-6, work), e, {});
    BOOST_TEST(says(text, "these overlap, except the launch:\n  62 %  launch"), text);
    BOOST_TEST(says(text, " 6 %  unexplained"), text);
    const auto json = nlohmann::json::parse(report::explanation_json(record(1.6e-6, work), e));
    BOOST_TEST(json["limiter"] == "launch");
    BOOST_TEST(json["follower"] == "arithmetic");
    work.launches = 2;  // what the second one waits for may be done meanwhile
    BOOST_CHECK(explanation(record(4e-6, work)).limit == Limit::unexplained);
}

BOOST_AUTO_TEST_CASE(profiler_counts_replace_declared_work_and_are_credited) {
    // pitch_wide on an H200 (2026-11-22): 551 us by OpenCL, and what `cllab ncu` counted of the same launch.
    auto r = record(551e-6, {.bytes = 4.29e9, .footprint = 4.29e9, .launches = 1});
    auto peaks = profile();
    for (auto& f : peaks.figures) {
        if (f.id.starts_with("bandwidth.")) f.value *= 400, f.low *= 400, f.high *= 400;
        if (f.id == "fma.peak.float") f.value = 66.5e12, f.low = 66.4e12, f.high = 66.6e12;
    }
    peaks.figures.push_back(figure("divergence.width.full", "SIMT width", "item", 32, 0));
    BOOST_TEST(why_not(r, "instruction issue", peaks) == "executed instructions are not counted");
    r.counters = {{"dram__bytes_read.sum", "Gbyte", 1.07},
                  {"dram__bytes_write.sum", "Mbyte", 1060},
                  {"lts__t_sectors_op_read.sum", "sector", 50e6},
                  {"smsp__inst_executed.sum", "inst", 329383936},
                  {"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active", "%", 57.4},
                  {"sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", "%", 20.3}};
    const auto e = explanation(r, peaks);
    const auto& memory = bound(e, "memory");
    BOOST_TEST(memory.seconds == 2.13e9 / 4.8e12, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(memory.how.find("2.13 GB at ") == 0u, memory.how);
    BOOST_TEST(says(memory.how, ", counted by ncu"), memory.how);
    BOOST_TEST(bound(e, "l2").seconds == 1.6e9 / 20e12, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(bound(e, "pipe").seconds == 0.574 * 551e-6, is_close);
    BOOST_TEST(bound(e, "pipe").name == "instructions of pipe alu (integers, logic, comparisons)");
    BOOST_TEST(bound(e, "issue").seconds == 329383936 / (66.5e12 / 64), boost::test_tools::tolerance(1e-6));
    BOOST_TEST(bound(e, "issue").how.find("329383936 warp instructions, counted by ncu") == 0u, bound(e, "issue").how);
    // Of a step of a slope a whole launch's counters say nothing.
    r.work.launches = 0;
    BOOST_TEST(why_not(r, "instruction issue", peaks).find("the counters cover one launch") == 0u);
    BOOST_TEST(bound(r, "memory", peaks).how.find("ncu") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(declarations_of_families_become_the_work_of_records) {
    const auto work = [](const std::string& id, const test::Axes& axes) {
        return model::work_of(test::set_up_cell(id, axes, test::probe_cpu()));
    };
    const auto copy = work("bandwidth_copy", {{"size", "65536"}});
    BOOST_TEST(copy.bytes == 131072);
    BOOST_TEST(copy.read.value_or(0) == 65536);
    BOOST_TEST(copy.footprint == 131072);
    BOOST_TEST(copy.launches == 1u);
    const auto reread = work("bandwidth_reread", {{"size", "65536"}});
    BOOST_TEST(reread.bytes == 1);
    BOOST_TEST(reread.read.value_or(0) == 1);
    BOOST_TEST(reread.launches == 0u);
    BOOST_TEST(work("fma_latency", {{"type", "double"}}).chain == "multiply_add");
    BOOST_TEST(work("fma_latency", {{"type", "double"}}).type == "double");
    BOOST_TEST(work("fma_peak", {{"type", "uint"}, {"width", "4"}}).type == "uint");
    BOOST_TEST(work("fma_peak", {{"type", "float"}, {"width", "4"}}).chain == "");
    BOOST_TEST(work("atomic_global", {{"counters", "1"}}).atomics == 1);
    BOOST_TEST(work("atomic_global", {{"counters", "1"}}).footprint == 4);
    BOOST_TEST(work("latency_global", {{"footprint", "16384"}}).chain == "load");
    BOOST_TEST(work("latency_global", {{"footprint", "16384"}}).links == 1);
    BOOST_TEST(reread.shared);
    // The sums are each group's own, and 2 MiB of them on a GPU.
    BOOST_TEST(
        model::work_of(test::set_up_cell("bandwidth_reread", {{"size", "65536"}}, test::probe_gpu())).footprint ==
        65536);
    BOOST_TEST(!copy.shared);
}

BOOST_AUTO_TEST_CASE(bound_above_100_percent_is_explained) {
    const auto r = record(10.5e-3, copying());
    auto e = explanation(r);
    BOOST_TEST_REQUIRE(!e.bounds.empty());
    BOOST_TEST(!says(report::explanation_text(r, e, {}), "above 100 %"));
    e.limit = Limit::named;
    auto& first = e.bounds.front();
    first.seconds = 1.35 * r.time->median, first.low = 0.5 * r.time->median;
    const auto text = report::explanation_text(r, e, {});
    BOOST_TEST(says(text, "above 100 %: memory bandwidth: caches serve some of its bytes, the profile's peak is too "
                          "low, or"),
               text);
    BOOST_TEST(says(text, "the range begins at 5.25 ms."), text);
    first.seconds = 1.03 * r.time->median;  // prints as 103 %, which memory cannot do
    BOOST_TEST(says(report::explanation_text(r, e, {}), "above 100 %: memory bandwidth: caches serve"));
    first.id = "arithmetic";  // the clock may drift
    BOOST_TEST(!says(report::explanation_text(r, e, {}), "above 100 %"));
    e.limit = Limit::impossible;  // which the first line says
    BOOST_TEST(!says(report::explanation_text(r, e, {}), "above 100 %"));
}

BOOST_AUTO_TEST_CASE(largest_bound_and_the_unexplained_add_up_to_the_whole_time) {
    auto work = copying();
    work.flops = 500e6;
    work.type = "float";
    const auto r = record(20e-3, work);  // memory 52 %, arithmetic 25 %
    const auto e = explanation(r);
    const auto text = report::explanation_text(r, e, {});
    BOOST_TEST(says(text, "not explained: 48 %; known: memory bandwidth 52 %, float"), text);
    BOOST_TEST(says(text, "  least time of each resource alone [and range]; these overlap:\n  52 %  memory bandwidth"), text);
    BOOST_TEST(says(text, " 48 %  unexplained"), text);
    BOOST_TEST(says(text, "below 1 %: launch\n"), text);
    BOOST_TEST(!says(text, "two times"), text);
    auto twice = e;
    twice.other_seconds = 30e-3;
    twice.other_from = "in another measurement";
    BOOST_TEST(says(report::explanation_text(r, twice, {false, 400}),
                    "two times: 20.0 ms here, 30.0 ms in another measurement; the lines below explain 20.0 ms only"));
    BOOST_TEST(says(text, "no bound for: latency"), text);
    const auto json = nlohmann::json::parse(report::explanation_json(r, e));
    BOOST_TEST(json["record"] == "why");
    BOOST_TEST(json["limit"] == "not explained");
    BOOST_TEST(!json.contains("limiter"));
    BOOST_TEST(json["bounds"][0]["id"] == "memory");
    BOOST_TEST(json["bounds"].size() == 3u);
}

BOOST_AUTO_TEST_CASE(peak_that_the_profile_lacks_is_named_with_the_command_that_measures_it) {
    auto r = record(100e-3, copying());
    BOOST_TEST(said(r) == "not explained: 90 %; known: memory bandwidth 10 %; cllab has no bound for the rest");
    r.work.instructions = 20e6;
    const auto e = explanation(r);
    const auto text = report::explanation_text(r, e, {false, 400});
    BOOST_TEST(says(text, "memory bandwidth 10 %; the profile has no peak for instruction issue; "
                          "`cllab profile --device 1:0` measures the peaks in 60 s on an idle machine"),
               text);
    BOOST_TEST(says(text, "no bound for: instruction issue (the profile has no peak), arithmetic, latency; --json"),
               text);
    BOOST_TEST(!says(text, "no bound for the rest"), text);
    auto named = e;
    named.limit = Limit::named;
    BOOST_TEST(says(report::explanation_text(r, named, {false, 400}),
                    "(the profile has no peak; `cllab profile --device 1:0` measures it)"));
    const auto json = nlohmann::json::parse(report::explanation_json(r, e));
    BOOST_TEST(json["figures"]["instruction issue"]["enough"] == "a profile that has it (`cllab profile`)");
    BOOST_TEST(says(json["figures"]["latency"]["enough"], "a `work` line"));
}

BOOST_AUTO_TEST_CASE(time_that_no_bound_explains_is_compared_with_a_copy) {
    auto r = record(100e-3, copying());
    r.yardstick = model::YardstickInfo{100 << 20, 5.2e9, "hot", 5};
    BOOST_TEST(said(r) == "not explained: 90 %; known: memory bandwidth 10 %; at a copy's rate its bytes take 20 % of "
                          "the time; cllab has no bound for the rest");
    r.yardstick->bandwidth = 1.1e9;
    BOOST_TEST(said(r).ends_with("; at a copy's rate its bytes take 95 % of the time"), said(r));
    r.work.assumed = true;  // its bytes are not declared
    BOOST_TEST(!says(said(r), "copy's rate"), said(r));
}

BOOST_AUTO_TEST_CASE(every_line_fits_the_page_and_the_advice_comes_first) {
    auto r = record(5e-3, copying());
    auto e = explanation(r);
    e.advice = "Larger groups.";
    const auto text = report::explanation_text(r, e, {false, 80});
    for (const auto& line : split(text, '\n')) BOOST_TEST(line.size() <= 80u, line);
    BOOST_TEST(says(text, "cannot be: memory bandwidth alone"), text);
    const auto wide = report::explanation_text(r, e, {false, 400});
    BOOST_TEST(says(wide, "`cllab profile --device 1:0` measures the peaks again"), wide);
    BOOST_TEST(text.find("what costs time: Larger groups.") < text.find("least time of each"), text);
    BOOST_TEST(says(report::explanation_text(r, e, {true, 400}), "\x1b["));  // the verdict has its colour
}

BOOST_AUTO_TEST_CASE(limiter_column_has_a_word_or_a_dash) {
    BOOST_TEST(explain::limit_in_a_word(record(11e-3, copying()), profile()) == "memory");
    BOOST_TEST(explain::limit_in_a_word(record(30e-3, copying()), profile()) == "-");
}

BOOST_AUTO_TEST_SUITE_END()

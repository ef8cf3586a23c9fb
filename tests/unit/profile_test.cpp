// The portrait's page: each finding once, in its section, in cycles where the clock is known, and why what is missing
// is missing.
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "unit/probe_setup.hpp"

using namespace cllab;
using namespace cllab::model;
using namespace cllab::test;

#include <sstream>

#include "app/profile.hpp"

namespace {

app::Profile portrait() {
    app::Profile p;
    p.device = probe_gpu();
    p.budget_seconds = 120;
    p.seconds = 12;
    p.utc = "2026-01-01T00:00:00Z";
    p.conclusions.push_back({&family("fma"),
                             {probe_curve("latency", {{"type", "float"}}, {{0, 2e-9}})},
                             {{"clock", "Hz", 2e9, 1.99e9, 2.01e9, "counter"},
                              {"float latency", "s", 2e-9, 1.98e-9, 2.02e-9, "slope"},
                              {"float peak", "FLOP/s", 1024e9, 1e12, 1.1e12, "best"},
                              {"something new", "", 3, 3, 3, "a later probe"}}});
    Record refused;
    refused.id = "registers_live";
    refused.family = "registers";
    refused.variant = "live";
    refused.status = Status::unsupported;
    refused.reason = "no knee here";
    p.records.push_back(refused);
    return p;
}

const app::PageLine* line(const std::vector<app::PageLine>& page, const std::string& name) {
    for (const auto& l : page)
        if (l.name == name) return &l;
    return nullptr;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(profile_page)

BOOST_AUTO_TEST_CASE(a_time_is_shown_in_cycles_and_a_peak_per_unit_once_the_clock_is_known) {
    const auto page = app::page_of(portrait());
    BOOST_REQUIRE(line(page, "float latency"));
    BOOST_TEST(line(page, "float latency")->per_cycle == 4, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(line(page, "float latency")->per_cycle_unit == "clk");
    BOOST_TEST(line(page, "float peak")->per_cycle == 128, boost::test_tools::tolerance(1e-9));  // 4 units
    BOOST_TEST(line(page, "float peak")->per_cycle_unit == "FLOP/clk/unit");
    auto no_clock = portrait();
    no_clock.conclusions[0].findings.erase(no_clock.conclusions[0].findings.begin());
    BOOST_TEST(line(app::page_of(no_clock), "float latency")->per_cycle == 0);
}

BOOST_AUTO_TEST_CASE(what_is_missing_says_why) {
    const auto page = app::page_of(portrait());
    BOOST_TEST(line(page, "registers a work-item")->absent == "no knee here");
    BOOST_TEST(line(page, "empty kernel")->absent.find("budget") != std::string::npos);
    auto failed = portrait();
    failed.records[0].status = Status::wrong_result;
    BOOST_TEST(line(app::page_of(failed), "registers a work-item")->absent ==
               "registers_live is wrong_result: no knee here");
}

BOOST_AUTO_TEST_CASE(no_finding_is_lost_and_none_is_shown_twice) {
    const auto page = app::page_of(portrait());
    BOOST_REQUIRE(line(page, "something new"));
    BOOST_TEST(line(page, "something new")->section == "More");
    BOOST_TEST(std::count_if(page.begin(), page.end(), [](const auto& l) { return l.name == "float latency"; }) == 1);
}

BOOST_AUTO_TEST_CASE(every_figure_and_part_names_something_that_exists) {
    for (const auto& figure : app::profile_figures()) {
        const auto& experiment = family(figure.family);
        BOOST_TEST(std::any_of(experiment.variants.begin(), experiment.variants.end(),
                               [&](const auto& v) { return v.name == figure.variant; }),
                   figure.family + " has no variant " + figure.variant);
    }
    for (const auto& device : {probe_cpu(), probe_gpu()}) {
        for (const auto& probe : app::profile_probes(device)) {
            for (const auto& part : probe.parts)
                BOOST_TEST(!make_plan(select(registry(), {part.pattern}), part.axes).empty());
        }
    }
}

BOOST_AUTO_TEST_CASE(text_and_json_carry_the_same_figures) {
    std::ostringstream text;
    app::print_profile(text, portrait(), {});
    const auto json = app::profile_json(portrait());
    for (const std::string name : {"float latency", "float peak", "something new"}) {
        BOOST_TEST(text.str().find(name) != std::string::npos);
        BOOST_TEST(json.find("\"" + name + "\"") != std::string::npos);
    }
    BOOST_TEST(json.find("fma_latency") != std::string::npos);  // its curve
    BOOST_TEST(text.str().find("128 FLOP/clk/unit") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

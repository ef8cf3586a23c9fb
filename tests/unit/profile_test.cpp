// The portrait's page: each finding once, in its section, in cycles where the clock is known, and why what is missing
// is missing.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "unit/probe.hpp"

using namespace cllab;
using namespace cllab::model;
using namespace cllab::test;

#include <sstream>

#include "app/commands/profile.hpp"
#include "portrait/page.hpp"
#include "portrait/probes.hpp"

BOOST_AUTO_TEST_SUITE(profile_page)

namespace {

portrait::Profile example() {
    portrait::Profile p;
    p.device = probe_gpu();
    p.budget_seconds = 120;
    p.seconds = 12;
    p.utc = "2026-01-01T00:00:00Z";
    p.conclusions.push_back({&family("fma"),
                             {curve_of("latency", {{0, 2e-9}}, {{"type", "float"}})},
                             {{"clock", "clock", "Hz", 2e9, 1.99e9, 2.01e9, "counter"},
                              {"cycles.float", "float latency in cycles", "cycle", 4, 4, 4, "counter"},
                              {"latency.float", "float latency", "s", 2e-9, 1.98e-9, 2.02e-9, "slope"},
                              {"peak.float", "float peak", "FLOP/s", 1024e9, 1e12, 1.1e12, "best"},
                              {"new", "something new", "", 3, 3, 3, "a later probe"}}});
    Record refused;
    refused.id = "registers_live";
    refused.family = "registers";
    refused.variant = "live";
    refused.status = Status::unsupported;
    refused.reason = "no knee here";
    p.records.push_back(refused);
    return p;
}

const portrait::PageLine* line(const std::vector<portrait::PageLine>& page, const std::string& name) {
    for (const auto& l : page)
        if (l.name == name) return &l;
    return nullptr;
}

}  // namespace

BOOST_AUTO_TEST_CASE(known_clock_adds_cycles_and_peak_per_unit) {
    auto p = example();
    const auto page = portrait::page_of(p);
    BOOST_REQUIRE(line(page, "float latency"));
    BOOST_TEST(line(page, "float latency")->per_cycle == 4, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(line(page, "float latency")->per_cycle_unit == "clk");
    BOOST_TEST(line(page, "float peak")->per_cycle == 128, boost::test_tools::tolerance(1e-9));  // 4 units
    BOOST_TEST(line(page, "float peak")->per_cycle_unit == "FLOP/clk/unit");
    // A clock that is computed from the float latency says nothing about it.
    auto& findings = p.conclusions[0].findings;
    findings.erase(findings.begin() + 1);
    BOOST_TEST(line(portrait::page_of(p), "float latency")->per_cycle == 0);
    BOOST_TEST(line(portrait::page_of(p), "float peak")->per_cycle == 128, boost::test_tools::tolerance(1e-9));
    findings.erase(findings.begin());
    BOOST_TEST(line(portrait::page_of(p), "float latency")->per_cycle == 0);
}

BOOST_AUTO_TEST_CASE(wording_does_not_affect_joins) {
    auto reworded = example();
    for (auto& conclusion : reworded.conclusions)
        for (auto& f : conclusion.findings) f.name = "figure " + std::to_string(std::hash<std::string>{}(f.name));
    const auto before = portrait::page_of(example()), after = portrait::page_of(reworded);
    BOOST_REQUIRE(before.size() == after.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
        BOOST_TEST(after[i].id == before[i].id);
        BOOST_TEST(after[i].section == before[i].section);
        BOOST_TEST(after[i].per_cycle == before[i].per_cycle);
        BOOST_TEST(after[i].absent == before[i].absent);
    }
}

BOOST_AUTO_TEST_CASE(withheld_figure_has_a_reason_and_joins_nothing) {
    auto p = example();
    p.conclusions[0].findings[0].withheld = "the evidence was disturbed";
    const auto page = portrait::page_of(p);
    BOOST_REQUIRE(line(page, "clock"));
    BOOST_TEST(line(page, "clock")->absent == "the evidence was disturbed");
    BOOST_TEST(line(page, "float latency")->per_cycle == 0);
}

BOOST_AUTO_TEST_CASE(missing_figure_has_a_reason) {
    const auto page = portrait::page_of(example());
    BOOST_TEST(line(page, "registers per work-item")->absent == "no knee here");
    auto small = example();
    small.skipped["launch"] = "not measured: the 60 s of the profile ended before its turn";
    BOOST_TEST(line(portrait::page_of(small), "empty kernel")->absent == small.skipped["launch"]);
    auto failed = example();
    failed.records[0].status = Status::wrong_result;
    BOOST_TEST(line(portrait::page_of(failed), "registers per work-item")->absent ==
               "registers_live is wrong_result: no knee here");
}

BOOST_AUTO_TEST_CASE(every_finding_is_shown_exactly_once) {
    const auto page = portrait::page_of(example());
    BOOST_REQUIRE(line(page, "something new"));
    BOOST_TEST(line(page, "something new")->section == "More");
    BOOST_TEST(std::count_if(page.begin(), page.end(), [](const auto& l) { return l.name == "float latency"; }) == 1);
}

BOOST_AUTO_TEST_CASE(every_figure_and_part_refers_to_an_existing_kernel) {
    for (const auto& figure : portrait::figures()) {
        const auto& experiment = family(figure.family());
        BOOST_TEST(std::any_of(experiment.variants.begin(), experiment.variants.end(),
                               [&](const auto& v) { return v.name == figure.variant; }),
                   figure.id + ": its family has no variant " + figure.variant);
    }
    for (const auto& device : {probe_cpu(), probe_gpu()}) {
        for (const auto& probe : portrait::probes_for(device)) {
            for (const auto& part : probe.parts)
                BOOST_TEST(!make_plan(select(registry(), {part.pattern}), part.axes).empty());
        }
    }
}

BOOST_AUTO_TEST_CASE(cpu_streams_exceed_the_last_level_if_time_permits) {
    for (const std::uint64_t last : {8u << 20, 32u << 20, 260u << 20}) {
        auto device = probe_cpu();
        device.host_cache_levels = {48 << 10, 2 << 20, last};
        std::size_t streams = 0;
        for (const auto& probe : portrait::probes_for(device))
            for (const auto& part : probe.parts)
                for (const auto& [pattern, buffers] : {std::pair{"bandwidth_copy", 2},
                                                       {"bandwidth_read", 1},
                                                       {"bandwidth_write", 1},
                                                       {"bandwidth_triad", 3}}) {
                    const auto size = std::find_if(part.axes.begin(), part.axes.end(),
                                                   [](const auto& axis) { return axis.first == "size"; });
                    if (part.pattern != pattern || size->second.find(',') != std::string::npos) continue;
                    ++streams;
                    const auto bytes = static_cast<std::uint64_t>(buffers) * std::stoull(size->second);
                    BOOST_TEST(bytes > last, part.pattern + " " + size->second);
                    BOOST_TEST(bytes < 512u << 20, part.pattern + " " + size->second);
                }
        BOOST_TEST(streams == 4u);
    }
}

BOOST_AUTO_TEST_CASE(chain_without_a_call_is_measured_only_for_latencies) {
    std::size_t latencies = 0, rates = 0;
    for (const auto& probe : portrait::probes_for(probe_gpu()))
        for (const auto& part : probe.parts)
            for (const auto& [axis, values] : part.axes) {
                if (axis != "function") continue;
                const bool rate = part.pattern.find("_rate") != std::string::npos,
                           has_chain = values.find("identity") != std::string::npos;
                BOOST_TEST(has_chain != rate, part.pattern);
                ++(rate ? rates : latencies);
            }
    BOOST_TEST(rates == 4u);
    BOOST_TEST(latencies == 4u);
}

BOOST_AUTO_TEST_CASE(text_and_json_have_the_same_figures) {
    std::ostringstream text;
    app::print_profile(text, example(), {});
    const auto json = app::profile_json(example());
    for (const std::string name : {"float latency", "float peak", "something new"}) {
        BOOST_TEST(text.str().find(name) != std::string::npos);
        BOOST_TEST(json.find("\"" + name + "\"") != std::string::npos);
    }
    BOOST_TEST(json.find("fma_latency") != std::string::npos);  // its curve
    BOOST_TEST(text.str().find("128 FLOP/clk/unit") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(head_has_a_line_per_question_and_reasons_for_empty_ones) {
    std::ostringstream text;
    app::print_profile_head(text, example(), {});
    const auto page = text.str();
    std::size_t at = 0;
    for (const std::string label : {"units", "clock", "peaks", "bandwidths", "caches", "latencies", "launch"}) {
        const auto next = page.find("\n  " + label + " ", at);
        BOOST_REQUIRE_MESSAGE(next != std::string::npos, label + " is missing or out of order in\n" + page);
        at = next + 1;
    }
    const auto line_of = [&](const std::string& label) {
        const auto begin = page.find("  " + label + " ");
        return page.substr(begin, page.find('\n', begin) - begin);
    };
    BOOST_TEST(line_of("clock") == "  clock       2.00 GHz");
    BOOST_TEST(line_of("peaks") == "  peaks       float 1.02 TFLOP/s");
    auto profile = example();
    profile.conclusions.front().findings.push_back(
        {"peak.float.256", "float peak in vectors of 256 bits", "FLOP/s", 1024e9, 1e12, 1.1e12, "best"});
    profile.device.host_cache_levels = {32 << 10, 1 << 20};
    profile.skipped["bandwidth"] = "not measured: 11 of its 12 cells had no time within 8.00 s";
    std::ostringstream again;
    app::print_profile_head(again, profile, {});
    BOOST_TEST(again.str().find("  caches      L1 32 KiB by the system, L2 1 MiB by the system\n") != std::string::npos,
               again.str());
    BOOST_TEST(again.str().find("  peaks       float 1.02 TFLOP/s\n") != std::string::npos);
    BOOST_TEST(again.str().find("  bandwidths  none; not measured: 11 of its 12 cells had no time within") !=
                   std::string::npos,
               again.str());
    BOOST_TEST(line_of("latencies") == "  latencies   float 2.00 ns");
    BOOST_TEST(line_of("launch") == "  launch      none; not measured");
    BOOST_TEST(page.find("2 more figures") != std::string::npos);  // "something new" and the cycles
    BOOST_TEST(page.find("--all") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(head_has_one_statement_per_cache_level) {
    auto profile = example();
    profile.device.host_cache_levels = {48 << 10, 1 << 20, 32 << 20};
    Finding second{"l2.size", "L2 capacity", "byte", 983040, 983040, 983040, "chase"}, first, third;
    first.id = "l1.size", first.withheld = "a load takes 1.00 ns in 32 KiB and 2.40 ns in 128 KiB; the times differ";
    third.id = "l3.size", third.withheld = "measured 5.25 MiB, and the system reports 32 MiB: a neighbour";
    profile.conclusions.push_back({&family("latency"), {}, {first, second, third}});
    std::ostringstream text;
    app::print_profile_head(text, profile, {false, 300});
    BOOST_TEST(text.str().find(
                   "  caches      L1 48 KiB by the system (a load takes 1.00 ns in 32 KiB and 2.40 ns in 128 KiB), "
                   "L2 1 MiB by the system (measured 960 KiB), L3 32 MiB by the system (measured 5.25 MiB)\n") !=
                   std::string::npos,
               text.str());
}

BOOST_AUTO_TEST_CASE(figures_without_time_come_with_the_command_that_measures_them) {
    const auto page = [](double budget, bool skips) {
        auto profile = example();
        profile.device.selector = "0:0";
        profile.budget_seconds = budget;
        if (skips) profile.skipped["fma"] = "not measured: the 20 s of the profile ended before its turn";
        std::ostringstream text;
        app::print_profile_head(text, profile, {false, 300});
        return text.str();
    };
    const std::string remedy = "The time was too short for some figures. `cllab profile --device 0:0` measures them ";
    BOOST_TEST(page(20, true).find(remedy + "in 60 s. `cllab why` measures the peaks") != std::string::npos);
    BOOST_TEST(page(60, true).find(remedy + "on an idle machine. ") != std::string::npos);
    BOOST_TEST(page(20, false).find(remedy) == std::string::npos);
}

BOOST_AUTO_TEST_CASE(profile_measured_under_load_says_so) {
    const auto page = [](double cores, double waited) {
        auto profile = example();
        profile.device.selector = "0:0";
        profile.conclusions.push_back(
            {&family("bandwidth"), {}, {{"copy", "copy bandwidth", "B/s", 50e9, 49e9, 51e9, "best"}}});
        auto& record = profile.records.emplace_back();
        record.family = "bandwidth";
        record.host.threads = 2;
        record.time = Timing{.median = 1, .cores = cores, .waited = waited};
        std::ostringstream text;
        app::print_profile_head(text, profile, {false, 300});
        return text.str();
    };
    const std::string advice =
        "measured on a busy machine, where 100 % of its cells lacked cores; `cllab profile "
        "--device 0:0` measures it again.\n";
    BOOST_TEST(page(2, 0).find("busy") == std::string::npos);
    BOOST_TEST(page(1, 1).find(advice) != std::string::npos, page(1, 1));
}

BOOST_AUTO_TEST_CASE(each_reason_is_printed_once_with_all_its_figures) {
    std::ostringstream text;
    app::print_profile(text, example(), {});
    auto page = text.str();
    // However its lines are broken.
    for (auto at = page.find("\n  "); at != std::string::npos; at = page.find("\n  ", at))
        page.replace(at, page.find_first_not_of(" \n", at) - at, " ");
    const auto first = page.find(": not measured");
    BOOST_REQUIRE(first != std::string::npos);
    BOOST_TEST(page.find(": not measured", first + 1) == std::string::npos);
    BOOST_TEST(page.find("registers per work-item, registers per group, live values in registers: no knee here") !=
               std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

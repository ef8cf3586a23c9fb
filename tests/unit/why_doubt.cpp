// Which peak of the profile is measured again because of a cell.
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "explain/peaks.hpp"
#include "portrait/probes.hpp"
#include "unit/probe.hpp"
#include "unit/why_counted.hpp"

BOOST_AUTO_TEST_SUITE(why_doubt)

using namespace cllab;
using namespace test::why;

BOOST_AUTO_TEST_CASE(peaks_of_bounds_above_or_at_half_the_time_are_in_doubt) {
    const auto figure_of = [](double seconds, const model::WorkInfo& work) {
        const auto r = record(seconds, work);
        const auto e = explanation(r);
        const auto* bound = explain::doubted(e, *r.time);
        return bound ? bound->figure : "";
    };
    BOOST_TEST(figure_of(5e-3, copying()) == "bandwidth.copy");
    BOOST_TEST(figure_of(15e-3, copying()) == "bandwidth.copy");
    BOOST_TEST(figure_of(10.6e-3, copying()) == "");  // it is named
    BOOST_TEST(figure_of(27e-3, copying()) == "");
    // Of two above the time the farther one.
    BOOST_TEST(
        figure_of(1e-3,
                  {.bytes = 100 * MiB, .flops = 900e6, .read = 50 * MiB, .type = "float", .footprint = 100 * MiB}) ==
        "bandwidth.copy");
    BOOST_TEST(
        figure_of(1e-3,
                  {.bytes = 100 * MiB, .flops = 1200e6, .read = 50 * MiB, .type = "float", .footprint = 100 * MiB}) ==
        "fma.peak.float");
}

BOOST_AUTO_TEST_CASE(instruction_rate_is_in_doubt_if_it_is_the_limiter) {
    const auto measured = with(profile(), {figure("issue.rate", "instruction rate", "instr/s", 20e9)});
    auto r = record(1.05e-3, {.groups = 4});
    r.work.instructions = 20e6;
    const auto e = explanation(r, measured);
    BOOST_TEST_REQUIRE(explain::doubted(e, *r.time) != nullptr);
    BOOST_TEST(explain::doubted(e, *r.time)->figure == "issue.rate");
}

BOOST_AUTO_TEST_CASE(gain_of_a_peak_works_for_rates_and_times) {
    const auto rate = [](double value) { return figure("bandwidth.copy", "copy bandwidth", "B/s", value); };
    const auto time = [](double value) { return figure("launch.empty.item", "empty kernel", "s", value); };
    BOOST_TEST(explain::gain(rate(10e9), rate(12e9)) == 1.2, is_close);
    BOOST_TEST(explain::gain(time(12e-6), time(10e-6)) == 1.2, is_close);
    BOOST_TEST(explain::is_slower(rate(12e9), rate(10e9)));
    BOOST_TEST(!explain::is_slower(rate(10e9), rate(12e9)));
    BOOST_TEST(explain::is_slower(time(10e-6), time(12e-6)));
    BOOST_TEST(!explain::is_slower(time(12e-6), time(10e-6)));
    BOOST_TEST(!explain::is_slower(rate(10e9), rate(9.7e9)));  // the spread of a machine at rest
    auto vague = rate(8e9);
    vague.high = 11e9;
    BOOST_TEST(!explain::is_slower(rate(10e9), vague));
    BOOST_TEST(explain::is_faster(rate(10e9), rate(12e9)));
    BOOST_TEST(!explain::is_faster(rate(10e9), rate(10.3e9)));
    BOOST_TEST(!explain::is_faster(time(10e-6), time(12e-6)));
    vague = rate(20e9);
    vague.low = 5e9;
    BOOST_TEST(!explain::is_faster(rate(10e9), vague));
    const auto of_two =
        explain::slower_of({rate(10e9), time(3e-6), figure("x", "x", "s", 1)}, {time(5e-6), rate(12e9)});
    BOOST_TEST_REQUIRE(of_two.size() == 2u);
    BOOST_TEST(of_two[0].value == 10e9);
    BOOST_TEST(of_two[1].value == 5e-6);
    BOOST_TEST(explain::is_alike(1, 1.09));
    BOOST_TEST(explain::is_alike(1.09, 1));
    BOOST_TEST(!explain::is_alike(1, 1.2));
    BOOST_TEST(!explain::is_alike(1.2, 1));
}

/// A device that is as the profile says; what is shorter than 0.2 s others disturb.
struct Quiet : explain::Measure {
    std::optional<explain::OneCoreTimes> on_one_core(const model::Cell&, std::string&) override { return std::nullopt; }
    std::vector<std::string> asked;
    model::Record run(const model::Cell&, double) override { return record(15e-3, copying()); }
    std::vector<model::Figure> peak(const std::string& id, double seconds) override {
        asked.push_back(id + (seconds < 0.2 ? " short" : ""));
        const auto all = profile();
        const auto* known = seconds < 0.2 ? nullptr : all.find(id);
        return known ? std::vector{*known} : std::vector<model::Figure>{};
    }
};

BOOST_AUTO_TEST_CASE(recent_measurement_is_reused_and_too_short_ones_repeated) {
    Quiet device;
    explain::Peaks peaks(device, profile());
    BOOST_TEST(peaks.explain({}, record(15e-3, copying())).again.size() == 1u);
    const std::vector<std::string> once{"bandwidth.copy short", "bandwidth.copy"};
    BOOST_TEST(device.asked == once, boost::test_tools::per_element());
    BOOST_TEST(peaks.explain({}, record(16e-3, copying())).again.empty());
    BOOST_TEST(device.asked == once, boost::test_tools::per_element());
    // A cell that exceeds it casts another doubt on it.
    BOOST_TEST(peaks.explain({}, record(5e-3, copying())).again.size() == 1u);
    BOOST_TEST(device.asked.back() == "bandwidth.copy");
    BOOST_TEST(device.asked.size() >= 3u);
    BOOST_TEST(std::ranges::count(device.asked, "bandwidth.copy short") == 1);
}

BOOST_AUTO_TEST_CASE(instruction_rate_that_the_profile_lacks_is_measured_with_the_cell) {
    struct WithRate : Quiet {
        std::vector<model::Figure> peak(const std::string& id, double) override {
            asked.push_back(id);
            return {figure("issue.rate", "instruction rate", "instr/s", 20e9)};
        }
    } device;
    explain::Peaks peaks(device, profile());
    auto r = record(1.05e-3, {.groups = 4});
    r.work.instructions = 20e6;
    const auto e = peaks.explain({}, r);
    BOOST_TEST_REQUIRE(!device.asked.empty());
    BOOST_TEST(device.asked.front() == "issue.rate");
    BOOST_TEST(limiter(e) == "issue");
    const auto text = report::explanation_text(r, e, {});
    BOOST_TEST(says(text, "measured now: instruction rate: 20.0 Ginstr/s; the profile has no value for it"), text);
    BOOST_TEST(!says(text, "measured again"), text);
}

/// A device on which other work slows the first measurements of a peak, `bursts` of them, and never the cell.
struct Disturbed : explain::Measure {
    std::optional<explain::OneCoreTimes> on_one_core(const model::Cell&, std::string&) override { return std::nullopt; }
    int bursts;
    double spread;
    explicit Disturbed(int number, double relative = 0) : bursts(number), spread(relative) {}
    model::Record run(const model::Cell&, double) override { return record(15e-3, copying()); }
    std::vector<model::Figure> peak(const std::string& id, double) override {
        const auto all = profile();
        auto out = *all.find(id);
        if (bursts-- <= 0) return {out};
        out.value *= 0.68;
        out.low = out.value * (1 - spread), out.high = out.value * (1 + spread);
        return {out};
    }
};

BOOST_AUTO_TEST_CASE(peak_that_is_slow_only_once_explains_nothing) {
    const auto used = [](Disturbed device) {
        explain::Peaks peaks(device, profile());
        const auto e = peaks.explain({}, record(15e-3, copying()));
        BOOST_TEST_REQUIRE(e.again.size() == 1u);
        BOOST_TEST(e.again.front().used == (e.limit == Limit::named));
        return e.again.front().used;
    };
    BOOST_TEST(!used(Disturbed(1)));
    BOOST_TEST(used(Disturbed(9)));         // it is slow before and after
    BOOST_TEST(!used(Disturbed(9, 0.3)));  // nobody knows how slow
}

BOOST_AUTO_TEST_CASE(missing_peak_of_unknown_speed_explains_nothing) {
    auto limits = profile();
    std::erase_if(limits.figures, [](const auto& figure) { return figure.id == "launch.empty.item"; });
    const auto again = [&](double spread) {
        Disturbed device(9, spread);
        explain::Peaks peaks(device, limits);
        return std::ranges::count(peaks.explain({}, record(27e-3, copying())).again, "launch.empty.item",
                                  &explain::PeakAgain::figure);
    };
    BOOST_TEST(again(0.1) == 1);
    BOOST_TEST(again(0.3) == 0);
}

BOOST_AUTO_TEST_CASE(peak_measured_again_explains_an_impossible_cell) {
    auto limits = profile();
    const auto r = record(5e-3, copying());
    BOOST_CHECK(explanation(r, limits).limit == Limit::impossible);
    const auto sentence = said(r, limits);
    BOOST_TEST(says(sentence, " by bandwidth.copy of the profile, 2.0"), sentence);
    explain::replace(limits, figure("bandwidth.copy", "copy bandwidth", "B/s", 22e9));
    auto e = explanation(r, limits);
    BOOST_CHECK(e.limit == Limit::named);
    BOOST_TEST(says(e.bounds.front().how, "(copy bandwidth, measured now)"), e.bounds.front().how);
    e.again.push_back({"bandwidth.copy", "copy bandwidth", "B/s", 10e9, 22e9, true, "it was disturbed"});
    const auto text = report::explanation_text(r, e, {});
    BOOST_TEST(says(text, "measured again: copy bandwidth: 22.0 GB/s now, 10.0 GB/s in the profile; it was disturbed"),
               text);
    // The cell's second time is held against it, too, as long as it stands in the profile's place.
    BOOST_TEST(explain::still_used(e.again, limits).size() == 1u);
    BOOST_TEST(explain::still_used(e.again, profile()).empty());
    auto unused = e.again;
    unused.front().used = false;
    BOOST_TEST(explain::still_used(unused, limits).empty());
    // Beside the next cell it is no longer the profile's.
    BOOST_TEST(!limits.find("bandwidth.copy")->of_profile);
    auto later = e;
    later.again.front().of_profile = false;
    BOOST_TEST(says(report::explanation_text(r, later, {}), "22.0 GB/s now, 10.0 GB/s before; "));
    const auto json = nlohmann::json::parse(report::explanation_json(r, e));
    BOOST_TEST(json["again"][0]["figure"] == "bandwidth.copy");
    BOOST_TEST(json["again"][0]["now"] == 22e9);
    BOOST_TEST(json["again"][0]["used"] == true);
}

BOOST_AUTO_TEST_CASE(second_time_is_used_if_better_explained_or_better_known) {
    const auto time = [](double median, double spread) {
        return model::Timing{.median = median, .low = (1 - spread) * median, .high = (1 + spread) * median, .n = 20};
    };
    const auto steady = time(1, 0.01);
    BOOST_TEST(explain::second_stands(steady, time(0.7, 0.01), Limit::unexplained));
    BOOST_TEST(!explain::second_stands(steady, time(1.3, 0.01), Limit::unexplained));
    BOOST_TEST(!explain::second_stands(steady, time(0.95, 0.01), Limit::unexplained));
    BOOST_TEST(explain::second_stands(steady, time(1.3, 0.01), Limit::impossible));
    BOOST_TEST(!explain::second_stands(steady, time(0.7, 0.01), Limit::impossible));
    BOOST_TEST(explain::second_stands(steady, time(0.7, 0.01), Limit::named));
    BOOST_TEST(!explain::second_stands(steady, time(1.3, 0.01), Limit::named));
    BOOST_TEST(explain::has_two_times(steady, time(1.3, 0.01)));
    BOOST_TEST(!explain::has_two_times(steady, time(1.3, 0.3)));
    BOOST_TEST(explain::has_two_times(time(1.3, 0.01), steady));
    BOOST_TEST(!explain::has_two_times(steady, time(1.2, 0.01)));
    BOOST_TEST(explain::second_stands(time(1, 0.2), time(1, 0.05), Limit::unsteady));
    BOOST_TEST(!explain::second_stands(time(1, 0.2), time(0.7, 0.15), Limit::unsteady));
}

BOOST_AUTO_TEST_CASE(figure_is_measured_again_by_its_few_cells) {
    auto device = test::probe_cpu();
    device.host_cache_levels = {48 << 10, 2 << 20, 32 << 20};
    device.compute_units = 2;
    const auto parts = [&](const std::string& id) { return portrait::parts_of_figure(id, device); };
    const auto value = [](const portrait::Part& part, const std::string& axis) {
        for (const auto& [name, values] : part.axes)
            if (name == axis) return values;
        return std::string();
    };
    BOOST_TEST_REQUIRE(parts("fma.peak.float.256").size() == 1u);
    BOOST_TEST(parts("fma.peak.float.256").front().pattern == "fma_peak");
    BOOST_TEST(value(parts("fma.peak.float.256").front(), "type") == "float");
    BOOST_TEST_REQUIRE(parts("bandwidth.copy").size() == 2u);
    BOOST_TEST(parts("bandwidth.copy").front().pattern == "bandwidth_copy");
    BOOST_TEST(value(parts("bandwidth.copy").front(), "width") == "64");
    BOOST_TEST_REQUIRE(parts("bandwidth.l2.rate").size() == 1u);
    BOOST_TEST(parts("bandwidth.l2.rate").front().pattern == "bandwidth_reread");
    BOOST_TEST_REQUIRE(parts("bandwidth.l3.copy").size() == 1u);
    BOOST_TEST(parts("bandwidth.l3.copy").front().pattern == "bandwidth_copy");
    BOOST_TEST((parts("bandwidth.l3.copy") != parts("bandwidth.copy")));
    BOOST_TEST(parts("bandwidth.l2.copy").empty());  // it is over before all cores have come to it
    BOOST_TEST((parts("fma.peak.float") == parts("fma.peak.float.256")));
    BOOST_TEST(parts("bandwidth.l5.rate").empty());  // there is no such level
    BOOST_TEST(parts("latency.l2.latency").size() == 2u);
    BOOST_TEST_REQUIRE(parts("launch.empty.item").size() == 1u);
    BOOST_TEST(parts("launch.empty.item").front().pattern == "launch_item");
    BOOST_TEST(value(parts("atomic.local.one").front(), "counters") == "1");
    BOOST_TEST(parts("atomic.global.many").front().pattern == "atomic_global");
    BOOST_TEST(parts("channels.load").empty());
    BOOST_TEST(parts("fma.units").empty());
    device.host_cache_levels.clear();
    BOOST_TEST(parts("bandwidth.l2.rate").empty());
}

BOOST_AUTO_TEST_CASE(simulated_counts_prove_no_time_impossible) {
    const auto r = record(1e-3, {.launches = 1});
    const auto of = [](const char* id, double seconds, bool simulated) {
        return model::Bound{id, id, id, seconds, seconds, seconds, "", id, simulated};
    };
    model::Explanation e{.bounds = {of("arithmetic", 2e-3, true), of("memory", 0.9e-3, false)}};
    e.limit = explain::limit_of(e.bounds, *r.time);
    BOOST_TEST(bool(e.limit == model::Limit::impossible));
    explain::drop_removed(r, e);
    BOOST_TEST(limiter(e) == "memory");
    BOOST_TEST(e.unbounded.size() == 1u);
    // What is declared, or counted as it ran, does.
    e.bounds = {of("arithmetic", 2e-3, false), of("memory", 0.9e-3, true)};
    e.limit = explain::limit_of(e.bounds, *r.time);
    explain::drop_removed(r, e);
    BOOST_TEST(bool(e.limit == model::Limit::impossible));
    BOOST_TEST(e.bounds.size() == 2u);
}

BOOST_AUTO_TEST_CASE(bound_far_above_the_time_names_no_limiter) {
    const auto r = record(17.7e-3, {.launches = 1});
    const auto limit = [&](double bound) {
        return explain::limit_of({{"issue", "issue", "issue", bound, 18.4e-3, 27.9e-3, "", "issue.rate", false}}, *r.time);
    };
    BOOST_TEST(bool(limit(25.2e-3) == Limit::impossible));
    BOOST_TEST(bool(limit(19.5e-3) == Limit::named));
}

BOOST_AUTO_TEST_CASE(assumed_buffer_use_proves_no_time_impossible) {
    auto r = record(1e-3, copying());  // at 10 GB/s they take ten times as long
    BOOST_TEST(bool(explanation(r).limit == model::Limit::impossible));
    r.work.assumed = true;
    auto e = explanation(r);
    explain::drop_removed(r, e);
    BOOST_TEST(bool(e.limit == model::Limit::unexplained));
    BOOST_TEST(says(why_not(e, "memory bandwidth"), "moving every buffer once would take longer than the kernel"));
}

BOOST_AUTO_TEST_SUITE_END()

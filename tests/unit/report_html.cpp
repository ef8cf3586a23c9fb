// Parts of the page that no file of records makes: what a probe concluded, or withheld, and why.
#include <boost/test/unit_test.hpp>
#include <sstream>

#include "report/html/page.hpp"
#include "unit/report_records.hpp"

BOOST_AUTO_TEST_SUITE(report_html)

using namespace cllab;

namespace {

/// The page without the places where names may break.
std::string written(const report::html::Page& page) {
    std::ostringstream out;
    report::html::write_page(out, page);
    auto html = out.str();
    for (auto at = html.find("<wbr>"); at != std::string::npos; at = html.find("<wbr>", at)) html.erase(at, 5);
    return html;
}

bool has(const std::string& page, const std::string& part) { return page.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_CASE(withheld_finding_has_a_reason_and_no_value) {
    const std::vector<model::Record> records{test::cell("latency", "global", 2e-9)};
    report::html::Page page{records};
    page.curves.push_back({model::device_key(records.front()), "latency", "How long does a load take?", {}, {}});
    page.curves.front().findings = {
        {"capacity", "cache capacities", "byte", 0, 0, 0, "", "one order cannot tell a cache from the TLB"},
        {"line", "line", "byte", 64, 64, 64, "smallest distance that costs as much"}};
    const auto html = written(page);
    BOOST_TEST(has(html,
                   "<td>cache capacities</td><td class=\"n\">none</td><td class=\"n\"></td><td>withheld: one order "
                   "cannot tell a "
                   "cache from the TLB</td>"),
               html.substr(0, 0));
    BOOST_TEST(has(html, "<td>line</td><td class=\"n\">64 B</td>"));
}

BOOST_AUTO_TEST_CASE(portrait_draws_latency_and_bandwidth_and_lists_missing_parts) {
    const std::vector<model::Record> records{test::cell("pitch", "wide", 1e-3)};
    report::html::Page page{records};
    report::html::Portrait portrait{model::device_key(records.front()),
                                    "any",
                                    "2026-01-01T00:00:00Z",
                                    {},
                                    {"Caches, TLB: not measured: its cells need 12 s"},
                                    {}};
    for (const auto* id : {"latency_global", "latency_local", "bandwidth_reread", "bandwidth_copy"}) {
        const bool latency = std::string(id).starts_with("latency");
        report::html::Portrait::Series series{id, latency ? "footprint" : "size", {}};
        for (int k = 0; k < (std::string(id) == "bandwidth_copy" ? 1 : 4); ++k) {  // one point is no curve
            model::Curve::Sample s;
            s.x = 1024 << k;
            s.per_step = 1e-9 * (k + 1);
            s.metrics["bandwidth"] = 1e9 * (k + 1);
            series.samples.push_back(s);
        }
        portrait.curves.push_back(series);
    }
    page.portraits.push_back(portrait);
    const auto html = written(page);
    BOOST_TEST(has(html, "<figcaption>Latency of "));
    BOOST_TEST(has(html, "latency_local</li>"));
    BOOST_TEST(has(html, "<figcaption>Bandwidth of "));
    BOOST_TEST(has(html, "bandwidth, in bytes per second"));
    BOOST_TEST(!has(html, "bandwidth_copy</li>"));
    BOOST_TEST(has(html, "Caches, TLB: not measured: its cells need 12 s"));
}

BOOST_AUTO_TEST_CASE(curve_has_only_the_knees_that_the_probe_concluded) {
    std::vector<model::Record> records;
    report::html::Curves set{"", "latency", "How long does a load take?", {}, {}};
    report::html::Curves::Series series{{"global", {}, {}}, "footprint", "byte", {}};
    for (int k = 0; k < 12; ++k) {  // two levels that a fit would find
        records.push_back(test::cell("latency", "global", k < 6 ? 2e-9 : 9e-9));
        model::Curve::Sample s;
        s.x = 4096 << k;
        s.seconds = s.per_step = s.low = s.high = k < 6 ? 2e-9 : 9e-9;
        s.n = 20;
        series.curve.samples.push_back(s);
        series.cells.push_back(static_cast<std::size_t>(k));
    }
    report::html::Page page{records};
    set.device_key = model::device_key(records.front());
    set.series = {series};
    set.findings = {{"l1.size", "level 1 capacity", "byte", 0, 0, 0, "", "others had the cache"},
                    {"l1.latency", "level 1 latency", "s", 2e-9, 2e-9, 2e-9, ""}};
    page.curves = {set};
    BOOST_TEST(!has(written(page), "class=\"guide\""));
    page.curves.front().findings.front() = {"l1.size", "level 1 capacity", "byte", 131072, 131072, 131072, ""};
    const auto html = written(page);
    BOOST_TEST(has(html, "class=\"guide\""));
    BOOST_TEST(has(html, "128 KiB level 1 capacity"));
}

BOOST_AUTO_TEST_CASE(verdict_names_all_close_variants_and_never_ranks_two_runs) {
    std::vector<model::Record> records;
    for (const char* variant : {"wide", "loop", "short8", "vload8", "float"})
        records.push_back(test::cell("pitch", variant, 1e-3, test::pocl()));
    report::html::Page page{records};
    BOOST_TEST(
        has(written(page), "pitch_wide, pitch_loop, pitch_short8, pitch_vload8, pitch_float are too close to call"));
    auto of_two = records;
    for (std::size_t i = 0; i < of_two.size(); ++i) {
        of_two[i].run.id = i < 2 ? "later" : "first";
        if (i < 2) of_two[i].time->median /= 4, of_two[i].time->low /= 4, of_two[i].time->high /= 4;
    }
    const report::html::Page two{of_two};
    const auto html = written(two);
    BOOST_TEST(has(html, "pitch_wide, pitch_loop are too close to call"));
    BOOST_TEST(has(html, "pitch_short8, pitch_vload8, pitch_float are too close to call"));
    BOOST_TEST(!has(html, "is fastest"));
    BOOST_TEST(has(html, "Only cells that took turns in one run are ranked"));
}

BOOST_AUTO_TEST_SUITE_END()

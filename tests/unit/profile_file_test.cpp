// What later commands read from profile.json, written by the profile itself, and how a file that cannot be used says
// so.
#include "app/files/profile_file.hpp"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/commands/profile.hpp"
#include "unit/cells.hpp"
#include "unit/probe.hpp"
#include "unit/report_records.hpp"

BOOST_AUTO_TEST_SUITE(profile_file)

using namespace cllab;
using nlohmann::json;

namespace {

model::Device device() {
    auto out = test::probe_gpu();
    out.selector = "0:0";
    out.platform = "test platform";
    out.driver = "1.2";
    return out;
}

json written() {
    portrait::Profile p;
    p.device = device();
    p.utc = "2026-01-01T00:00:00Z";
    p.conclusions.push_back({&test::family("fma"),
                             {},
                             {{"peak.float", "float peak", "FLOP/s", 60e12, 59e12, 61e12, ""},
                              {"peak.double", "double peak", "FLOP/s", 30e12, 29e12, 31e12, ""}}});
    p.conclusions.push_back({&test::family("launch"), {}, {{"empty.item", "empty kernel", "s", 4e-6, 3e-6, 5e-6, ""}}});
    p.conclusions.push_back({&test::family("bandwidth"),
                             {},
                             {{"l1.rate", "level 1 read bandwidth", "B/s", 20e12, 19e12, 21e12, ""},
                              {"copy", "copy bandwidth", "B/s", 4e12, 4e12, 4e12, ""}}});
    p.conclusions.push_back({&test::family("latency"),
                             {},
                             {{"l1.size", "L1 capacity", "byte", 128 << 10, 128 << 10, 256 << 10, ""},
                              {"l2.size", "L2 capacity", "byte", 16 << 20, 16 << 20, 32 << 20, ""},
                              {"memory.latency", "memory latency", "s", 3e-7, 3e-7, 3e-7, ""}}});
    return json::parse(app::profile_json(p));
}

json without(json profile, const std::string& figure) {
    auto& figures = profile["figures"];
    for (std::size_t i = figures.size(); i-- > 0;) {
        if (figures[i]["name"] == figure) figures.erase(i);
    }
    return profile;
}

std::string refusal(const std::string& text, const model::Device& here = device()) {
    try {
        app::limits_from(text, here);
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

template <typename F>
std::string refusal_after(F change) {
    auto profile = written();
    change(profile);
    return refusal(profile.dump());
}

}  // namespace

BOOST_AUTO_TEST_CASE(profile_keeps_the_share_of_cells_that_lacked_cores) {
    portrait::Profile p{.device = device()};
    BOOST_TEST(app::disturbed_part(p) == 0);
    p.records.assign(4, test::cell("fma", "peak", 1e-3, test::pocl()));
    p.records.front().time->cores = p.records.front().time->waited = 0.5;
    BOOST_TEST(app::disturbed_part(p) == 0.25);
}

BOOST_AUTO_TEST_CASE(profile_with_more_figures_of_the_same_driver_is_better) {
    const auto path = std::filesystem::temp_directory_path() / ("cllab-profile-" + std::to_string(getpid()) + ".json");
    auto fewer = written();
    fewer["figures"].erase(0);
    app::write_profile(path, written().dump());
    BOOST_TEST(app::more_figures(path, written().dump()) == "");
    BOOST_TEST(app::more_figures(path, fewer.dump()).find("and the new one has") != std::string::npos);
    fewer["device"]["driver"] = "another";
    BOOST_TEST(app::more_figures(path, fewer.dump()) == "");
    app::write_profile(path, "{damaged");
    BOOST_TEST(app::more_figures(path, written().dump()) == "");
    std::filesystem::remove(path);
    BOOST_TEST(app::more_figures(path, written().dump()) == "");
}

BOOST_AUTO_TEST_CASE(page_of_a_file_has_the_figures_and_reasons_of_the_profile) {
    const auto file = written();
    const auto again = json::parse(app::profile_json(app::page_from(file.dump(), device())));
    for (const auto* key : {"device", "utc", "figures", "absent"}) BOOST_TEST((again.at(key) == file.at(key)), key);
    for (const auto* key : {"section", "how"}) {
        auto damaged = file;
        damaged["figures"][0].erase(key);
        BOOST_CHECK_THROW(app::page_from(damaged.dump(), device()), Error);
    }
}

BOOST_AUTO_TEST_CASE(limits_are_those_written_in_the_profile) {
    const auto limits = app::limits_from(written().dump(), device());
    BOOST_TEST(limits.utc == "2026-01-01T00:00:00Z");
    BOOST_TEST(limits.float_peak == 60e12);
    BOOST_TEST(limits.double_peak == 30e12);
    BOOST_TEST(limits.bandwidth == 20e12);
    BOOST_TEST(limits.bandwidth_name == "level 1 read bandwidth");
    BOOST_TEST(limits.empty_launch_seconds == 4e-6);
    BOOST_TEST(limits.last_level_bytes == 32u << 20);
}

BOOST_AUTO_TEST_CASE(figures_are_joined_by_identifier_not_by_name) {
    auto reworded = written();
    for (auto& figure : reworded["figures"]) figure["name"] = "reworded";
    const auto before = app::limits_from(written().dump(), device()),
               after = app::limits_from(reworded.dump(), device());
    BOOST_TEST(after.float_peak == before.float_peak);
    BOOST_TEST(after.double_peak == before.double_peak);
    BOOST_TEST(after.bandwidth == before.bandwidth);
    BOOST_TEST(after.empty_launch_seconds == before.empty_launch_seconds);
    BOOST_TEST(after.last_level_bytes == before.last_level_bytes);
}

BOOST_AUTO_TEST_CASE(memory_bandwidth_alone_limits_no_bandwidth) {
    BOOST_TEST(app::limits_from(without(written(), "level 1 read bandwidth").dump(), device()).bandwidth == 0);
}

BOOST_AUTO_TEST_CASE(chase_that_misses_memory_leaves_the_last_level_unknown) {
    BOOST_TEST(app::limits_from(without(written(), "memory latency").dump(), device()).last_level_bytes == 0u);
}

BOOST_AUTO_TEST_CASE(level_withheld_after_the_last_leaves_the_last_level_unknown) {
    auto profile = written();
    profile["absent"].push_back({{"id", "latency.l3.size"}, {"name", "L3 capacity"}, {"reason", "withheld"}});
    BOOST_TEST(app::limits_from(profile.dump(), device()).last_level_bytes == 0u);
    profile["absent"].back()["id"] = "latency.l1.size";
    BOOST_TEST(app::limits_from(profile.dump(), device()).last_level_bytes == 32u << 20);
}

BOOST_AUTO_TEST_CASE(region_at_cache_bandwidth_is_in_the_last_level) {
    auto profile = written();
    profile["figures"].push_back({{"id", "bandwidth.l2.size"},
                                  {"name", "level 2 capacity"},
                                  {"unit", "byte"},
                                  {"value", 64 << 20},
                                  {"low", 64 << 20},
                                  {"high", 128 << 20}});
    BOOST_TEST(app::limits_from(profile.dump(), device()).last_level_bytes == 64u << 20);
    BOOST_TEST(app::limits_from(without(profile, "memory latency").dump(), device()).last_level_bytes == 0u);
}

BOOST_AUTO_TEST_CASE(non_finite_figure_is_no_limit) {
    auto profile = written();
    for (auto& figure : profile["figures"]) {
        if (figure["name"] == "float peak") figure["value"] = nullptr;
    }
    BOOST_TEST(app::limits_from(profile.dump(), device()).float_peak == 0);
}

BOOST_AUTO_TEST_CASE(slower_page_size_of_random_chases_is_used) {
    auto profile = written();
    const auto curve = [](const char* id, const char* order, const json& samples) {
        return json{{"id", id}, {"fixed", {{"order", order}}}, {"samples", samples}};
    };
    profile["curves"] = {
        curve("latency_global", "random", {{{"x", 4096}, {"step_time", 2e-9}}, {{"x", 16384}, {"step_time", 4e-9}}}),
        curve("latency_global", "random", {{{"x", 16384}, {"step_time", 8e-9}}, {{"x", 1}}, 7}),
        curve("latency_global", "paged", {{{"x", 8192}, {"step_time", 1e-9}}}),
        curve("latency_local", "random", {{{"x", 8192}, {"step_time", 1e-9}}}), 3};
    const auto limits = app::limits_from(profile.dump(), device());
    BOOST_TEST_REQUIRE(limits.scattered.size() == 2u);
    BOOST_TEST(limits.scattered_load(4096) == 2e-9);
    BOOST_TEST(limits.scattered_load(16384) == 8e-9);
    BOOST_TEST(limits.scattered_load(8192) == 4e-9, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(limits.scattered_load(2048) == 0);
    BOOST_TEST(limits.scattered_load(32768) == 0);
    BOOST_TEST(app::limits_from(written().dump(), device()).scattered.empty());
}

BOOST_AUTO_TEST_CASE(other_device_driver_or_platform_is_refused_with_both_names) {
    for (const auto member : {&model::Device::name, &model::Device::driver, &model::Device::platform}) {
        auto here = device();
        here.*member = "elsewhere";
        const auto text = refusal(written().dump(), here);
        BOOST_TEST(text.find("'elsewhere'") != std::string::npos, text);
        BOOST_TEST(text.find("'" + device().*member + "'") != std::string::npos, text);
    }
}

BOOST_AUTO_TEST_CASE(damaged_file_reports_the_place) {
    BOOST_TEST(refusal(std::string(100'000, '[')) == "is damaged: it is nested more than 64 deep");
    BOOST_TEST(refusal(std::string((16 << 20) + 1, ' ')) == "is larger than 16 MiB");
    BOOST_TEST(refusal_after([](json& j) { j["device"]["driver"] = std::string(5000, 'x'); }).size() < 400u);
    BOOST_TEST(refusal("") == "is damaged at byte 1 of 0");
    const auto whole = written().dump();
    BOOST_TEST(refusal(whole.substr(0, 100)).rfind("is damaged at byte 1", 0) == 0u, refusal(whole.substr(0, 100)));
    BOOST_TEST(refusal("[1e999]").rfind("is damaged", 0) == 0u);
    BOOST_TEST(refusal("[]") == "is damaged: it is not a JSON object");
    BOOST_TEST(refusal("{}") == "has schema none; this build reads schema 2; run `cllab profile` again");
    BOOST_TEST(refusal_after([](json& j) { j["schema"] = 1; }) ==
               "has schema 1; this build reads schema 2; run `cllab profile` again");
    BOOST_TEST(refusal_after([](json& j) { j["schema"] = 7; }) ==
               "has schema 7; this build reads schema 2; run `cllab profile` again");
    BOOST_TEST(refusal_after([](json& j) { j.erase("device"); }) == "is damaged: it has no string 'platform'");
    BOOST_TEST(refusal_after([](json& j) { j["device"] = 3; }) == "is damaged: it has no string 'platform'");
    BOOST_TEST(refusal_after([](json& j) { j.erase("utc"); }) == "is damaged: it has no string 'utc'");
    BOOST_TEST(refusal_after([](json& j) { j["figures"] = "none"; }) == "is damaged: it has no array 'figures'");
    BOOST_TEST(refusal_after([](json& j) { j["figures"][0] = 1; }) == "is damaged: it has no string 'id'");
    BOOST_TEST(refusal_after([](json& j) { j["figures"][0]["value"] = "much"; }).find("has no number 'value'") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(foreign_profile_knows_its_units_and_caches) {
    auto profile = written();
    profile["device"]["compute_units"] = 132;
    profile["device"]["caches"] = {32768, 1048576};
    auto of_record = device();
    of_record.compute_units = 0;
    of_record.host_cache_levels.clear();
    of_record.type = model::DeviceType::gpu;
    const auto gpu = app::limits_from(profile.dump(), of_record);
    BOOST_TEST(gpu.units == 132u);
    BOOST_TEST(gpu.caches.empty());  // it knows them by its figures
    of_record.type = model::DeviceType::cpu;
    const auto cpu = app::limits_from(profile.dump(), of_record);
    BOOST_TEST(cpu.caches == (std::vector<std::uint64_t>{32768, 1048576}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(foreign_profile_without_units_is_refused) {
    auto profile = written();
    profile["device"].erase("compute_units");
    auto of_record = device();
    of_record.compute_units = 0;
    BOOST_CHECK_EXCEPTION(app::limits_from(profile.dump(), of_record), Error, [](const Error& e) {
        return std::string(e.what()).find("compute units") != std::string::npos;
    });
    profile["figures"].push_back(
        {{"id", "fma.units"}, {"name", "u"}, {"unit", ""}, {"value", 8}, {"low", 8}, {"high", 8}});
    BOOST_TEST(app::limits_from(profile.dump(), of_record).units == 8u);
}

BOOST_AUTO_TEST_CASE(missing_profile_file_gives_no_limits) {
    BOOST_TEST(app::read_profiles("no-such-folder", {device()}).empty());
}

BOOST_AUTO_TEST_SUITE_END()

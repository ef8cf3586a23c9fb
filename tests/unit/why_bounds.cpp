// Times that a cell cannot beat: what it declares over what the profile measured.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "explain/limiter.hpp"
#include "model/work.hpp"
#include "unit/probe.hpp"
#include "unit/why_cells.hpp"

BOOST_AUTO_TEST_SUITE(why_bounds)

using namespace cllab;
using namespace test::why;

BOOST_AUTO_TEST_CASE(memory_is_bounded_by_the_stream_of_equal_read_write_ratio) {
    const auto of = [](double read) {
        auto work = copying();
        work.read = read * work.bytes;
        return bound(record(1, work), "memory");
    };
    BOOST_TEST(of(0.5).figure == "bandwidth.copy");
    BOOST_TEST(of(0.5).seconds == 100 * MiB / 10e9, is_close);
    BOOST_TEST(of(0.5).low == 100 * MiB / 10.1e9, is_close);
    BOOST_TEST(of(0.5).high == 100 * MiB / 9.9e9, is_close);
    BOOST_TEST(of(1).figure == "bandwidth.read");
    BOOST_TEST(of(0).figure == "bandwidth.write");
    BOOST_TEST(of(2.0 / 3).figure == "bandwidth.triad");
    BOOST_TEST(of(0.9).figure == "bandwidth.read");  // the fastest of all: nothing was measured in this proportion
    auto unknown = copying();
    unknown.read.reset();
    BOOST_TEST(bound(record(1, unknown), "memory").figure == "bandwidth.read");
}

BOOST_AUTO_TEST_CASE(footprint_is_in_the_first_level_that_holds_it) {
    const auto reads = [](double footprint, const std::string& cache = "hot") {
        auto r = record(1, {.bytes = footprint, .read = footprint, .footprint = footprint});
        r.time->cache = cache;
        return explanation(r).bounds.front();
    };
    BOOST_TEST(reads(60 * KiB).id == "l1");  // either unit may hold a part of it
    BOOST_TEST(reads(60 * KiB).seconds == 60 * KiB / 200e9, is_close);
    BOOST_TEST(reads(128 * KiB).id == "l2");
    BOOST_TEST(reads(128 * KiB).seconds == 64 * KiB / 50e9, is_close);
    const auto again =
        explanation(record(1, {.bytes = 1, .read = 1, .footprint = 128 * KiB, .shared = true})).bounds.front();
    BOOST_TEST(again.seconds == 0.75 / 50e9 + 0.25 / 200e9, is_close);  // of each core's 32 KiB, if any of it hits them
    BOOST_TEST(again.low == 0.75 / 50.5e9, is_close);
    BOOST_TEST(reads(1024 * KiB).id == "l2");
    BOOST_TEST(reads(4 * MiB).id == "memory");
    BOOST_TEST(reads(4 * MiB).seconds == 3 * MiB / 12e9, is_close);
    BOOST_TEST(reads(64 * MiB).seconds == 64 * MiB / 12e9, is_close);  // as the streams that were measured
    BOOST_TEST(reads(60 * KiB, "cold").id == "memory");
    BOOST_TEST(reads(60 * KiB, "cold").seconds == 60 * KiB / 12e9, is_close);
}

BOOST_AUTO_TEST_CASE(no_level_is_slower_than_the_next_one) {
    auto disturbed = profile();
    for (auto& f : disturbed.figures)
        if (f.id == "bandwidth.l2.rate") f.value = f.low = f.high = 5e9;
    BOOST_TEST(explanation(record(1, {.bytes = MiB, .read = MiB, .footprint = MiB}), disturbed).bounds.front().figure ==
               "bandwidth.read");
}

BOOST_AUTO_TEST_CASE(balanced_traffic_in_a_cache_is_bounded_by_its_copy_rate) {
    auto measured = with(profile(), {figure("bandwidth.l2.copy", "L2 copy bandwidth", "B/s", 60e9)});
    auto work = model::WorkInfo{.bytes = 200 * KiB, .read = 100 * KiB, .footprint = 200 * KiB};
    const auto seconds = [&] { return bound(record(1, work), "l2", measured).seconds; };
    const double farther = 1 - 64.0 / 200;
    BOOST_TEST(seconds() == farther * 200 * KiB / 60e9, is_close);
    work.read = 150 * KiB;
    BOOST_TEST(seconds() == farther * 150 * KiB / 50e9, is_close);
    work.read = 100 * KiB;
    measured.figures.back().value = 200e9;  // no faster than its reads
    BOOST_TEST(seconds() == farther * 100 * KiB / 50e9, is_close);
}

BOOST_AUTO_TEST_CASE(cache_bounds_count_only_reads) {
    auto work = model::WorkInfo{.bytes = 200 * KiB, .read = 100 * KiB, .footprint = 200 * KiB};
    BOOST_TEST(bound(record(1, work), "l2").seconds == 68 * KiB / 50e9, is_close);
    work.read.reset();
    BOOST_TEST(why_not(record(1, work), "memory traffic").find("the number of bytes read is not known") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(arithmetic_is_bounded_only_by_the_peak_of_its_type) {
    BOOST_TEST(said(record(1.05e-3, {.flops = 100e6, .type = "float", .launches = 1})) ==
               "limited by float arithmetic: 95 % of the time");
    BOOST_TEST(said(record(2.1e-3, {.flops = 100e6, .type = "double", .launches = 1})) ==
               "limited by double arithmetic: 95 % of the time");
    const auto half = explanation(record(1e-3, {.flops = 100e6, .type = "half"}));
    BOOST_TEST(half.bounds.empty());
    BOOST_TEST(why_not(half, "half arithmetic") == "the profile has no half peak");
    BOOST_TEST(report::limit_sentence(half, *record(1, {}).time) == "not explained: no bound is known");
}

BOOST_AUTO_TEST_CASE(matrix_only_types_are_bounded_by_the_fastest_instruction) {
    const auto products = record(1, {.flops = 1e12, .type = "bf16"});
    BOOST_TEST(why_not(explanation(products), "bf16 arithmetic") == "the profile has no bf16 peak");
    auto measured = with(profile(), {figure("matrix.rate.bf16", "matrix units, bf16", "FLOP/s", 600e12)});
    BOOST_TEST(bound(products, "arithmetic", measured).seconds == 1 / 600.0, is_close);
    measured = with(measured, {figure("matrix.wgmma.bf16", "matrix units, bf16 by wgmma", "FLOP/s", 800e12)});
    BOOST_TEST(bound(products, "arithmetic", measured).seconds == 1 / 800.0, is_close);
    BOOST_TEST(bound(products, "arithmetic", measured).name == "bf16 matrix units");
}

BOOST_AUTO_TEST_CASE(narrow_vector_arithmetic_is_bounded_by_its_own_peak) {
    const auto measured =
        with(profile(), {figure("fma.peak.float.256", "float peak in vectors of 256 bits", "FLOP/s", 50e9)});
    auto r = record(2.1e-3, {.flops = 100e6, .type = "float"});
    const auto figure_with = [&](std::vector<model::HotBlock> blocks,
                                 const std::string& evidence = model::Hot::sampled) {
        r.hot = model::Hot{.evidence = evidence, .blocks = std::move(blocks)};
        return bound(r, "arithmetic", measured).figure;
    };
    BOOST_TEST(bound(r, "arithmetic", measured).figure == "fma.peak.float");
    BOOST_TEST(figure_with({{.share = 0.6, .classes = {{"vector_256", 4}}},
                            {.share = 0.39, .classes = {{"vector_128", 4}}}}) == "fma.peak.float.256");
    BOOST_TEST(said(r, measured) == "limited by float arithmetic in vectors of up to 256 bits: 95 % of the time");
    BOOST_TEST(figure_with({{.share = 0.9, .classes = {{"vector_256", 4}}},
                            {.share = 0.09, .classes = {{"vector_512", 1}}}}) == "fma.peak.float");
    BOOST_TEST(figure_with({{.share = 0.9, .classes = {{"vector_256", 4}}}}) ==
               "fma.peak.float");  // a tenth of it is elsewhere
    BOOST_TEST(figure_with({{.share = 1, .classes = {{"vector_256", 4}}}}, model::Hot::unknown) == "fma.peak.float");
}

BOOST_AUTO_TEST_CASE(scalar_arithmetic_is_bounded_by_one_vector_lane) {
    const auto measured =
        with(profile(), {figure("fma.peak.float.128", "float peak in vectors of 128 bits", "FLOP/s", 40e9),
                         figure("fma.peak.double.128", "double peak in vectors of 128 bits", "FLOP/s", 20e9)});
    const auto time_of = [&](const std::string& type, std::vector<model::HotBlock> blocks) {
        auto r = record(1, {.flops = 100e6, .type = type});
        r.hot = model::Hot{.evidence = model::Hot::sampled, .blocks = std::move(blocks)};
        return bound(r, "arithmetic", measured).seconds;
    };
    BOOST_TEST(
        time_of("float", {{.share = 1, .classes = {{"scalar_float", 4}, {"scalar_integer", 1}}}}) == 100e6 / 10e9,
        is_close);
    BOOST_TEST(time_of("double", {{.share = 1, .classes = {{"scalar_float", 4}}}}) == 100e6 / 10e9, is_close);
    // Register copies and signs of scalar floats are in 128-bit registers.
    BOOST_TEST(time_of("float", {{.share = 1,
                                  .classes = {{"scalar_float", 4}, {"vector_128", 2}},
                                  .elements = {{model::HotBlock::vector, 0}}}}) == 100e6 / 10e9,
               is_close);
    // A vector beside them may do the work, and so may a function that is called.
    BOOST_TEST(time_of("float", {{.share = 1, .classes = {{"scalar_float", 4}, {"vector_128", 1}}}}) == 100e6 / 40e9,
               is_close);
    BOOST_TEST(time_of("float", {{.share = 0.9, .classes = {{"scalar_float", 4}}},
                                 {.share = 0.1, .classes = {{"vector_128", 1}}}}) == 100e6 / 40e9,
               is_close);
    BOOST_TEST(time_of("float", {{.share = 1, .classes = {{"scalar_float", 4}, {"call", 1}}}}) == 100e6 / 100e9,
               is_close);
    BOOST_TEST(time_of("float", {{.share = 0.9, .classes = {{"scalar_float", 4}}}}) == 100e6 / 100e9,
               is_close);  // a tenth is elsewhere
    BOOST_TEST(time_of("float", {{.share = 1, .classes = {{"scalar_integer", 4}}}}) == 100e6 / 100e9, is_close);
    auto r = record(10.5e-3, {.flops = 100e6, .type = "float"});
    r.hot = model::Hot{.evidence = model::Hot::sampled, .blocks = {{.share = 1, .classes = {{"scalar_float", 4}}}}};
    BOOST_TEST(said(r, measured) == "limited by scalar float arithmetic: 95 % of the time");
}

BOOST_AUTO_TEST_CASE(idle_units_raise_the_bound_if_their_number_was_measured) {
    model::WorkInfo work{.flops = 100e6, .type = "float", .groups = 3};
    BOOST_TEST(explanation(record(1, work)).bounds.front().id == "arithmetic");
    const auto counted = with(profile(), {figure("fma.units", "compute units", "", 2, 0)});
    const auto e = explanation(record(1, work), counted);
    BOOST_TEST(e.bounds.front().id == "units");
    BOOST_TEST(e.bounds.front().seconds == 100e6 / 100e9 * 4 / 3, is_close);
    work.groups = 400;
    BOOST_TEST(explanation(record(1, work), counted).bounds.front().id == "arithmetic");
}

BOOST_AUTO_TEST_CASE(cpu_launch_of_several_groups_waits_for_all_cores) {
    const auto measured =
        with(profile(), {figure("launch.empty.device", "empty kernel with one group per unit", "s", 3e-6)});
    const auto launch = [&](double groups) {
        return bound(record(1, {.launches = 1, .groups = groups}), "launch", measured).seconds;
    };
    BOOST_TEST(launch(1) == 1e-6, is_close);
    BOOST_TEST(launch(8) == 3e-6, is_close);
    const auto awake = with(measured, {figure("launch.spread", "launch to all units", "s", 50e-6)});
    const auto lasting = [&](double seconds) {
        return bound(record(seconds, {.launches = 1, .groups = 8}), "launch", awake).seconds;
    };
    BOOST_TEST(lasting(60e-6) == 50e-6, is_close);
    BOOST_TEST(lasting(20e-6) == 3e-6, is_close);  // it ends before all of them have begun
}

BOOST_AUTO_TEST_CASE(consecutive_launches_are_bounded_by_first_and_further_costs) {
    BOOST_TEST(bound(record(1, {.launches = 1}), "launch").seconds == 1e-6, is_close);
    BOOST_TEST(bound(record(1, {.launches = 5}), "launch").seconds == 9e-6, is_close);
    const auto asleep = with(profile(), {figure("launch.second.item", "second launch", "s", 5e-6)});
    BOOST_TEST(bound(record(1, {.launches = 1}), "launch", asleep).seconds == 1e-6, is_close);
    BOOST_TEST(bound(record(1, {.launches = 2}), "launch", asleep).seconds == 6e-6, is_close);
    BOOST_TEST(bound(record(1, {.launches = 5}), "launch", asleep).seconds == 12e-6, is_close);
    BOOST_TEST(explanation(record(1, {})).bounds.empty());  // of a slope, launching cancels
    // What a launch takes changes by more than a rate does.
    BOOST_TEST(said(record(0.6e-6, {.launches = 1})) == "limited by launch: 100 % of the time");
    BOOST_TEST(said(record(0.2e-6, {.launches = 1})) == "limited by launch: 100 % of the time");
    BOOST_TEST(said(record(0.1e-6, {.launches = 1})).rfind("cannot be: launch alone takes at least 200 ns", 0) == 0u);
}

BOOST_AUTO_TEST_CASE(latency_is_bounded_only_for_declared_chains) {
    BOOST_TEST(said(record(2.1e-9, {.chain = "load", .footprint = 16 * KiB})) ==
               "limited by L1 latency: 95 % of the time");
    BOOST_TEST(said(record(104.2e-9, {.chain = "load", .footprint = 100 * MiB})) ==
               "limited by memory latency: 95 % of the time");
    BOOST_TEST(said(record(1.37e-9, {.type = "float", .chain = "multiply_add"})) ==
               "limited by float latency: 95 % of the time");
    const auto l2 = explanation(record(1e-8, {.chain = "load", .footprint = 512 * KiB}));
    BOOST_TEST(bound(l2, "latency").figure ==
               "latency.l1.latency");  // no nearer than that, for the part that L1 cannot hold
    BOOST_TEST(bound(l2, "latency").seconds == 2e-9 * 15 / 16, is_close);
    BOOST_TEST(bound(l2, "latency").how.ends_with(", since the profile has no L2 latency"), bound(l2, "latency").how);
    auto none = profile();
    std::erase_if(none.figures, [](const auto& f) { return f.id.starts_with("latency.l"); });
    const auto unknown = explanation(record(1e-8, {.chain = "load", .footprint = 512 * KiB}), none);
    BOOST_TEST(why_not(unknown, "latency") == "the profile has no L2 latency");
    BOOST_TEST(unknown.missing == std::vector<std::string>{"latency.l2.latency"}, boost::test_tools::per_element());
    BOOST_TEST(l2.missing == unknown.missing, boost::test_tools::per_element());  // that of L1 stands for it
    BOOST_TEST(
        bound(record(1, {.chain = "load", .footprint = 100 * MiB, .links = 1000}), "latency").seconds == 1000 * 99e-9,
        boost::test_tools::tolerance(0.001));
    BOOST_TEST(why_not(record(1, {}), "latency") == "the dependencies are not known");
}

BOOST_AUTO_TEST_CASE(executed_instructions_are_bounded_by_the_issue_rate) {
    auto measured = profile();
    auto r = record(1.05e-3, {.groups = 4});
    r.work.instructions = 20e6;
    BOOST_TEST(says(why_not(r, "instruction issue", measured), "the profile has no instruction rate for the "));
    measured.figures.push_back(figure("issue.rate", "instruction rate", "instr/s", 20e9));
    const auto issue = bound(r, "issue", measured);
    BOOST_TEST(issue.seconds == 1e-3, is_close);
    BOOST_TEST(issue.low == 0.8e-3 / 1.01, is_close);  // a compare and its branch may be one
    BOOST_TEST(said(r, measured) == "limited by instruction issue: 95 % of the time");
    r.time->cores = 1;
    r.time->waited = 1;
    BOOST_TEST(bound(r, "issue", measured).seconds > 1.5e-3);
    r.work.instructions = 0;
    BOOST_TEST(why_not(r, "instruction issue", measured) == "executed instructions are not counted");
}

BOOST_AUTO_TEST_CASE(index_chain_includes_index_latency_if_the_hot_code_has_one) {
    const auto measured = with(profile(), {figure("latency.l1.indexed", "L1 latency by an index", "s", 2.5e-9)});
    auto r = record(2.6e-9, {.chain = "load", .footprint = 16 * KiB});
    const auto latency = [&] { return bound(r, "latency", measured); };
    BOOST_TEST(latency().seconds == 2e-9, is_close);
    auto& hot = r.hot.emplace();
    hot.evidence = model::Hot::sampled;
    hot.blocks.push_back({"chase", 0, 8, 60, 0.6, 2, {}, {{"load_32", 1}, {model::HotBlock::index_chain, 1}}, {}});
    BOOST_TEST(latency().seconds == 2.5e-9, is_close);
    BOOST_TEST(latency().low == 2e-9 * 0.99, boost::test_tools::tolerance(0.011));
    BOOST_TEST(said(r, measured) == "limited by L1 latency: 96 % of the time");
    auto withheld = measured;
    std::erase_if(withheld.figures, [](const auto& f) { return f.id == "latency.l1.latency"; });
    BOOST_TEST(bound(r, "latency", withheld).seconds == 2.5e-9, is_close);
    hot.blocks.front().share = 0.4;
    BOOST_TEST(latency().seconds == 2e-9, is_close);
    BOOST_TEST(why_not(r, "latency", withheld) == "the profile has no L1 latency");
}

BOOST_AUTO_TEST_CASE(scattered_load_chain_takes_the_time_of_a_random_chase) {
    auto measured = profile();
    measured.scattered = {{16 * KiB, 2e-9}, {64 * KiB, 8e-9}};
    const auto latency = [&](double footprint) {
        return bound(record(1, {.chain = "load", .footprint = footprint, .links = 10}), "latency", measured);
    };
    BOOST_TEST(latency(16 * KiB).seconds == 20e-9, is_close);
    BOOST_TEST(latency(32 * KiB).seconds == 40e-9, is_close);
    BOOST_TEST(latency(32 * KiB).high == 40e-9, is_close);
    BOOST_TEST(latency(32 * KiB).low == 10 * 2e-9 * 0.99, is_close);  // where they stay in one page
    BOOST_TEST(latency(32 * KiB).how.ends_with(" per load if each load goes to another page"), latency(32 * KiB).how);
    BOOST_TEST(latency(8 * KiB).seconds == 20e-9, is_close);  // no such chase was that small
    BOOST_TEST(latency(100 * MiB).figure == "latency.memory.latency");
}

BOOST_AUTO_TEST_CASE(data_beyond_a_known_level_is_at_least_in_the_next_one) {
    auto gpu = profile();
    gpu.caches.clear();
    gpu.figures.push_back(figure("latency.l1.size", "L1 capacity", "byte", 256 * KiB, 0));
    auto chase = record(150e-9, {.chain = "load", .footprint = 8 * MiB});
    chase.device.last_level_bytes = 60 << 20;
    BOOST_TEST(bound(chase, "latency", gpu).figure == "latency.l1.latency");  // no further level was seen
    gpu.figures.push_back(figure("latency.l2.latency", "L2 latency", "s", 140e-9));
    const auto found = bound(chase, "latency", gpu);
    BOOST_TEST(found.figure == "latency.l2.latency");
    BOOST_TEST(found.seconds == 140e-9 * 31 / 32, is_close);
    chase.work.footprint = 128 * KiB;
    BOOST_TEST(bound(chase, "latency", gpu).figure == "latency.l1.latency");
    chase.work.footprint = 200 * MiB;
    BOOST_TEST(bound(chase, "latency", gpu).figure == "latency.memory.latency");
}

BOOST_AUTO_TEST_CASE(private_caches_do_not_add_up_for_shared_data) {
    model::WorkInfo work{.bytes = 60 * KiB, .read = 60 * KiB, .footprint = 60 * KiB};
    BOOST_TEST(explanation(record(1, work)).bounds.front().id == "l1");
    work.shared = true;
    BOOST_TEST(explanation(record(1, work)).bounds.front().id == "l2");
    BOOST_TEST(test::set_up_cell("bandwidth_reread", {{"size", "65536"}}, test::probe_cpu()).shared);
}

BOOST_AUTO_TEST_CASE(units_of_a_remote_device_come_from_the_profile) {
    model::Device elsewhere;
    elsewhere.compute_units = 0;
    BOOST_TEST(explain::limits_of({figure("fma.units", "compute units", "", 132, 0)}, {}, "", elsewhere).units == 132u);
    BOOST_TEST(explain::limits_of({}, {}, "", elsewhere).units == 1u);
    elsewhere.compute_units = 2;
    BOOST_TEST(explain::limits_of({figure("fma.units", "compute units", "", 132, 0)}, {}, "", elsewhere).units == 2u);
}

BOOST_AUTO_TEST_CASE(only_the_first_nvidia_level_exists_per_unit) {
    auto peaks = profile();
    peaks.caches.clear();
    peaks.units = 100;
    for (const auto& [level, size] : {std::pair{"l1", 256 * KiB}, {"l2", 32 * MiB}, {"l3", 64 * MiB}})
        peaks.figures.push_back(figure(std::string("bandwidth.") + level + ".size", level, "byte", size, 0));
    peaks.figures.push_back(figure("bandwidth.l3.rate", "L3 read bandwidth", "B/s", 20e9));
    peaks.figures.front().value = 4096 * MiB;  // streamed
    const auto figure_of = [&](const char* platform, double bytes) {
        auto r = record(1, {.bytes = bytes, .read = bytes, .footprint = bytes, .launches = 1});
        r.device.type = "gpu";
        r.device.platform = platform;
        r.device.last_level_bytes = 0;
        return explanation(r, peaks).bounds.front().figure;
    };
    BOOST_TEST(figure_of("NVIDIA CUDA", 20 * MiB) == "bandwidth.l1.rate");
    BOOST_TEST(figure_of("NVIDIA CUDA", 30 * MiB) == "bandwidth.l2.rate");
    BOOST_TEST(figure_of("NVIDIA CUDA", 50 * MiB) == "bandwidth.l3.rate");
    BOOST_TEST(figure_of("NVIDIA CUDA", 1000 * MiB) == "bandwidth.read");
    BOOST_TEST(figure_of("another", 1000 * MiB) == "bandwidth.l2.rate");  // its dies may have one each
}

BOOST_AUTO_TEST_CASE(last_gpu_group_adds_the_latency_of_its_load) {
    const auto peaks = with(profile(), {figure("dispatch.group.rate", "group rate", "group/s", 1e9),
                                        figure("latency.l2.latency", "L2 latency", "s", 150e-9)});
    const auto seconds = [&](const char* type, double bytes) {
        auto r = record(1, {.bytes = bytes, .read = bytes / 2, .footprint = MiB, .launches = 1, .groups = 1000});
        r.device.type = type;
        return bound(r, "groups", peaks).seconds;
    };
    BOOST_TEST(seconds("gpu", MiB) == 1.15e-6, is_close);
    BOOST_TEST(seconds("gpu", 2 * MiB) == 1e-6, is_close);  // it may be in the first level by then
    BOOST_TEST(seconds("gpu", 0) == 1e-6, is_close);
    BOOST_TEST(seconds("cpu", MiB) == 1e-6, is_close);
}

BOOST_AUTO_TEST_SUITE_END()

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <map>

#include "bench.hpp"

using namespace cllab;
using cllab::test::body;
using cllab::test::right;
using cllab::test::run_scratch;
using model::Status;

BOOST_AUTO_TEST_SUITE(executor)

BOOST_AUTO_TEST_CASE(right_kernel_is_ok_with_time_interval_and_samples) {
    const auto records = run_scratch(right, {{"right", ""}});
    BOOST_REQUIRE_EQUAL(records.size(), 1u);
    const auto& r = records.front();
    BOOST_TEST(r.reason == "");
    BOOST_REQUIRE(r.status == Status::ok);
    BOOST_REQUIRE(r.time.has_value());
    BOOST_TEST(r.time->median > 0);
    BOOST_TEST(r.time->low <= r.time->median);
    BOOST_TEST(r.time->median <= r.time->high);
    BOOST_TEST(r.samples.size() == r.time->n);
    BOOST_TEST(!r.time->stop_reason.empty());
    BOOST_TEST(r.build.source_sha256.size() == 64u);
}

BOOST_AUTO_TEST_CASE(wrong_value_is_wrong_result_without_a_time) {
    const auto r = run_scratch(body("wrong", "dst[i] = 2 * src[i] + (i != 777);"), {{"wrong", ""}}).front();
    BOOST_TEST((r.status == Status::wrong_result));
    BOOST_TEST(r.reason == "dst[777] differs");
    BOOST_TEST(!r.time.has_value());
    BOOST_TEST(r.metrics.empty());
}

BOOST_AUTO_TEST_CASE(unwritten_output_is_wrong_because_of_poison) {
    const auto r = run_scratch(body("hole", "if (i != 500) dst[i] = 2 * src[i] + 1;"), {{"hole", ""}}).front();
    BOOST_TEST((r.status == Status::wrong_result));
    BOOST_TEST(r.reason == "dst[500] differs");
}

BOOST_AUTO_TEST_CASE(write_one_byte_past_the_end_is_detected) {
    const auto r =
        run_scratch(
            body("after",
                 "dst[i] = 2 * src[i] + 1; if (i == 0) { global uchar* p = (global uchar*)(dst + n); p[0] ^= 1; }"),
            {{"after", ""}})
            .front();
    BOOST_TEST((r.status == Status::wrong_result));
    BOOST_TEST(r.reason == "first write 1 byte past the end of 'dst'");
}

BOOST_AUTO_TEST_CASE(write_one_byte_before_the_start_is_detected) {
    const auto r =
        run_scratch(body("before",
                         "dst[i] = 2 * src[i] + 1; if (i == 0) { global uchar* p = (global uchar*)dst; p[-3] ^= 1; }"),
                    {{"before", ""}})
            .front();
    BOOST_TEST((r.status == Status::wrong_result));
    BOOST_TEST(r.reason == "first write 3 bytes before the start of 'dst'");
}

BOOST_AUTO_TEST_CASE(write_64_kib_or_a_row_away_is_detected_on_both_sides) {
    const auto record = [](const std::string& at, std::size_t row_bytes) {
        const auto wide = [row_bytes](const model::Variant&, model::Setup& setup) {
            std::get<model::Output>(setup.args[1]).row_bytes = row_bytes;
        };
        return run_scratch(body("far", "dst[i] = 2 * src[i] + 1; if (i == 0) ((global uchar*)dst)[" + at + "] ^= 1;"),
                           {{"far", ""}}, {}, nullptr, "1000", wide)
            .front();
    };
    BOOST_TEST(record("4000 + 65535", 0).reason == "first write 65536 bytes past the end of 'dst'");
    BOOST_TEST(record("-65536", 0).reason == "first write 65536 bytes before the start of 'dst'");
    BOOST_TEST(record("4000 + 199999", 200000).reason == "first write 200000 bytes past the end of 'dst'");
    BOOST_TEST(record("-200000", 200000).reason == "first write 200000 bytes before the start of 'dst'");
}

namespace {
/// A kernel that is right when it runs on poison; `again` is done where the answer is there already.
std::string when_there(const std::string& name, const std::string& again) {
    return body(name, "uint right = 2 * src[i] + 1; if (dst[i] == right) { " + again + " } else dst[i] = right;");
}
/// Counts its launches in the last word of src, which no work-item reads otherwise.
std::string counting(const std::string& name, const std::string& wrong) {
    return body(name,
                "global uint* count = (global uint*)src + n - 1; uint launch = *count; barrier(CLK_GLOBAL_MEM_FENCE); "
                "if (i < n - 1) dst[i] = (" +
                    wrong + ") ? 0 : 2 * src[i] + 1; else { dst[i] = 0; *count = launch + 1; }");
}
/// Leaves the last word out of the check, and puts the count back to 0 with each seed.
void count_in_src(const model::Variant&, model::Setup& setup) {
    auto& input = std::get<model::Input>(setup.args[0]);
    auto bytes = *input.data;
    std::memset(bytes.data() + bytes.size() - 4, 0, 4);
    input.data = std::make_shared<const model::Bytes>(bytes);
    setup.local =
        model::Extent(setup.global.size[0]);  // one group: its work-items read the count before the last one adds
    setup.check = [src = input.data](const model::Buffers& buffers) -> std::optional<std::string> {
        const auto dst = buffers.as<std::uint32_t>("dst");
        for (std::size_t i = 0; i + 1 < dst.size(); ++i) {
            std::uint32_t v = 0;
            std::memcpy(&v, src->data() + 4 * i, 4);
            if (dst[i] != 2 * v + 1) return "dst[" + std::to_string(i) + "] differs";
        }
        return std::nullopt;
    };
}
}  // namespace

BOOST_AUTO_TEST_CASE(kernel_writing_zeros_at_every_second_launch_is_wrong) {
    const auto r = run_scratch(when_there("second", "dst[i] = 0;"), {{"second", ""}}).front();
    BOOST_TEST((r.status == Status::wrong_result));
    BOOST_TEST(r.reason == "'dst' is read before it is written");
    BOOST_TEST(!r.time.has_value());
}

BOOST_AUTO_TEST_CASE(kernel_wrong_at_later_or_periodic_launches_is_wrong) {
    for (const auto* wrong : {"launch >= 5", "launch % 3 == 2", "launch % 2 == 1"}) {
        const auto r = run_scratch(counting("count", wrong), {{"count", ""}}, {}, nullptr, "64", count_in_src).front();
        BOOST_TEST((r.status == Status::wrong_result), wrong);
        BOOST_TEST(r.reason == "dst[0] differs");
    }
    const auto r =
        run_scratch(counting("count", "launch > 2000000000"), {{"count", ""}}, {}, nullptr, "64", count_in_src).front();
    BOOST_TEST((r.status == Status::ok), r.reason);
}

BOOST_AUTO_TEST_CASE(kernel_that_skips_work_when_its_output_exists_is_wrong) {
    // A work-item takes long enough that skipping shows beside the launch.
    const std::string work =
        "uint x = src[i]; for (int k = 0; k < 2000; ++k) x = (x ^ (x >> 7)) * 1664525u + 1013904223u; "
        "dst[i] = 2 * src[i] + 1 + (x == 1 && src[i] == 0);";
    const auto r = run_scratch(body("early", "if (dst[i] == 2 * src[i] + 1) return; " + work) + body("honest", work),
                               {{"early", ""}, {"honest", ""}}, {}, nullptr, "20000");
    BOOST_TEST((r[0].status == Status::wrong_result));
    BOOST_TEST(r[0].reason.starts_with("the kernel skips work when its output already holds the answer"), r[0].reason);
    BOOST_TEST((r[1].status == Status::ok), r[1].reason);
}

BOOST_AUTO_TEST_CASE(missing_transfer_of_a_step_is_detected) {
    for (const auto transfer :
         {model::Transfer::copied, model::Transfer::pinned, model::Transfer::mapped, model::Transfer::host_pointer}) {
        for (const unsigned queue : {0u, 1u}) {
            const auto moves = [=](const model::Variant& variant, model::Setup& setup) {
                setup.args[0] = model::InOut{"src", std::get<model::Input>(setup.args[0]).data, 0, model::ByStep::up};
                std::get<model::Output>(setup.args[1]).by_step = model::ByStep::down;
                setup.transfer = transfer;
                setup.blocking = variant.name == "waits";
                if (variant.name != "no_up") setup.steps.push_back(model::Upload{"src", 0, queue});
                model::Launch launch{"scratch_" + variant.name, setup.global, {}, {}, {}, "kernel", queue};
                setup.steps.push_back(launch);
                if (variant.name != "no_down") setup.steps.push_back(model::Download{"dst", queue});
            };
            std::string kernels;
            for (const auto* name : {"all", "waits", "no_up", "no_down"})
                kernels += body(name, "dst[i] = 2 * src[i] + 1;");
            const auto r = run_scratch(kernels, {{"all", ""}, {"waits", ""}, {"no_up", ""}, {"no_down", ""}}, {},
                                       nullptr, "1000", moves);
            std::map<std::string, Status> status;
            for (const auto& record : r) status[record.variant] = record.status;
            BOOST_TEST((status.at("all") == Status::ok));
            BOOST_TEST((status.at("waits") == Status::ok));
            BOOST_TEST((status.at("no_up") == Status::wrong_result));
            BOOST_TEST((status.at("no_down") == Status::wrong_result));
        }
    }
}

BOOST_AUTO_TEST_CASE(accumulating_kernel_is_verified_after_one_and_two_operations) {
    // Adds to what is there. `twice` does not, from the second launch on.
    const auto adds = [](const model::Variant&, model::Setup& setup) {
        const auto src = std::get<model::Input>(setup.args[0]).data;
        setup.args[1] = model::InOut{"dst", src};
        setup.accumulates = true;
        setup.check = [src](const model::Buffers& buffers) -> std::optional<std::string> {
            const auto dst = buffers.as<std::uint32_t>("dst");
            for (std::size_t i = 0; i < dst.size(); ++i) {
                std::uint32_t v = 0;
                std::memcpy(&v, src->data() + 4 * i, 4);
                if (dst[i] != v * static_cast<std::uint32_t>(1 + buffers.operations))
                    return "dst[" + std::to_string(i) + "] differs";
            }
            return std::nullopt;
        };
    };
    const auto r = run_scratch(body("sum", "dst[i] += src[i];") + body("twice", "dst[i] = 2 * src[i];"),
                               {{"sum", ""}, {"twice", ""}}, {}, nullptr, "1000", adds);
    BOOST_TEST((r[0].status == Status::ok), r[0].reason);
    BOOST_TEST((r[1].status == Status::wrong_result));
}

BOOST_AUTO_TEST_CASE(a_kernel_right_for_one_input_only_fails_the_second_seed) {
    // Both seeds give other inputs; this kernel knows the first by heart.
    const auto r =
        run_scratch(body("memory", "dst[i] = 2 * (uint)(i * 2654435761u + 1u) + 1;"), {{"memory", ""}}).front();
    BOOST_TEST((r.status == Status::wrong_result));
}

BOOST_AUTO_TEST_CASE(variant_that_does_not_compile_fails_alone_with_its_line) {
    const std::string text = std::string("// first line\n#ifdef SCRATCH_BROKEN\nint oops = ;\n#endif\n") + right;
    const auto records = run_scratch(text, {{"broken", ""}, {"right", ""}});
    BOOST_REQUIRE_EQUAL(records.size(), 2u);
    BOOST_TEST((records[0].status == Status::build_failed));
    BOOST_TEST(records[0].build.log.find("scratch.cl:3:") != std::string::npos, records[0].build.log);
    BOOST_TEST((records[1].status == Status::ok), records[1].reason);
}

BOOST_AUTO_TEST_CASE(missing_device_feature_is_unsupported_with_its_reason) {
    model::Variant variant{"right", ""};
    variant.needs = {"cl_no_such_extension"};
    const auto r = run_scratch(right, {variant}).front();
    BOOST_TEST((r.status == Status::unsupported));
    BOOST_TEST(r.reason == "the device has no extension cl_no_such_extension");
}

BOOST_AUTO_TEST_CASE(cells_of_a_comparison_alternate_with_either_first) {
    test::Recorder recorder;
    run_scratch(right + body("twin", "dst[i] = src[i] + src[i] + 1;"), {{"right", ""}, {"twin", ""}}, {}, &recorder);
    std::vector<std::string> samples;
    for (const auto& phase : recorder.phases) {
        if (phase.find(" sample") != std::string::npos) samples.push_back(phase);
    }
    BOOST_REQUIRE(samples.size() >= 10u);
    for (std::size_t i = 0; i + 1 < 10; i += 2) {
        const bool forward = i % 4 == 0;
        BOOST_TEST(samples[i] == (forward ? "scratch_right sample" : "scratch_twin sample"));
        BOOST_TEST(samples[i + 1] == (forward ? "scratch_twin sample" : "scratch_right sample"));
    }
}

BOOST_AUTO_TEST_CASE(cells_that_do_not_fit_together_report_separate_measurement) {
    // Room for one: its data of 8 KB between guards.
    auto found = test::found();
    found.facts.global_bytes = (found.facts.is_cpu() ? 400 : 300) << 10;  // of which a CPU's cells may have less
    device::Session small(found);
    test::Recorder recorder;
    run_scratch(right + body("twin", "dst[i] = src[i] + src[i] + 1;"), {{"right", ""}, {"twin", ""}}, {}, &recorder,
                "1000", {}, &small);
    BOOST_REQUIRE(recorder.records.size() == 2u);
    for (const auto& r : recorder.records) {
        BOOST_REQUIRE_MESSAGE((r.status == Status::ok), r.reason);
        BOOST_TEST(std::any_of(r.warnings.begin(), r.warnings.end(),
                               [](const auto& w) { return w.starts_with("not-in-turns: "); }));
    }
    BOOST_TEST(recorder.records[0].time->batch != recorder.records[1].time->batch);
    // With room for both they take turns, and nothing is to be said.
    const auto together =
        run_scratch(right + body("twin", "dst[i] = src[i] + src[i] + 1;"), {{"right", ""}, {"twin", ""}});
    BOOST_TEST(together[0].time->batch == together[1].time->batch);
    for (const auto& w : together[0].warnings) BOOST_TEST(!w.starts_with("not-in-turns"), w);
}

BOOST_AUTO_TEST_CASE(cells_of_a_replicate_alternate_on_the_same_memory) {
    const auto text = right + body("twin", "dst[i] = src[i] + src[i] + 1;");
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {  // any order of preparation and any placement
        run::Settings settings;
        settings.arrangement = true;
        settings.seed = seed;
        const auto records = run_scratch(text, {{"right", ""}, {"twin", ""}}, settings);
        BOOST_REQUIRE(records.size() == 2u);
        for (const auto& r : records) {
            BOOST_REQUIRE_MESSAGE((r.status == Status::ok && r.time), r.reason);
            BOOST_TEST(r.samples.size() + r.aside.size() >= 6u);
            BOOST_TEST(r.dump.empty());
        }
        BOOST_TEST(records[0].samples.size() == records[1].samples.size());
        // The one prepared second has its buffers from the first.
        BOOST_TEST((records[0].time->shared_memory != records[1].time->shared_memory));
    }
}

BOOST_AUTO_TEST_CASE(wrong_kernel_has_no_time_in_a_replicate) {
    run::Settings settings;
    settings.arrangement = true;
    const auto records =
        run_scratch(right + body("wrong", "dst[i] = src[i];"), {{"right", ""}, {"wrong", ""}}, settings);
    const auto wrong = std::find_if(records.begin(), records.end(), [](const auto& r) { return r.variant == "wrong"; });
    BOOST_REQUIRE(wrong != records.end());
    BOOST_TEST((wrong->status == Status::wrong_result));
    for (const auto& r : records) BOOST_TEST(!r.time.has_value());
}

BOOST_AUTO_TEST_CASE(replicate_checks_one_build_and_compares_bytes_of_the_other) {
    const auto text = body("right",
                           "\n#if defined(TWIN) && defined(WRONG)\ndst[i] = 2 * src[i] + 1 + (i == 7);\n#else\ndst[i] "
                           "= 2 * src[i] + 1;\n#endif\n");
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {  // either is prepared first
        const auto run_twins = [&](const std::string& kernels) {
            run::Settings settings;
            settings.arrangement = true;
            settings.seed = seed;
            test::checks = 0;
            return run_scratch(kernels, {{"right", ""}}, settings, nullptr, "1000", {}, nullptr, {}, false, nullptr,
                               true);
        };
        const auto fine = run_twins(text);
        BOOST_REQUIRE(fine.size() == 2u);
        for (const auto& r : fine) BOOST_TEST((r.status == Status::ok && r.time), r.reason);
        BOOST_TEST(test::checks == 1u);
        const auto wrong = run_twins("#define WRONG\n" + text);
        BOOST_TEST(std::count_if(wrong.begin(), wrong.end(),
                                 [](const auto& r) { return r.status == Status::wrong_result; }) == 1);
        for (const auto& r : wrong) BOOST_TEST(!r.time.has_value());
    }
}

BOOST_AUTO_TEST_CASE(missing_kernel_is_a_failed_launch_with_its_name) {
    const auto r = run_scratch(right, {{"absent", ""}}).front();
    BOOST_TEST((r.status == Status::launch_failed));
    BOOST_TEST(r.reason.find("scratch_absent") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_stopped_run_throws_interrupted_and_starts_no_cell) {
    test::Recorder recorder;
    recorder.stop = true;
    BOOST_CHECK_THROW(run_scratch(right, {{"right", ""}}, {}, &recorder), run::Interrupted);
    BOOST_TEST(recorder.records.empty());
}

BOOST_AUTO_TEST_CASE(dump_is_written_after_timing_with_source_and_options) {
    test::Folder folder("dumps");
    run::Settings settings;
    settings.dumps = folder.path / "dumps";
    const auto r = run_scratch(right, {{"right", ""}}, settings).front();
    BOOST_REQUIRE((r.status == Status::ok));
    const std::filesystem::path dump = r.dump;
    for (const auto* file : {"source.cl", "options.txt", "build.log", "isa.txt", "stats.json"})
        BOOST_TEST(std::filesystem::exists(dump / file), file);
    BOOST_TEST(!r.code.kind.empty());
}

BOOST_AUTO_TEST_SUITE_END()

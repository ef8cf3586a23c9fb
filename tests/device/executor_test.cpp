#include <boost/test/unit_test.hpp>

#include "bench.hpp"

using namespace cllab;
using cllab::test::run_scratch;
using model::Status;

namespace {
const char* const right = "kernel void scratch_right(global const uint* src, global uint* dst, int n) { int i = get_global_id(0); dst[i] = 2 * src[i] + 1; }\n";

std::string body(const std::string& name, const std::string& statement) {
    return "kernel void scratch_" + name + "(global const uint* src, global uint* dst, int n) { int i = get_global_id(0); " + statement + " }\n";
}
}  // namespace

BOOST_AUTO_TEST_SUITE(executor)

BOOST_AUTO_TEST_CASE(a_right_kernel_is_ok_and_has_a_time_an_interval_and_its_samples) {
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

BOOST_AUTO_TEST_CASE(a_wrong_value_is_wrong_result_and_has_no_time) {
    const auto r = run_scratch(body("wrong", "dst[i] = 2 * src[i] + (i != 777);"), {{"wrong", ""}}).front();
    BOOST_TEST((r.status == Status::wrong_result));
    BOOST_TEST(r.reason == "dst[777] differs");
    BOOST_TEST(!r.time.has_value());
    BOOST_TEST(r.metrics.empty());
}

BOOST_AUTO_TEST_CASE(a_hole_in_the_output_is_wrong_because_outputs_are_poisoned) {
    const auto r = run_scratch(body("hole", "if (i != 500) dst[i] = 2 * src[i] + 1;"), {{"hole", ""}}).front();
    BOOST_TEST((r.status == Status::wrong_result));
    BOOST_TEST(r.reason == "dst[500] differs");
}

BOOST_AUTO_TEST_CASE(one_byte_past_the_end_is_seen) {
    const auto r = run_scratch(body("after", "dst[i] = 2 * src[i] + 1; if (i == 0) { global uchar* p = (global uchar*)(dst + n); p[0] ^= 1; }"), {{"after", ""}}).front();
    BOOST_TEST((r.status == Status::wrong_result));
    BOOST_TEST(r.reason == "'dst' wrote outside: 1 byte(s) past the buffer's last byte");
}

BOOST_AUTO_TEST_CASE(one_byte_before_the_start_is_seen) {
    const auto r = run_scratch(body("before", "dst[i] = 2 * src[i] + 1; if (i == 0) { global uchar* p = (global uchar*)dst; p[-3] ^= 1; }"), {{"before", ""}}).front();
    BOOST_TEST((r.status == Status::wrong_result));
    BOOST_TEST(r.reason == "'dst' wrote outside: 3 byte(s) before the buffer's first byte");
}

BOOST_AUTO_TEST_CASE(a_kernel_right_for_one_input_only_fails_the_second_seed) {
    // Both seeds give other inputs; this kernel knows the first by heart.
    const auto r = run_scratch(body("memory", "dst[i] = 2 * (uint)(i * 2654435761u + 1u) + 1;"), {{"memory", ""}}).front();
    BOOST_TEST((r.status == Status::wrong_result));
}

BOOST_AUTO_TEST_CASE(a_variant_that_does_not_compile_fails_alone_with_the_line_of_its_file) {
    const std::string text = std::string("// first line\n#ifdef SCRATCH_BROKEN\nint oops = ;\n#endif\n") + right;
    const auto records = run_scratch(text, {{"broken", ""}, {"right", ""}});
    BOOST_REQUIRE_EQUAL(records.size(), 2u);
    BOOST_TEST((records[0].status == Status::build_failed));
    BOOST_TEST(records[0].build.log.find("scratch.cl:3:") != std::string::npos, records[0].build.log);
    BOOST_TEST((records[1].status == Status::ok), records[1].reason);
}

BOOST_AUTO_TEST_CASE(what_the_device_lacks_is_unsupported_with_its_reason) {
    model::Variant variant{"right", ""};
    variant.needs = {"cl_no_such_extension"};
    const auto r = run_scratch(right, {variant}).front();
    BOOST_TEST((r.status == Status::unsupported));
    BOOST_TEST(r.reason == "the device has no extension cl_no_such_extension");
}

BOOST_AUTO_TEST_CASE(cells_of_one_comparison_take_turns_round_by_round_and_either_goes_first) {
    test::Recorder recorder;
    run_scratch(std::string(right) + body("twin", "dst[i] = src[i] + src[i] + 1;"), {{"right", ""}, {"twin", ""}}, {}, &recorder);
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

BOOST_AUTO_TEST_CASE(a_missing_kernel_is_a_failed_launch_that_names_it) {
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

BOOST_AUTO_TEST_CASE(the_dump_is_written_after_timing_beside_the_source_and_options) {
    test::Folder folder("dumps");
    run::Options options;
    options.dumps = folder.path / "dumps";
    const auto r = run_scratch(right, {{"right", ""}}, options).front();
    BOOST_REQUIRE((r.status == Status::ok));
    const std::filesystem::path dump = r.dump;
    for (const auto* file : {"source.cl", "options.txt", "build.log", "isa.txt", "stats.json"})
        BOOST_TEST(std::filesystem::exists(dump / file), file);
    BOOST_TEST(!r.code.kind.empty());
}

namespace {
/// n steps x -> x * x + i from src[i]; `step` is the statement that does one.
std::string stepped(const std::string& name, const std::string& step) {
    return "kernel void scratch_" + name + "(global const uint* src, global uint* dst, int n) { int i = get_global_id(0); "
           "uint x = src[i]; for (int k = 0; k < n; ++k) { " + step + " } dst[i] = x; }\n";
}

/// A slope over n of one declared multiplication a trip. What each variant computes is known here, not checked against
/// the statement.
void multiplies(const model::Variant& variant, model::Setup& setup) {
    const auto src = std::get<model::Input>(setup.args[0]).data;
    setup.slope = model::Slope{"n", 2, 32, 1};
    if (variant.name != "curved") setup.declared = {{model::Declared::What::integer_multiply, 1}};
    setup.check = [src, name = variant.name](const model::Buffers& buffers) -> std::optional<std::string> {
        const auto dst = buffers.as<std::uint32_t>("dst");
        for (std::size_t i = 0; i < dst.size(); ++i) {
            std::uint32_t x = 0;
            std::memcpy(&x, src->data() + 4 * i, 4);
            for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(buffers.trips); ++k) {
                if (name == "folded") x += 7 * k;
                if (name == "chained") x = x * x + 1;
                for (std::uint32_t m = 0; name == "curved" && m < k * k; ++m) x = x * x + 1;
            }
            if (dst[i] != x) return "dst[" + std::to_string(i) + "] differs";
        }
        return std::nullopt;
    };
}
}  // namespace

BOOST_AUTO_TEST_CASE(a_loop_that_the_compiler_folds_into_a_formula_is_collapsed_although_it_is_right) {
    if (std::getenv("CLLAB_TEST_BUILD_OPTIONS")) return;  // without optimisation it stays a loop
    for (const bool dumps : {true, false}) {
        for (const bool measure : {true, false}) {
            test::Folder folder("dumps");
            run::Options options;
            options.measure = measure;
            if (dumps) options.dumps = folder.path / "dumps";
            const auto r = run_scratch(stepped("folded", "x += 7u * (uint)k;"), {{"folded", ""}}, options, nullptr, "1000", multiplies).front();
            BOOST_TEST((r.status == Status::wrong_result));
            BOOST_TEST(r.reason.starts_with("collapsed: integer multiplications found 0 of the 1 declared ("), r.reason);
            BOOST_TEST(!r.time.has_value());
        }
    }
}

BOOST_AUTO_TEST_CASE(a_loop_that_does_its_work_is_ok_and_its_line_is_not_asked_for) {
    const auto r = run_scratch(stepped("chained", "x = x * x + 1u;"), {{"chained", ""}}, {}, nullptr, "1000", multiplies).front();
    BOOST_TEST((r.status == Status::ok), r.reason);
    for (const auto& warning : r.warnings) BOOST_TEST(!warning.starts_with("not-linear"), warning);
}

BOOST_AUTO_TEST_CASE(where_no_code_is_counted_a_time_off_the_line_is_a_warning) {
    const auto r = run_scratch(stepped("curved", "for (int m = 0; m < k * k; ++m) x = x * x + 1u;"), {{"curved", ""}}, {}, nullptr,
                               "1000", multiplies).front();
    BOOST_TEST((r.status == Status::ok), r.reason);
    BOOST_TEST(std::any_of(r.warnings.begin(), r.warnings.end(), [](const auto& w) { return w.starts_with("not-linear:"); }));
}

BOOST_AUTO_TEST_SUITE_END()

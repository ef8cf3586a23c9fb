// Offline compilers: what this machine can make is made; what it cannot says what would enable it.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "core/error.hpp"
#include "inspect/tools/offline.hpp"

BOOST_AUTO_TEST_SUITE(inspect_offline)

using namespace cllab::inspect;

namespace {

const std::string copy_kernel =
    "kernel void copy(global const uint4* a, global uint4* b, int n) {\n"
    "  for (int i = get_global_id(0); i < n; i += get_global_size(0)) b[i] = a[i] + STEP;\n}\n";

OfflineBuild compile_offline(const std::string& target, const std::string& source, const std::string& options,
                             const std::string& entry, const LaunchSize& launch, bool apart = false) {
    return OfflinePrograms(std::chrono::seconds(60)).kernel(target, source, options, apart, entry, launch);
}

bool can_make(const std::string& target) {
    const auto all = offline_targets();
    const bool can =
        std::any_of(all.begin(), all.end(), [&](const OfflineTarget& t) { return t.name == target && t.available(); });
    if (!can) BOOST_TEST_MESSAGE("skipped: nothing here makes code for " << target);
    return can;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_target_is_available_or_says_how_to_enable_it) {
    const auto all = offline_targets();
    for (const char* name : {"gfx900", "gfx90a", "gfx1030", "sm_75", "sm_80", "sm_90"})
        BOOST_TEST(std::count_if(all.begin(), all.end(), [&](const OfflineTarget& t) { return t.name == name; }) == 1);
    for (const auto& target : all) BOOST_TEST((target.available() || !target.missing.empty()), target.name);
}

BOOST_AUTO_TEST_CASE(unknown_target_is_a_usage_error_with_nearest_names) {
    BOOST_CHECK_EXCEPTION(
        compile_offline("gfx90", copy_kernel, "", "copy", {}), cllab::Error, [](const cllab::Error& e) {
            return e.blame() == cllab::Blame::usage && std::string(e.what()).find("gfx900") != std::string::npos;
        });
    BOOST_CHECK_THROW(offline_device("sm_"), cllab::Error);
}

BOOST_AUTO_TEST_CASE(unavailable_target_is_an_environment_error) {
    for (const auto& target : offline_targets())
        if (!target.available())
            BOOST_CHECK_EXCEPTION(compile_offline(target.name, copy_kernel, "", "copy", {}), cllab::Error,
                                  [](const cllab::Error& e) { return e.blame() == cllab::Blame::environment; });
}

BOOST_AUTO_TEST_CASE(gcn_code_is_compiled_with_the_defines_and_counted) {
    if (!can_make("gfx900")) return;
    const auto built = compile_offline("gfx900", copy_kernel, "-cl-std=CL1.2 -DSTEP=5", "copy", {});
    BOOST_TEST_REQUIRE(built.ok, built.log);
    BOOST_TEST(built.analysis.info.kind == "amdgpu-code-object");
    BOOST_TEST(built.analysis.info.registers.value() > 0);
    BOOST_TEST(built.analysis.info.spills.value() == 0);
    const auto* counts = built.analysis.best();
    BOOST_TEST_REQUIRE(counts != nullptr);
    BOOST_TEST_REQUIRE(counts->loops.size() == 1u);
    BOOST_TEST(counts->loops[0].own.memory.at("global_load_128") == 1u);
    BOOST_TEST(counts->loops[0].own.memory.at("global_store_128") == 1u);
    const auto& loop = built.analysis.info.loop;
    BOOST_TEST(loop.at("instructions") == counts->loops[0].own.instructions);
    BOOST_TEST(loop.at("v") == counts->loops[0].own.mark("v"));
    BOOST_TEST(loop.at("s") == counts->loops[0].own.mark("s"));
    BOOST_TEST(built.analysis.summary.find("VGPRs") != std::string::npos);
    BOOST_TEST(isa_text(built.analysis).find("s_endpgm") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(intel_gpu_code_reports_width_registers_and_spills) {
    for (const char* target : {"skl", "tgllp", "dg2", "pvc"}) {
        if (!can_make(target)) return;
        const auto built = compile_offline(target, copy_kernel, "-cl-std=CL1.2 -DSTEP=5", "copy", {});
        BOOST_TEST_REQUIRE(built.ok, built.log);
        const auto& a = built.analysis;
        BOOST_TEST(a.info.kind == "intel-gpu-patch-tokens");
        BOOST_TEST(a.info.registers.value() > 10);
        BOOST_TEST(a.info.registers.value() < 128);
        BOOST_TEST(a.info.spills.value() == 0);
        BOOST_TEST(a.info.private_bytes.value() == 0);
        BOOST_TEST(a.summary.find("of 128, SIMD ") != std::string::npos, a.summary);
        BOOST_TEST(a.summary.find("threads per execution unit") != std::string::npos, a.summary);
        const auto* counts = a.best();
        BOOST_TEST_REQUIRE(counts != nullptr);
        BOOST_TEST_REQUIRE(counts->loops.size() == 1u);
        BOOST_TEST(counts->loops[0].own.memory.at("global_load_128") >= 1u);
        BOOST_TEST(counts->loops[0].own.memory.at("global_store_128") >= 1u);
    }
    std::string spilling = "kernel void live(global float4* a, int n) { int g = get_global_id(0);\n", trip, end;
    for (int i = 0; i < 80; ++i) {
        const auto v = "v" + std::to_string(i), place = "a[" + std::to_string(64 * i) + " + g]";
        spilling += "float4 " + v + " = " + place + ";\n";
        trip += v + " = " + v + " * v" + std::to_string((i * 7 + 3) % 80) + " + 1;\n";
        end += place + " = " + v + ";\n";
    }
    spilling += "for (int k = 0; k < n; ++k) {\n" + trip + "}\n" + end + "}\n";
    const auto built = compile_offline("tgllp", spilling, "-cl-std=CL1.2", "live", {});
    BOOST_TEST_REQUIRE(built.ok, built.log);
    BOOST_TEST(built.analysis.info.spills.value() > 0, built.log);
    BOOST_TEST(built.analysis.info.private_bytes.value() > 0);
    const auto wide =
        compile_offline("pvc", copy_kernel, "-cl-std=CL1.2 -DSTEP=5 -cl-intel-256-GRF-per-thread", "copy", {});
    BOOST_TEST_REQUIRE(wide.ok, wide.log);
    BOOST_TEST(wide.analysis.summary.find("of 256, SIMD ") != std::string::npos, wide.analysis.summary);
    BOOST_TEST(wide.analysis.summary.find("min(4 threads with 256 registers each) = 4") != std::string::npos,
               wide.analysis.summary);
}

BOOST_AUTO_TEST_CASE(ptx_has_128_bit_loads_and_registers_if_ptxas_exists) {
    if (!can_make("sm_80")) return;
    const auto built = compile_offline("sm_80", copy_kernel, "-cl-std=CL1.2 -DSTEP=5 -cl-nv-verbose", "copy", {});
    BOOST_TEST_REQUIRE(built.ok, built.log);
    BOOST_TEST(built.analysis.info.kind == "ptx");
    BOOST_TEST(built.binary.find(".target sm_80, texmode_independent") != std::string::npos);
    BOOST_TEST(built.binary.find("ld.global.v4.u32") != std::string::npos);
    BOOST_TEST_REQUIRE(!built.analysis.counts.empty());
    BOOST_TEST(built.analysis.counts[0].loops.size() >= 1u);
}

BOOST_AUTO_TEST_CASE(source_that_does_not_compile_reports_the_line) {
    for (const char* target : {"gfx900", "sm_80", "tgllp"}) {
        if (!can_make(target)) continue;
        const auto built = compile_offline(
            target, "#line 7 \"family.cl\"\nkernel void k(global int* a) { a[0] = missing; }\n", "", "k", {});
        BOOST_TEST(!built.ok);
        BOOST_TEST(built.log.find("family.cl:7:") != std::string::npos, built.log);
    }
}

BOOST_AUTO_TEST_CASE(build_options_without_code_fail_with_a_sentence) {
    for (const char* target : {"gfx900", "sm_80"}) {
        if (!can_make(target)) continue;
        for (const char* option : {"-E", "-M", "-fsyntax-only", "-emit-llvm", "--version"}) {
            const auto built = compile_offline(target, copy_kernel, std::string("-DSTEP=5 ") + option, "copy", {});
            BOOST_TEST(!built.ok, target << " " << option);
            BOOST_TEST(!built.log.empty(), target << " " << option);
        }
        const auto none = compile_offline(target, "constant int nothing = 1;\n", "-DSTEP=5", "copy", {});
        BOOST_TEST(!none.ok);
        BOOST_TEST(none.log.find("no code of kernel 'copy' was produced; build options: -DSTEP=5") != std::string::npos,
                   none.log);
    }
}

BOOST_AUTO_TEST_CASE(offline_device_has_the_fields_for_setup_and_defines) {
    if (!can_make("gfx900")) return;
    const auto amd = offline_device("gfx900"), nvidia = offline_device("sm_90");
    BOOST_TEST((amd.implementation == cllab::model::Implementation::amd && amd.is_gpu()));
    BOOST_TEST((nvidia.implementation == cllab::model::Implementation::nvidia));
    BOOST_TEST(nvidia.compute_capability == 90);
    BOOST_TEST(amd.preferred_multiple == 64u);
}

BOOST_AUTO_TEST_CASE(rdna_wave_is_as_wide_as_its_code) {
    if (!can_make("gfx1030")) return;
    for (const auto& [options, lanes] : {std::pair{"-DSTEP=5", 32u}, {"-DSTEP=5 -mwavefrontsize64", 64u}}) {
        BOOST_TEST(offline_device("gfx1030", options).preferred_multiple == lanes);
        const auto built = compile_offline("gfx1030", copy_kernel, options, "copy", {});
        BOOST_TEST_REQUIRE(built.ok, built.log);
        BOOST_TEST(built.analysis.stats.find("\"wavefront_size\": " + std::to_string(lanes)) != std::string::npos);
        // A register of 64 lanes takes two of the rows of 32, so there are half as many.
        BOOST_TEST(built.analysis.summary.find(lanes == 32 ? "floor(1024 VGPRs / " : "floor(512 VGPRs / ") !=
                       std::string::npos,
                   built.analysis.summary);
    }
}

BOOST_AUTO_TEST_SUITE_END()

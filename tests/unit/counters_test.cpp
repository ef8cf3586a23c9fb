// Hardware counters: what ncu prints is read, and a launch through a CUDA driver is written, carried out and checked.
#include <dlfcn.h>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "inspect/cuda/ncu_counters.hpp"
#include "inspect/cuda/replay.hpp"
#include "inspect/tools/tool.hpp"
#include "report/records/json.hpp"
#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(counters)

using namespace cllab;

namespace {

// The head and tail of what Nsight Compute 2025.3 prints with --csv --page raw.
const std::string printed = R"(==PROF== Connected to process 4242 (/usr/bin/cllab)
==PROF== Profiling "k": 0%....100% - 9 passes
{"seconds":[]}
==PROF== Disconnected from process 4242
"ID","Process ID","Kernel Name","dram__bytes_read.sum","dram__bytes_write.sum","gpu__time_duration.sum","sm__inst_executed_pipe_alu.sum","sm__inst_executed_pipe_fma.sum","launch__grid_size","smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio","smsp__average_warps_issue_stalled_wait_per_issue_active.ratio","device__attribute_display_name"
"","","","Gbyte","Mbyte","us","inst","inst","","inst","inst",""
"0","4242","k, ""quoted""","1.07","1,073.75","544.06","100","1,700","262,144","9.5","1.25","NVIDIA H200"
)";

std::string value_of(const std::vector<inspect::Reading>& readings, const std::string& what) {
    for (const auto& line : readings)
        if (line.what == what) return line.value;
    return "";
}

/// While one lives, dlopen finds the stand-in for libcuda.so.1.
struct FakeCuda {
    void* library = dlopen(CLLAB_FAKE_CUDA, RTLD_NOW | RTLD_GLOBAL);
    ~FakeCuda() {
        dlclose(library);
        // Those who launched never close it, and NVRTC takes what is there for NVIDIA's.
        while (void* again = dlopen(CLLAB_FAKE_CUDA, RTLD_NOW | RTLD_NOLOAD)) dlclose(again), dlclose(again);
    }
};

}  // namespace

BOOST_AUTO_TEST_CASE(ncu_table_is_read_with_units_and_thousands_separators) {
    const auto found = inspect::parse_ncu(printed);
    BOOST_TEST(inspect::counter(found, "dram__bytes_read.sum").value() == 1.07e9, boost::test_tools::tolerance(1e-12));
    BOOST_TEST(inspect::counter(found, "dram__bytes_write.sum").value() == 1073.75e6,
               boost::test_tools::tolerance(1e-12));
    BOOST_TEST(inspect::counter(found, "gpu__time_duration.sum").value() == 544.06e-6,
               boost::test_tools::tolerance(1e-12));
    BOOST_TEST(inspect::counter(found, "launch__grid_size").value() == 262144);
    BOOST_TEST(!inspect::counter(found, "device__attribute_display_name").has_value());
    BOOST_TEST(!inspect::counter(found, "lts__t_bytes.sum").has_value());
}

BOOST_AUTO_TEST_CASE(uncounted_metrics_have_no_reading) {
    const auto readings = inspect::read_counters(inspect::parse_ncu(printed));
    BOOST_TEST(value_of(readings, "memory") == "2.14 GB, 3.94 TB/s");
    BOOST_TEST(value_of(readings, "L2") == "");
    BOOST_TEST(value_of(readings, "instructions by pipe") == "fma 1700, alu 100");
    BOOST_TEST(value_of(readings, "warps waiting per issue") == "long_scoreboard 9.50, wait 1.25");
    BOOST_TEST(inspect::read_counters({}).empty());
}

BOOST_AUTO_TEST_CASE(text_without_a_table_has_no_counters) {
    BOOST_TEST(inspect::parse_ncu("==ERROR== ERR_NVGPUCTRPERM - no permission\n").empty());
    BOOST_TEST(inspect::parse_ncu("").empty());
    BOOST_TEST(inspect::parse_ncu("\"ID\",\"a__b\"\n\"\",\"byte\"\n").empty());
}

BOOST_AUTO_TEST_CASE(counters_line_has_the_point_of_the_cell) {
    model::Counted counted{"pitch_wide", {{"width", "4096"}, {"local", "64x4"}}, {}, 1e-3,
                           1.01e-3,      {{"dram__bytes_read.sum", "byte", 5}}};
    const auto j = nlohmann::json::parse(report::counters_json(counted));
    BOOST_TEST(j["record"] == "counters");
    BOOST_TEST(j["point"]["width"] == 4096);
    BOOST_TEST(j["point"]["local"] == "64x4");
    BOOST_TEST(j["counters"]["dram__bytes_read.sum"]["value"] == 5);
}

BOOST_AUTO_TEST_CASE(setups_that_cuda_cannot_launch_have_a_reason) {
    const auto reason = [](const std::string& id, const test::Axes& axes = {}) {
        return inspect::not_for_cuda(test::set_up(id, test::probe_gpu(), axes)).value_or("");
    };
    BOOST_TEST(reason("bandwidth_copy") == "");
    BOOST_TEST(reason("pitch_image").find("image") != std::string::npos);
    BOOST_TEST(reason("reduce_tree2").find("launch") != std::string::npos);
}

// The stand-in's kernel copies its first buffer to its second one, for as many work-items as it is launched with.
BOOST_AUTO_TEST_CASE(cuda_launch_is_written_run_and_checked) {
    const FakeCuda fake;
    BOOST_REQUIRE(fake.library);
    const inspect::TempFolder folder;
    auto device = test::probe_gpu();
    const auto setup = test::set_up("bandwidth_copy", device, {{"size", "64Ki"}, {"width", "4"}});
    inspect::write_cuda_launch(folder.path(), setup, "fake_copy", std::string("// PTX\n\0\0", 9),
                               "UUID 00112233-4455-6677-8899-aabbccddeeff", 3);
    BOOST_TEST(inspect::check_cuda_launch(folder.path(), setup, 3).value_or("").find("left no") != std::string::npos);
    BOOST_TEST(cllab::read_file(folder.path() / "kernel.ptx").value() == "// PTX\n");
    BOOST_TEST(cuda_launch(folder.path().string(), 3).starts_with("{\"seconds\":["));
    BOOST_TEST(inspect::check_cuda_launch(folder.path(), setup, 3).value_or("") == "");

    // What OpenCL's driver keeps in registers of its own become constants: here the number of groups; what is not known
    // is refused.
    inspect::write_cuda_launch(folder.path(), setup, "fake_copy",
                               "mov.b32 %r1, %envreg3; mov.b32 %r2, %envreg6; // PTX", "", 3);
    const auto ptx = cllab::read_file(folder.path() / "kernel.ptx").value();
    BOOST_TEST(ptx.starts_with("mov.b32 %r1, 0; mov.b32 %r2, "));
    BOOST_TEST(ptx.find("%envreg") == std::string::npos);
    BOOST_CHECK_THROW(inspect::write_cuda_launch(folder.path(), setup, "fake_copy", "mov.b32 %r1, %envreg12;", "", 3),
                      Unsupported);

    inspect::write_cuda_launch(folder.path(), setup, "fake_half", "// PTX\n",
                               "UUID 00112233-4455-6677-8899-aabbccddeeff", 3);
    cuda_launch(folder.path().string(), 1);
    BOOST_TEST(inspect::check_cuda_launch(folder.path(), setup, 3).value_or("").find("dst[") == 0u);

    inspect::write_cuda_launch(folder.path(), setup, "fake_copy", "// PTX\n",
                               "UUID ffffffff-4455-6677-8899-aabbccddeeff", 3);
    BOOST_CHECK_THROW(cuda_launch(folder.path().string(), 1), std::runtime_error);  // another card
    inspect::write_cuda_launch(folder.path(), setup, "no_such_kernel", "// PTX\n", "", 3);
    BOOST_CHECK_THROW(cuda_launch(folder.path().string(), 1), std::runtime_error);
}

BOOST_AUTO_TEST_SUITE_END()

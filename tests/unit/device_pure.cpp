// The parts of the device module that need no device: selectors, the audit's arithmetic, quirks.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/error.hpp"
#include "device/platforms.hpp"
#include "device/quirks.hpp"
#include "device/timer.hpp"

BOOST_AUTO_TEST_SUITE(device_pure)

using namespace cllab;
using model::DeviceType;
using model::Implementation;

namespace {

model::Device make(const char* selector, const char* name, const char* platform, DeviceType type,
                   Implementation implementation) {
    model::Device d;
    d.selector = selector;
    d.name = name;
    d.platform = platform;
    d.type = type;
    d.implementation = implementation;
    return d;
}

model::Device at(model::Device device, const char* identity, const char* pci) {
    device.identity = identity;
    device.pci = pci;
    return device;
}

const std::vector<model::Device> bench{
    make("0:0", "cpu-haswell-AMD EPYC", "Portable Computing Language", DeviceType::cpu, Implementation::pocl),
    make("1:0", "llvmpipe (LLVM 15)", "rusticl", DeviceType::cpu, Implementation::rusticl),
    at(make("2:0", "NVIDIA H200", "NVIDIA CUDA", DeviceType::gpu, Implementation::nvidia), "UUID 0af1",
       "PCI 0000:3b:00.0"),
    at(make("2:1", "NVIDIA H200", "NVIDIA CUDA", DeviceType::gpu, Implementation::nvidia), "UUID 0af2",
       "PCI 0001:3b:00.0"),
};

std::vector<std::size_t> pick(const std::vector<std::string>& selectors, std::set<std::size_t> distrusted = {}) {
    return device::resolve(bench, selectors, [&](std::size_t i) { return distrusted.count(i) == 0; });
}

std::string sentence(const std::vector<std::string>& selectors) {
    try {
        pick(selectors);
    } catch (const Error& e) {
        return e.what();
    }
    return "no error";
}

using Picked = std::vector<std::size_t>;

}  // namespace

BOOST_AUTO_TEST_SUITE(selectors)

BOOST_AUTO_TEST_CASE(no_selector_selects_the_first_gpu) { BOOST_TEST((pick({}) == Picked{2})); }

BOOST_AUTO_TEST_CASE(type_selects_its_first_device_with_a_trusted_timer) {
    BOOST_TEST((pick({"cpu"}) == Picked{0}));
    BOOST_TEST((pick({"cpu"}, {0}) == Picked{1}));
    BOOST_TEST((pick({"cpu"}, {0, 1}) == Picked{0}));
}

BOOST_AUTO_TEST_CASE(indices_select_a_platform_or_one_device) {
    BOOST_TEST((pick({"2:1"}) == Picked{3}));
    BOOST_TEST((pick({"2"}) == Picked{2, 3}));
}

BOOST_AUTO_TEST_CASE(name_part_matches_without_case_and_repeats_count_once) {
    BOOST_TEST((pick({"llvmPIPE"}) == Picked{1}));
    BOOST_TEST((pick({"epyc", "cpu", "0:0"}) == Picked{0}));
    BOOST_TEST((pick({"all"}) == Picked{0, 1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(uuid_or_pci_address_selects_one_of_two_equal_devices) {
    BOOST_TEST((pick({"uuid:0AF2"}) == Picked{3}));
    BOOST_TEST((pick({"uuid:0a-f1"}) == Picked{2}));
    BOOST_TEST((pick({"pci:3b:00.0"}) == Picked{2}));
    BOOST_TEST((pick({"pci:0001:3b:00.0"}) == Picked{3}));
    BOOST_TEST(sentence({"uuid:0af"}).find("no device matches 'uuid:0af'") == 0u);
    BOOST_TEST(sentence({"pci:"}).find("no device matches 'pci:'") == 0u);
}

BOOST_AUTO_TEST_CASE(an_ambiguous_name_lists_its_candidates) {
    BOOST_TEST(sentence({"H200"}) ==
               "device 'H200' is ambiguous; it matches 2:0 'NVIDIA H200' (NVIDIA CUDA, gpu), "
               "2:1 'NVIDIA H200' (NVIDIA CUDA, gpu)");
}

BOOST_AUTO_TEST_CASE(unknown_name_lists_the_devices) {
    BOOST_TEST(sentence({"H100"}).find("no device matches 'H100'; there are 4: 0:0 'cpu-haswell-AMD EPYC'") == 0u);
    BOOST_TEST(sentence({"accelerator"}).find("no device matches 'accelerator'") == 0u);
    BOOST_TEST(sentence({"7:0"}).find("no device matches '7:0'") == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(timer_audit)

BOOST_AUTO_TEST_CASE(timer_step_is_the_gcd_of_the_stamps) {
    device::TimerAudit audit;
    device::judge_stamps(audit, {{10, 20, 3200, 3296}, {10, 20, 6400, 6528}, {10, 20, 9600, 9632}});
    BOOST_TEST(audit.step_ns == 32u);
    BOOST_TEST(audit.ordered);
    BOOST_TEST(audit.varied);
    BOOST_TEST(audit.empty_seconds == 96e-9, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(constant_stub_timestamps_are_not_trusted) {
    device::TimerAudit audit;
    device::judge_stamps(audit, std::vector<device::Stamps>(400, {0, 1, 2, 3}));
    audit.event_over_host = 0.9;
    audit.tenfold = 10;
    device::judge(audit);
    BOOST_TEST(!audit.trusted);
    BOOST_TEST(audit.verdict.find("same stamps") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(end_before_start_is_not_trusted) {
    device::TimerAudit audit;
    device::judge_stamps(audit, {{1, 2, 10, 20}, {1, 2, 30, 29}});
    audit.event_over_host = 0.9;
    audit.tenfold = 10;
    device::judge(audit);
    BOOST_TEST(!audit.trusted);
}

BOOST_AUTO_TEST_CASE(row_time_spans_first_start_to_last_end) {
    BOOST_TEST(device::row_seconds(std::vector<device::Stamps>{{1, 2, 100, 120}, {0, 0, 0, 0}, {1, 2, 300, 1100}},
                                   true) == 1000e-9,
               boost::test_tools::tolerance(1e-9));
    BOOST_TEST(device::row_seconds(std::vector<device::Stamps>{{1, 2, 200, 900}, {1, 2, 100, 120}, {1, 2, 300, 400}},
                                   false) == 800e-9,
               boost::test_tools::tolerance(1e-9));
    for (const bool one_queue : {true, false}) {
        const auto refused = [&](const std::vector<device::Stamps>& row) {
            BOOST_CHECK_THROW(device::row_seconds(row, one_queue), Error);
        };
        refused({{1, 2, 100, 120}, {1, 2, 300, 0}});  // the driver refused the last END
        refused({{1, 2, 0, 120}, {1, 2, 300, 400}});
        refused({{1, 2, 100, 90}});
    }
}

BOOST_AUTO_TEST_CASE(events_that_disagree_with_host_or_work_are_not_trusted) {
    device::TimerAudit audit;
    audit.varied = audit.ordered = true;
    audit.tenfold = 10;
    for (const double ratio : {0.5, 0.79, 1.03, 7.0}) {
        audit.event_over_host = ratio;
        device::judge(audit);
        BOOST_TEST(!audit.trusted, ratio);
    }
    audit.event_over_host = 0.95;
    device::judge(audit);
    BOOST_TEST(audit.trusted);
    audit.tenfold = 1.1;
    device::judge(audit);
    BOOST_TEST(!audit.trusted);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(quirk_table)

BOOST_AUTO_TEST_CASE(every_quirk_states_fault_handling_origin_and_end) {
    std::set<std::string> names, drivers;
    for (int i = 0; i <= static_cast<int>(Implementation::other); ++i)
        drivers.insert(model::name(static_cast<Implementation>(i)));
    for (const auto& q : device::quirks()) {
        BOOST_TEST(drivers.contains(q.driver), q.name);
        BOOST_TEST(names.insert(q.name).second, q.name);
        for (const auto* field : {&q.versions, &q.fault, &q.handling, &q.seen, &q.gone_when})
            BOOST_TEST(!field->empty(), q.name);
    }
}

BOOST_AUTO_TEST_CASE(rusticl_22_3_has_stub_timers_and_later_mesa_does_not) {
    auto d = make("0:0", "llvmpipe", "rusticl", DeviceType::cpu, Implementation::rusticl);
    d.driver = "22.3.6";
    BOOST_TEST(device::has_quirk(d, "rusticl-stub-timer"));
    BOOST_TEST(device::has_quirk(d, "rusticl-group-32"));
    d.driver = "25.0.1";
    BOOST_TEST(!device::has_quirk(d, "rusticl-stub-timer"));
    BOOST_TEST(!device::has_quirk(d, "rusticl-group-32"));
}

BOOST_AUTO_TEST_CASE(quirks_of_pocl_depend_on_its_version) {
    auto d = make("0:0", "cpu", "Portable Computing Language", DeviceType::cpu, Implementation::pocl);
    struct Case {
        const char *quirk, *with, *without;
    };
    for (const auto& [quirk, with, without] :
         {Case{"pocl-inline-assembly", "5.0+debian", "3.1+debian"}, Case{"pocl-r16f-images", "3.1+debian", "7.2"}}) {
        d.driver = with;
        BOOST_TEST(device::has_quirk(d, quirk), quirk);
        d.driver = without;
        BOOST_TEST(!device::has_quirk(d, quirk), quirk);
    }
}

BOOST_AUTO_TEST_CASE(names_renamed_by_pocl_are_mapped_back) {
    model::Device pocl, other;
    pocl.implementation = model::Implementation::pocl;
    BOOST_TEST(device::written_name(pocl, "_cl_step") == "step");
    BOOST_TEST(device::written_name(pocl, "stepped") == "stepped");
    BOOST_TEST(device::written_name(other, "_cl_step") == "_cl_step");
    BOOST_TEST(device::given_name(pocl, "step", {"copy", "_cl_step"}) == "_cl_step");
    BOOST_TEST(device::given_name(pocl, "copy", {"copy", "_cl_copy"}) == "copy");
    BOOST_TEST(device::given_name(pocl, "gone", {"copy"}) == "gone");
    BOOST_TEST(device::given_name(other, "step", {"_cl_step"}) == "step");
}

BOOST_AUTO_TEST_CASE(vendor_options_are_passed_to_their_vendor_only) {
    BOOST_TEST(device::extra_build_options(bench[2]) == "-cl-nv-verbose");
    BOOST_TEST(device::extra_build_options(bench[0]) == "");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(device_host_caches)

BOOST_AUTO_TEST_CASE(host_last_level_sums_all_caches_of_the_highest_level) {
    namespace fs = std::filesystem;
    const auto root = fs::temp_directory_path() / ("cllab-host-caches-" + std::to_string(getpid()));
    fs::remove_all(root);
    const auto cache = [&](int processor, int index, const char* level, const char* size, const char* sharing) {
        const auto folder = root / ("cpu" + std::to_string(processor)) / "cache" / ("index" + std::to_string(index));
        fs::create_directories(folder);
        std::ofstream(folder / "level") << level << '\n';
        std::ofstream(folder / "size") << size << '\n';
        std::ofstream(folder / "shared_cpu_list") << sharing << '\n';
    };
    BOOST_TEST(device::host_last_level_bytes(root / "none") == 0u);
    BOOST_TEST(device::host_last_level_bytes(root) == 0u);
    fs::create_directories(root / "cpufreq");
    for (int processor = 0; processor < 4; ++processor) {
        cache(processor, 0, "1", "32K", std::to_string(processor).c_str());
        cache(processor, 1, "3", "32768K", processor < 2 ? "0-1" : "2-3");
        cache(processor, 2, "2", "512K", std::to_string(processor).c_str());
    }
    cache(0, 3, "1", "64K", "0");
    std::ofstream(root / "cpu0/cache/index3/type") << "Instruction\n";
    BOOST_TEST(device::host_last_level_bytes(root) == 64u << 20);
    BOOST_TEST(device::host_cache_levels(root) == std::vector<std::uint64_t>({32 << 10, 512 << 10, 32 << 20}),
               boost::test_tools::per_element());
    BOOST_TEST(device::host_cache_levels(root / "none").empty());
    fs::remove_all(root);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(device_identity)

BOOST_AUTO_TEST_CASE(uuid_prints_bytes_in_order_and_zeros_mean_none) {
    BOOST_TEST(device::uuid_text({0x0f, 0xa1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x42}) ==
               "UUID 0fa10000000000000000000000000042");
    BOOST_TEST(device::uuid_text({}) == "");
}

BOOST_AUTO_TEST_CASE(pci_address_is_written_like_lspci) {
    BOOST_TEST(device::pci_text(0x1, 0xc1, 0x1f, 2) == "PCI 0001:c1:1f.2");
}

BOOST_AUTO_TEST_CASE(amd_topology_has_a_pci_address_if_it_is_pcie) {
    std::array<unsigned char, 24> topology{};
    topology[21] = 0x43;
    topology[22] = 0x05;
    topology[23] = 0x01;
    BOOST_TEST(device::amd_topology_text(topology) == "");
    const std::uint32_t pcie = 1;
    std::memcpy(topology.data(), &pcie, sizeof pcie);
    BOOST_TEST(device::amd_topology_text(topology) == "PCI 0000:43:05.1");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(missing_device_type_is_reported_without_suggestions) {
    const auto said = sentence({"accelerator"});
    BOOST_TEST(said.find("none here is of type accelerator; there are 4: ") != std::string::npos, said);
    BOOST_TEST(said.find("did you mean") == std::string::npos, said);
}

BOOST_AUTO_TEST_SUITE_END()

// `cllab devices`: every device with how to select it and whether its numbers can be believed.
#include <iostream>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "app/commands.hpp"
#include "app/devices_page.hpp"
#include "app/say.hpp"
#include "device/program.hpp"
#include "device/quirks.hpp"
#include "device/session.hpp"
#include "inspect/binary.hpp"

namespace cllab::app {
namespace {

using nlohmann::ordered_json;

/// A small kernel answers what the device query does not: preferred multiple, sub-group size, kind of binary.
void probe(device::Session& session, DeviceRow& row) {
    const auto built = device::build(session, "kernel void lab_probe(global uint* out) { out[get_global_id(0)] = 1; }", "");
    if (!built.ok) {
        row.binary = "none: a trivial kernel does not build (" + device::error_name(built.code) + ")";
        return;
    }
    cl::Kernel kernel(built.program, "lab_probe");
    std::size_t multiple = 0;
    if (clGetKernelWorkGroupInfo(kernel(), session.device()(), CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof multiple,
                                 &multiple, nullptr) == CL_SUCCESS)
        row.preferred_multiple = multiple;
    if (session.facts().has("cl_khr_subgroups")) {
        const std::size_t local[1] = {256};
        std::size_t size = 0;
        constexpr cl_kernel_sub_group_info max_sub_group_size_khr = 0x2033;
        const auto ask = reinterpret_cast<clGetKernelSubGroupInfoKHR_fn>(clGetExtensionFunctionAddressForPlatform(
            session.device().getInfo<CL_DEVICE_PLATFORM>(), "clGetKernelSubGroupInfoKHR"));
        if (ask && ask(kernel(), session.device()(), max_sub_group_size_khr, sizeof local, local, sizeof size, &size, nullptr) ==
                       CL_SUCCESS)
            row.sub_group = size;
    }
    const auto binary = device::program_binary(built);
    row.binary = inspect::describe(inspect::recognise(binary));
}

DeviceRow look_at(const device::Found& found) {
    DeviceRow row;
    row.facts = found.facts;
    try {
        device::Session session(found);
        row.timer = session.timer();
        probe(session, row);
    } catch (const std::exception& e) {
        row.trouble = e.what();
    }
    return row;
}

ordered_json to_json(const DeviceRow& row) {
    const auto& d = row.facts;
    const auto& t = row.timer;
    ordered_json quirks = ordered_json::array();
    for (const auto* quirk : device::quirks_of(d)) quirks.push_back({{"name", quirk->name}, {"fault", quirk->fault}, {"handling", quirk->handling}});
    ordered_json out{{"selector", d.selector}, {"name", d.name}, {"type", model::name(d.type)}, {"platform", d.platform},
                     {"vendor", d.vendor}, {"driver", d.driver}, {"opencl_c", d.c_version}, {"compute_units", d.compute_units},
                     {"global_bytes", d.global_bytes}, {"max_alloc_bytes", d.max_alloc_bytes}, {"local_bytes", d.local_bytes},
                     {"max_group", d.max_group}, {"preferred_multiple", row.preferred_multiple}, {"sub_group", row.sub_group},
                     {"fp64", d.fp64}, {"fp16", d.fp16}, {"images", d.images}, {"identity", d.identity}, {"binary", row.binary},
                     {"timer", {{"trusted", t.trusted}, {"verdict", t.verdict}, {"step_ns", t.step_ns},
                                {"reported_step_ns", t.reported_step_ns}, {"ordered", t.ordered},
                                {"event_over_host", t.event_over_host}, {"tenfold", t.tenfold},
                                {"empty_seconds", t.empty_seconds}, {"gap_seconds", t.gap_seconds}}},
                     {"quirks", quirks}};
    if (!row.trouble.empty()) out["trouble"] = row.trouble;
    return out;
}

}  // namespace

int command_devices(const Invocation& invocation) {
    std::vector<std::string> troubles;
    const auto found = device::discover(&troubles);
    const report::TableStyle style{wants_colour(STDOUT_FILENO), terminal_width(STDOUT_FILENO)};
    auto json = ordered_json::array();
    for (const auto& f : found) {
        const auto row = look_at(f);
        if (invocation.as_json)
            json.push_back(to_json(row));
        else
            print_device(std::cout, row, style);
        std::cout.flush();
    }
    if (invocation.as_json) std::cout << json.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
    for (const auto& trouble : troubles) say(trouble);
    return 0;
}

}  // namespace cllab::app

// `cllab devices`: every device, how to select it, and whether its timer can be trusted. `cllab` without arguments
// prints a short list.

#include <dlfcn.h>

#include <cstdlib>

#include "app/commands/command_file.hpp"
#include "app/screen/devices_page.hpp"
#include "device/driver_settings.hpp"
#include "device/program.hpp"
#include "device/quirks.hpp"
#include "device/sensors.hpp"
#include "device/session.hpp"
#include "device/sysfs.hpp"
#include "inspect/binary/binary.hpp"
#include "json/read.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct DevicesOptions : Call, FileOptions {};

/// The source of clock readings during runs, or why there is none. Shown here, so that no run needs to.
std::string clock_text(const model::Device& device) {
    std::string why;
    const auto reader = device::clock_reader(device, why);
    const auto clocks = reader ? reader() : std::nullopt;
    if (!clocks) return why.empty() ? "none: its source gives no reading" : why;
    std::string out = clocks->source + ": " +
                      (clocks->core_mhz ? format_significant(*clocks->core_mhz, 4) + " MHz" : std::string("no clock"));
    for (const auto& limit : clocks->limits) out += ", limited by " + limit;
    return out + "; recorded beside the samples";
}

/// The work-group size that the driver suggests for 2^20 work-items of a small kernel; 0 if unknown.
std::size_t suggested_local(device::Session& session, const cl::Kernel& kernel) {
    using Ask = decltype(&clGetKernelSuggestedLocalWorkSizeKHR);
    Ask ask = nullptr;
    if (session.facts().has("cl_khr_suggested_local_work_size"))
        ask = reinterpret_cast<Ask>(clGetExtensionFunctionAddressForPlatform(
            session.device().getInfo<CL_DEVICE_PLATFORM>(), "clGetKernelSuggestedLocalWorkSizeKHR"));
    else if (session.facts().device_version >= "OpenCL 3.1")  // core function since 3.1; older loaders lack it
        ask = reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, "clGetKernelSuggestedLocalWorkSize"));
    const std::size_t items = 1u << 20;
    std::size_t local = 0;
    return ask && ask(session.queue()(), kernel(), 1, nullptr, &items, &local) == CL_SUCCESS ? local : 0;
}

/// Builds a small kernel to find facts without a device query: preferred multiple, sub-group size, kind of binary.
void probe(device::Session& session, DeviceRow& row) {
    const auto built =
        device::build(session, "kernel void lab_probe(global uint* out) { out[get_global_id(0)] = 1; }", "");
    if (!built.ok) {
        row.binary = "none: a trivial kernel does not build (" + device::error_name(built.code) + ")";
        return;
    }
    cl::Kernel kernel(built.program, "lab_probe");
    std::size_t multiple = 0;
    if (clGetKernelWorkGroupInfo(kernel(), session.device()(), CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                                 sizeof multiple, &multiple, nullptr) == CL_SUCCESS)
        row.preferred_multiple = multiple;
    row.suggested_local = suggested_local(session, kernel);
    if (session.facts().has("cl_khr_subgroups")) {
        const std::size_t local[1] = {256};
        std::size_t size = 0;
        constexpr cl_kernel_sub_group_info max_sub_group_size_khr = 0x2033;
        const auto ask = reinterpret_cast<clGetKernelSubGroupInfoKHR_fn>(clGetExtensionFunctionAddressForPlatform(
            session.device().getInfo<CL_DEVICE_PLATFORM>(), "clGetKernelSubGroupInfoKHR"));
        if (ask && ask(kernel(), session.device()(), max_sub_group_size_khr, sizeof local, local, sizeof size, &size,
                       nullptr) == CL_SUCCESS)
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
        row.clock = clock_text(found.facts);
        probe(session, row);
    } catch (const std::exception& e) {
        row.trouble = e.what();
    }
    return row;
}

ordered_json timer_json(const device::TimerAudit& t) {
    return {{"trusted", t.trusted},
            {"verdict", t.verdict},
            {"step_ns", t.step_ns},
            {"reported_step_ns", t.reported_step_ns},
            {"ordered", t.ordered},
            {"event_over_host", t.event_over_host},
            {"tenfold", t.tenfold},
            {"empty_seconds", t.empty_seconds},
            {"gap_seconds", t.gap_seconds},
            {"event_seconds", t.event_seconds}};
}

ordered_json to_json(const DeviceRow& row) {
    const auto& d = row.facts;
    const auto& t = row.timer;
    ordered_json quirks = ordered_json::array();
    for (const auto* quirk : device::quirks_of(d))
        quirks.push_back({{"name", quirk->name}, {"fault", quirk->fault}, {"handling", quirk->handling}});
    auto out = report::fact("device");
    out.update({{"selector", d.selector},
                {"name", d.name},
                {"type", model::name(d.type)},
                {"platform", d.platform},
                {"vendor", d.vendor},
                {"driver", d.driver},
                {"opencl", d.device_version},
                {"opencl_c", d.c_version},
                {"compute_units", d.compute_units},
                {"global_bytes", d.global_bytes},
                {"max_alloc_bytes", d.max_alloc_bytes},
                {"local_bytes", d.local_bytes},
                {"max_group", d.max_group},
                {"preferred_multiple", row.preferred_multiple},
                {"sub_group", row.sub_group},
                {"sub_group_sizes", d.sub_group_sizes},
                {"suggested_local", row.suggested_local},
                {"il_versions", d.il_versions},
                {"features", features_of(d)},
                {"fp64", d.fp64},
                {"fp16", d.fp16},
                {"images", d.images},
                {"identity", d.identity},
                {"pci", d.pci},
                {"binary", row.binary},
                {"clock", row.clock},
                {"timer", timer_json(t)},
                {"quirks", quirks}});
    for (const std::string key : {"compute_units", "global_bytes", "max_alloc_bytes", "local_bytes", "max_group",
                                  "preferred_multiple", "sub_group", "suggested_local"})
        if (out[key] > 0)
            report::add_figure(out, key, out[key],
                               key.ends_with("bytes")   ? "bytes"
                               : key == "compute_units" ? "units"
                                                        : "work-items",
                               "the driver");
        else
            report::add_refusal(out["figures"][key], "not known", "the driver does not say it", "a driver that does");
    if (!row.trouble.empty()) out["trouble"] = row.trouble;
    if (!t.trusted)
        report::add_refusal(out, row.trouble.empty() ? "times not trusted" : "not usable",
                            row.trouble.empty() ? t.verdict : row.trouble,
                            "a driver whose events agree with the clock");
    return out;
}

std::string to_text(const DeviceRow& row, const report::TableStyle& style) {
    std::ostringstream out;
    print_device(out, row, style);
    return out.str();
}

/// The registered drivers: library by ICD file, from OCL_ICD_VENDORS (a folder or a file), else from
/// /etc/OpenCL/vendors.
std::map<fs::path, std::string> registered_drivers() {
    const char* named = std::getenv("OCL_ICD_VENDORS");
    const fs::path where = named && *named ? named : "/etc/OpenCL/vendors";
    std::vector<fs::path> files;
    std::error_code trouble;
    if (fs::is_directory(where, trouble)) {
        files = device::entries(where);
        std::erase_if(files, [](const auto& file) { return file.extension() != ".icd"; });
    } else if (fs::exists(where, trouble)) {
        files.push_back(where);
    }
    std::map<fs::path, std::string> out;
    for (const auto& file : files) out.emplace(file, device::first_line(file).value_or(""));
    return out;
}

/// Loads the driver alone in a child process. Returns what went wrong; empty if nothing.
std::string trouble_of(const std::string& library, double seconds) {
    try {
        in_child(
            [&](const HandOver& hand_over) {
                device::use_only_drivers({{"one.icd", library}});
                try {
                    device::discover();
                } catch (const Error&) {
                    // It has no device, but it did load.
                }
                hand_over("loaded");
            },
            "while it was loaded", seconds, seconds);
    } catch (const DeviceLost& e) {
        return e.what();
    }
    return {};
}

// A driver loads within a second; with many GPUs, five seconds have been observed.
constexpr double loading_seconds = 10, looking_seconds = 60;

/// The rows of all devices, from a child process, because a driver may crash. `only`: as for use_only_drivers(); empty:
/// all drivers.
void list_devices(bool as_json, const report::TableStyle& style, const std::map<std::string, std::string>& only,
                  std::vector<std::string>& rows, std::vector<std::string>& troubles) {
    auto lines = in_child(
        [&](const HandOver& hand_over) {
            if (!only.empty()) device::use_only_drivers(only);
            std::vector<std::string> seen;
            const auto found = device::discover(&seen);
            hand_over(std::to_string(seen.size()));
            for (const auto& trouble : seen) hand_over(trouble);
            for (const auto& f : found) {
                const auto row = look_at(f);
                hand_over(as_json ? json_text(to_json(row)) : to_text(row, style));
            }
        },
        "while the drivers were loaded and their devices tried", loading_seconds, looking_seconds);
    const auto first_row = lines.begin() + 1 + std::stoi(lines.at(0));
    troubles.assign(lines.begin() + 1, first_row);
    rows.assign(first_row, lines.end());
}

int show_devices(const DevicesOptions& invocation) {
    catch_interrupts();
    std::vector<std::string> rows, troubles;
    bool broken = false;
    const report::TableStyle style{wants_colour(), page_width()};
    try {
        list_devices(!invocation.json.empty(), style, {}, rows, troubles);
    } catch (const DeviceLost& lost) {
        std::map<std::string, std::string> sound;
        for (const auto& [icd, library] : registered_drivers()) {
            const auto trouble = trouble_of(library, loading_seconds);
            if (trouble.empty()) {
                sound.emplace(icd.filename(), library);
                continue;
            }
            broken = true;
            say("the driver '" + icd.string() + "' (" + library + ") is skipped: " + trouble +
                "; to leave it out everywhere, set OCL_ICD_VENDORS to a folder with the other drivers");
        }
        if (!broken || sound.empty()) throw;
        list_devices(!invocation.json.empty(), style, sound, rows, troubles);
    }
    if (!invocation.json.empty()) {
        auto json = ordered_json::array();
        for (const auto& row : rows) json.push_back(ordered_json::parse(row));
        write_json(invocation.json, invocation.force, json.dump(2));
    } else {
        for (const auto& row : rows) results() << row;
    }
    for (const auto& trouble : troubles) say(trouble);
    return broken ? 3 : 0;
}

void check_devices(DevicesOptions& options) { refuse_patterns(options, "`cllab devices` takes no argument"); }

/// One line per device, or the reason if there is none. Uses a child process, because a driver may crash.
std::string devices_here() {
    try {
        const auto lines = in_child(
            [](const HandOver& hand_over) {
                for (const auto& f : device::discover())
                    hand_over(fmt::format("  {:<6}{:<5}{}", f.facts.selector, model::name(f.facts.type), f.facts.name));
            },
            "while the drivers were loaded", loading_seconds, loading_seconds);
        return join(lines, "\n") + "\n";
    } catch (const std::exception& e) {
        return report::wrap(std::string("none: ") + e.what(), "  ", page_width());
    }
}

}  // namespace

int print_start() {
    results() << report::fit(
        "cllab runs OpenCL kernels, proves and times them, and says which won and why.\n\n"
        "  cllab --device cpu --kernel pitch_short8   one kernel: its time and code\n"
        "  cllab my.cl                                a kernel file of your own\n"
        "  cllab why 'pitch_*' --device cpu           what limits each variant\n\n"
        "Devices here\n" +
            devices_here() + "\n`cllab list` has the kernels, `cllab --help` the commands.\n",
        page_width());
    return 0;
}

Command devices_command() {
    return make_command<DevicesOptions>(manual_of("devices"), Rows<DevicesOptions>().with(json_rows()), check_devices,
                                        show_devices);
}

}  // namespace cllab::app

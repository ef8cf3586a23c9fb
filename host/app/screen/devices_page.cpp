#include "app/screen/devices_page.hpp"

#include <fmt/format.h>

#include <ostream>

#include "core/text.hpp"
#include "core/units.hpp"
#include "device/quirks.hpp"
#include "report/table/layout.hpp"

namespace cllab::app {
namespace {

std::string timer_line(const device::TimerAudit& t) {
    return fmt::format(
        "events {}; step {} ns (reported {} ns), {}, events/host {:.2f}, 10x work takes {:.1f}x; in this check "
        "an empty kernel of one work-item takes {}, a further launch {}, with an event {}",
        t.verdict, t.step_ns, t.reported_step_ns, t.ordered ? "in order" : "out of order", t.event_over_host, t.tenfold,
        format_seconds(t.empty_seconds), format_seconds(t.gap_seconds),
        format_seconds(t.gap_seconds + t.event_seconds));
}

std::string group_width(const DeviceRow& row) {
    auto out = row.sub_group ? fmt::format("sub-group {}", row.sub_group)
                             : fmt::format("preferred multiple {}", row.preferred_multiple);
    if (!row.facts.sub_group_sizes.empty()) out += fmt::format(" (of {})", fmt::join(row.facts.sub_group_sizes, ", "));
    if (row.suggested_local) out += fmt::format(", suggests groups of {} for 2^20 items", row.suggested_local);
    return out;
}

/// "UUID 0f..., PCI 0000:3b:00.0": either part selects the device.
std::string identities(const model::Device& d) {
    return d.identity == d.pci || d.pci.empty() ? d.identity : d.identity + ", " + d.pci;
}

}  // namespace

std::vector<std::string> features_of(const model::Device& device) {
    constexpr std::pair<const char*, const char*> features[]{{"cl_khr_subgroup_shuffle", "sub-group shuffles"},
                                                             {"cl_khr_subgroup_rotate", "sub-group rotations"},
                                                             {"cl_khr_integer_dot_product", "packed dot products"},
                                                             {"cl_khr_command_buffer", "command buffers"}};
    std::vector<std::string> out;
    for (const auto& [extension, name] : features)
        if (device.has(extension)) out.emplace_back(name);
    return out;
}

void print_device(std::ostream& out, const DeviceRow& row, const report::TableStyle& style) {
    const auto& d = row.facts;
    const auto line = [&](const char* label, const std::string& text) {
        out << report::wrap_beside(fmt::format("    {:<14}", label), text, style.text_width());
    };
    out << report::wrap_beside(d.selector + "  ", d.name, style.text_width());
    line("select with",
         fmt::format("--device {}{}", d.selector,
                     d.type == model::DeviceType::other
                         ? ""
                         : fmt::format(", or {} when it is the first trusted one", model::name(d.type))));
    line("platform", d.platform + ", " + d.vendor + ", driver " + d.driver);
    if (!d.identity.empty()) line("identity", identities(d));
    line("version", d.device_version + (d.il_versions.empty() ? ", no intermediate language" : ", " + d.il_versions));
    if (const auto features = features_of(d); !features.empty()) line("features", join(features, ", "));
    line("language", d.c_version + (d.fp64 ? ", double" : ", no double") + (d.fp16 ? ", half" : "") +
                         (d.images ? ", images" : ", no images"));
    line("compute", fmt::format("{} units, {} work-items a group, {}", d.compute_units, d.max_group, group_width(row)));
    line("memory",
         fmt::format("{} ({} in one buffer), local {}{}", format_bytes(d.global_bytes), format_bytes(d.max_alloc_bytes),
                     format_bytes(d.local_bytes), d.local_is_dedicated ? "" : " (ordinary memory)"));
    if (!row.trouble.empty()) {
        line("trouble", row.trouble);
    } else {
        line("timer", timer_line(row.timer));
        line("clock", row.clock);
        line("binary", row.binary);
    }
    for (const auto* quirk : device::quirks_of(d)) line("quirk", quirk->name + ": " + quirk->fault);
    out << '\n';
}

}  // namespace cllab::app

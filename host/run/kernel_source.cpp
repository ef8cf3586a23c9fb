#include "run/kernel_source.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <functional>
#include <regex>
#include <set>

#include "core/grouped.hpp"
#include "core/kernel_text.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "device/quirks.hpp"
#include "model/work.hpp"

namespace cllab::run {
namespace {

std::string read_file(const std::filesystem::path& path) {
    constexpr std::size_t most = 16u << 20;
    const auto refuse = [&](const std::string& why) {
        throw Error(Blame::usage, "kernel file '" + path.string() + "' (--cl-dir) " + why);
    };
    if (const auto fault = reading_fault(path); !fault.empty()) refuse("cannot be read: " + fault);
    std::error_code unknown;  // set for a pipe
    if (const auto size = std::filesystem::file_size(path, unknown); !unknown && size > most)
        refuse("is larger than 16 MiB, the limit for a kernel");
    const auto text = cllab::read_file(path);
    if (!text) refuse(std::string("cannot be read: ") + std::strerror(errno));
    return *text;
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
}

/// LAB_GROUP_X, _Y and _Z if all launches share one local size that the device accepts only from a kernel that promises
/// it.
std::vector<std::string> promised_group(const model::Setup& setup, const model::Device& device) {
    auto locals = mapped(model::launches_of(setup), &model::Launch::local);
    if (locals.empty()) locals.push_back(setup.local);
    const auto& local = locals.front();
    const bool shared = std::ranges::all_of(locals, [&](const auto& l) { return l.dims > 0 && l.size == local.size; });
    if (!shared || local.count() <= device.max_group) return {};
    return {"LAB_GROUP_X=" + std::to_string(local.size[0]), "LAB_GROUP_Y=" + std::to_string(local.size[1]),
            "LAB_GROUP_Z=" + std::to_string(local.size[2])};
}

/// The existing headers, then the text of the family.
KernelSource source_of(const std::string& family, const std::vector<std::string>& headers,
                       const std::filesystem::path& cl_dir) {
    KernelSource out;
    for (const auto& header : headers) {
        const auto path = cl_dir / "include" / header;
        std::error_code ignored;
        if (!cl_dir.empty() && std::filesystem::exists(path, ignored))
            out.text += line_directive(1, header) + "\n" + read_file(path) + "\n";
        else if (const auto embedded = model::find_embedded_kernel("include/" + header))
            out.text += line_directive(1, header) + "\n" + std::string(*embedded) + "\n";
    }
    const auto path = cl_dir / (family + ".cl");
    out.origin = cl_dir.empty() ? "embedded" : path.string();
    const auto text = cl_dir.empty() ? std::string(model::embedded_kernel(family)) : read_file(path);
    out.text += line_directive(1, cl_dir.empty() ? family + ".cl" : out.origin) + "\n";
    out.text += family_parts(text).first;
    return out;
}

using model::Device;
using model::Implementation;

struct Need {
    const char *name, *lack;  ///< lack: the device …
    bool (*met)(const Device&);
};
constexpr Need needs[]{
    {"image", "has no images", [](const Device& d) { return d.images; }},
    {"fp64", "has no double precision", [](const Device& d) { return d.fp64; }},
    {"local", "has no dedicated local memory", [](const Device& d) { return d.local_is_dedicated; }},
    {"gpu", "is not a GPU", [](const Device& d) { return d.is_gpu(); }},
    {"cpu", "is not a CPU", [](const Device& d) { return d.is_cpu(); }},
    {"nvidia", "does not have NVIDIA's driver",
     [](const Device& d) { return d.implementation == Implementation::nvidia; }},
    {"pocl", "does not have the driver PoCL", [](const Device& d) { return d.implementation == Implementation::pocl; }},
    {"amd", "does not have AMD's driver", [](const Device& d) { return d.implementation == Implementation::amd; }},
    {"subgroups", "has no sub-groups",
     [](const Device& d) { return d.has("cl_khr_subgroups") || d.has("cl_intel_subgroups"); }},
    {"clock", "has no clock that a kernel can read", [](const Device& d) {
         return d.implementation == Implementation::nvidia || d.implementation == Implementation::amd ||
                d.has("cl_khr_kernel_clock");
     }}};

}  // namespace

std::vector<std::string> header_names(const model::Experiment& experiment, const model::Variant& variant) {
    std::vector<std::string> out{"lab.h", experiment.family + ".h", experiment.id(variant) + ".h"};
    if (!variant.header.empty()) out.insert(out.begin() + 1, variant.header);
    return out;
}

KernelSource kernel_source(const std::string& family, const std::filesystem::path& cl_dir) {
    return source_of(family, {"lab.h", family + ".h"}, cl_dir);
}

KernelSource kernel_source(const model::Experiment& experiment, const model::Variant& variant,
                           const std::filesystem::path& cl_dir) {
    if (!variant.own) return source_of(experiment.family, header_names(experiment, variant), cl_dir);
    return {line_directive(1, variant.own->path) + "\n" + variant.own->text, variant.own->path};
}

std::string name_lines(const std::string& log, const std::string& text) {
    // NVIDIA's name for a text, and Oclgrind's, unless the text has a file of that name.
    const std::string anonymous = log.find("<kernel>:") != log.npos || text.find("/input.cl\"") != text.npos ||
                                          text.find("\"input.cl\"") != text.npos
                                      ? "<kernel>:"
                                      : "input.cl:";
    std::vector<std::string> places{""};  // by line of the text, from 1
    std::string file = "<kernel>";
    std::size_t number = 0;
    for (const auto& line : split(text, '\n')) {
        places.push_back(file + ":" + std::to_string(++number));
        static const std::regex directive("#line (\\d+) \"(.*)\"");
        std::smatch found;
        if (!line.starts_with("#line ") || !std::regex_match(line, found, directive)) continue;
        number = std::stoul(found[1]) - 1;
        file = found[2];
    }
    std::string out;
    std::size_t from = 0;
    for (auto at = log.find(anonymous); at != std::string::npos; at = log.find(anonymous, from)) {
        const auto digits = at + anonymous.size();
        std::size_t line = 0;
        const auto end = std::from_chars(log.data() + digits, log.data() + log.size(), line).ptr;
        out += log.substr(from, at - from);
        from = static_cast<std::size_t>(end - log.data());
        out += line > 0 && line < places.size() ? places[line] : log.substr(at, from - at);
    }
    return out + log.substr(from);
}

std::string build_options(const model::Cell& cell, const model::Setup& setup, const model::Device& device,
                          const std::string& users_own) {
    std::vector<std::string> parts;
    bool has_standard = users_own.find("-cl-std=") != std::string::npos;
    const auto add = [&](const std::string& define) {
        const bool option = !define.empty() && define.front() == '-';
        has_standard = has_standard || (option && define.rfind("-cl-std=", 0) == 0);
        parts.push_back(option ? define : "-D" + define);
    };
    const auto add_all = [&](const std::vector<std::string>& defines) {
        for (const auto& define : defines) add(define);
    };
    const auto& own = cell.variant->own;
    if (!own) {
        add("KERNEL=" + cell.id);
        add(upper(cell.id));
    }
    add_all(cell.variant->defines);
    add_all(setup.defines);
    if (!own || own->includes_lab) {
        add_all(promised_group(setup, device));
        add_all(device::device_defines(device));
    }
    for (const auto& extra : {device::extra_build_options(device), users_own, cell.options,
                              own ? device::option_of_users_kernels(device) : ""})
        if (!extra.empty()) parts.push_back(extra);
    if (!has_standard && !own) parts.insert(parts.begin(), "-cl-std=CL1.2");
    return join(parts, " ");
}

std::string first_error(const std::string& log) {
    std::string heading, other;  // heading: "Error(s) while linking:", explained by the next line
    bool empty = true;
    for (const auto& raw : split(log, '\n')) {
        const auto line = one_line(raw);
        if (line.empty()) continue;
        if (!heading.empty()) return heading + " " + line;
        empty = false;
        const auto small = lower(line);
        const auto says = [&](std::string_view word) { return small.find(word) != small.npos; };
        const bool is_error = says("error:");
        if (!is_error &&
            (says("warning:") || says("note:") || small.ends_with("generated.") || says("build succeeded")))
            continue;
        if (!is_error && !says("error")) {
            if (other.empty()) other = line;
            continue;
        }
        if (!line.ends_with(':')) return line;
        heading = line;
    }
    if (!heading.empty()) return heading;
    return other.empty() && !empty ? "the compiler gives no reason" : other;
}

/// The lines of a build log that are errors. Undefined symbols are all named in the linker's first one.
static std::vector<std::string> error_lines(const std::string& log) {
    auto out = split(log, '\n');
    std::erase_if(out, [](const auto& line) {
        return line.find("error: ") == line.npos || line.find("undefined ") != line.npos;
    });
    return out;
}

std::size_t errors_in(const std::string& log) { return error_lines(log).size(); }

std::string distinct_errors(const std::string& log) {
    std::vector<std::string> out;
    std::set<std::string> seen;
    for (const auto& line : error_lines(log))
        if (seen.insert(line.substr(line.find("error: "))).second) out.push_back(one_line(line));
    return out.empty() ? first_error(log) : first_few(out, 5, std::identity());
}

std::string first_errors(const std::string& log, const SourceLine& source_line) {
    constexpr std::size_t most_lines = 20, longest = 2000;  // a regular expression needs stack for each character
    static const std::regex place("(.*):([0-9]+):([0-9]+)(?: <.*>)?: (?:fatal )?error: .*");
    const auto lines = split(log, '\n');
    std::vector<std::string> out;
    std::size_t i = 0;
    for (; i < lines.size() && out.size() < most_lines; ++i) {
        out.push_back(lines[i]);
        std::smatch found;
        if (lines[i].size() > longest || !std::regex_match(lines[i], found, place)) continue;
        auto text = source_line(found[1], std::stoul(found[2]));
        if (trim(text).empty() || (i + 1 < lines.size() && trim(lines[i + 1]) == trim(text))) continue;
        out.push_back(text);
        text.resize(std::stoul(found[3]) - 1, ' ');
        std::ranges::replace_if(
            text, [](char c) { return c != '\t'; }, ' ');
        out.push_back(text + '^');
    }
    if (i < lines.size()) out.push_back(concat("(", lines.size() - i, " more lines)"));
    return join(out, "\n");
}

BuildText build_text(const model::Cell& cell, const model::Setup& setup, const model::Device& device,
                     const Settings& settings) {
    if (const auto& stored = cell.stored)
        return {stored->text, stored->options + (cell.options.empty() ? "" : " " + cell.options), "baseline"};
    auto source = kernel_source(*cell.experiment, *cell.variant, settings.cl_dir);
    return {std::move(source.text), build_options(cell, setup, device, settings.build_options),
            std::move(source.origin)};
}

BuildText reference_text(const model::Cell& cell, const model::Setup& setup, const model::Device& device,
                         const Settings& settings) {
    const auto& variant = *setup.reference->variant;
    const model::Cell reference{cell.experiment, &variant, cell.experiment->id(variant), cell.point, {}};
    return build_text(reference, *setup.reference->setup, device, settings);
}

std::optional<std::string> missing_need(const model::Variant& variant, const Device& device) {
    for (const auto& name : variant.needs) {
        const auto need = std::ranges::find(needs, name, &Need::name);
        if (need == std::end(needs) ? device.has(name) : need->met(device)) continue;
        return "the device " + (need == std::end(needs) ? "has no extension " + name : need->lack);
    }
    return std::nullopt;
}

void require_local_memory(const Device& device, std::uint64_t of_kernel, std::uint64_t of_arguments) {
    // The build has already rejected a kernel whose own arrays are too large.
    if (of_arguments == 0 && device::has_quirk(device, "nvidia-local-arrays")) return;
    if (device.local_bytes > 0 && of_kernel + of_arguments > device.local_bytes)
        throw Unsupported("this point needs " + format_bytes(of_kernel + of_arguments) +
                          " of local memory; the device has " + format_bytes(device.local_bytes));
}

}  // namespace cllab::run

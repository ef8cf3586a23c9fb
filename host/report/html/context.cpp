#include "report/html/context.hpp"

#include <algorithm>
#include <set>

#include "core/text.hpp"
#include "report/html/markup.hpp"
#include "report/records/device_key.hpp"

namespace cllab::report::html {
namespace {

/// "H200" of "NVIDIA H200": the vendors' words go, for a link that one can type.
std::string short_name(const std::string& name) {
    std::string out = name;
    for (const char* word : {"NVIDIA ", "AMD ", "Intel(R) ", "Intel ", "(R)", "(TM)", " Processor", " CPU"})
        for (auto at = out.find(word); at != std::string::npos; at = out.find(word))
            out.erase(at, std::string_view(word).size());
    out = folder_name(out);
    return out.empty() ? folder_name(name) : out;
}

std::string unique(const std::string& wanted, std::set<std::string>& taken) {
    std::string out = wanted;
    for (int n = 2; !taken.insert(out).second; ++n) out = wanted + "-" + std::to_string(n);
    return out;
}

}  // namespace

Context::Context(const Page& p) : page(p) {
    std::map<std::string, std::size_t> known;
    const bool hosts = several_hosts(records());
    std::set<std::string> names, addresses;
    for (const auto& r : records()) {
        const auto [at, is_new] = known.emplace(model::device_key(r), devices.size());
        if (is_new)
            devices.push_back({at->first, unique(short_name(r.device.name), names),
                               r.device.name + device_details(r.device, hosts ? r.host.name : ""), &r});
        device_of.push_back(at->second);
    }

    std::map<std::string, std::map<std::string, std::set<std::string>>> values;
    std::map<std::string, std::vector<std::string>> axes;
    for (const auto& r : records())
        for (const auto& [axis, value] : r.point) {
            auto& seen = values[r.family][axis];
            if (seen.empty()) axes[r.family].push_back(axis);
            seen.insert(value);
        }
    for (const auto& [family, names_of] : axes)
        for (const auto& axis : names_of)
            if (values[family][axis].size() > 1) varying[family].push_back(axis);

    std::map<std::string, std::size_t> number_of;
    std::vector<const model::Record*> rows;
    for (std::size_t i = 0; i < records().size(); ++i) {
        const auto& r = records()[i];
        std::string address = folder_name(r.id) + "@" + devices[device_of[i]].name;
        if (addresses.count(address) && varying.count(r.family))
            for (const auto& [axis, value] : r.point)
                if (const auto& v = varying[r.family]; std::ranges::find(v, axis) != v.end())
                    address += ";" + folder_name(axis) + "=" + folder_name(value);
        anchors.push_back(unique(address, addresses));
        warnings_of.emplace_back();
        for (const auto& warning : r.warnings) {
            const auto [at, is_new] = number_of.emplace(warning, warnings.size());
            if (is_new) warnings.push_back(warning);
            warnings_of.back().push_back(at->second);
        }
        if (!in_curve(i)) rows.push_back(&r);
    }
    grid = device_grid(rows, {}, page.may_be_auto);
}

std::string Context::varying_point(const model::Record& record) const {
    const auto axes = varying.find(record.family);
    return axes == varying.end() ? std::string() : point_text(record.point, axes->second);
}

std::string Context::name_of_device(const std::string& key) const {
    const auto at = std::ranges::find_if(devices, [&](const auto& d) { return d.key == key; });
    return at == devices.end() ? std::string() : at->name;
}

std::string Context::name_of_grid_device(std::size_t d) const {
    const auto* first = grid.devices[d].first;
    return first ? devices[device_of[index(*first)]].name : grid.devices[d].letter;
}

std::string Context::link(std::size_t cell, const std::string& label) const {
    return "<a href=\"#" + text(anchors[cell]) + "\">" + breakable(label) + "</a>";
}

std::string Context::where(const GridFamily& family, const GridGroup& group) const {
    std::string out;
    for (std::size_t a = 0; a < family.axes.size(); ++a) {
        if (family.differs(a) && !group.point[a].empty())
            out += (out.empty() ? "" : " ") + family.axes[a] + "=" + group.point[a];
    }
    return out;
}

}  // namespace cllab::report::html

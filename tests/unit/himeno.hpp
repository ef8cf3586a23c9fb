// Cells of the family himeno, and the devices that they are set up for.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "experiments/lib/himeno.hpp"
#include "unit/cells.hpp"

namespace cllab::test::himeno_cells {

using namespace cllab::model;

inline constexpr himeno::Grid small{8, 12, 32};

inline Device gpu() {
    Device d;
    d.name = "test GPU";
    d.type = DeviceType::gpu;
    d.compute_units = 8;
    d.max_group = d.max_group_promised = 1024;
    d.fp64 = true;
    d.global_bytes = 4ull << 30;
    return d;
}

inline Device cpu() {
    auto d = gpu();
    d.type = DeviceType::cpu;
    d.max_group = d.max_group_promised = 4096;
    return d;
}

inline Setup make(const std::string& name, const std::vector<std::pair<std::string, std::string>>& axes,
                  const Device& device = gpu(), unsigned verification = 0) {
    auto all = axes;
    if (std::none_of(axes.begin(), axes.end(), [](const auto& axis) { return axis.first == "size"; }))
        all.emplace_back("size", "XXS");
    return test::set_up_cell("himeno_" + name, all, device, 7, verification);
}

inline std::string unsupported(const std::string& name, const std::vector<std::pair<std::string, std::string>>& axes,
                               const Device& device = gpu()) {
    try {
        make(name, axes, device);
    } catch (const Unsupported& e) {
        return e.what();
    }
    return {};
}

inline std::size_t define(const Setup& setup, const std::string& name) {
    for (const auto& d : setup.defines) {
        if (d.rfind(name + "=", 0) == 0) return std::stoul(d.substr(name.size() + 1));
    }
    throw Error(Blame::usage, "no define " + name);
}

}  // namespace cllab::test::himeno_cells

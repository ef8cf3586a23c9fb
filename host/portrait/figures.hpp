// Where each figure stands on the page of a portrait.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/device.hpp"

namespace cllab::portrait {

/// How a figure is shown beside its own unit, once the clock is known.
enum class PerCycle {
    no,
    cycles,        ///< a time, in cycles
    rate,          ///< a rate, per cycle
    rate_of_unit,  ///< a rate, per cycle and compute unit
};

/// A line of the page, or several: every finding whose identifier "<family>.<finding>" matches `id`, a glob.
struct Figure {
    std::string section, label, id;
    PerCycle per_cycle = PerCycle::no;
    std::function<std::string(const model::Device&)> claim{};  ///< what the driver says; empty text: nothing
    std::string variant{};  ///< whose status explains an absence, where the family has several

    std::string family() const { return id.substr(0, id.find('.')); }
};
const std::vector<Figure>& figures();

}  // namespace cllab::portrait

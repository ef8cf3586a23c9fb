// Cells of a family without a device that is there: from the same axis settings as the command line's.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/params.hpp"
#include "model/plan.hpp"

namespace cllab::test {

using Axes = model::Settings;

/// The first cell of "family_variant" with these axes.
inline model::Cell first_cell(const std::string& id, const Axes& axes = {}) {
    return model::make_plan(model::select(model::registry(), {id}), axes).front().front();
}

inline model::Setup set_up_cell(const std::string& id, const Axes& axes, const model::Device& device,
                                std::uint64_t seed = 7, unsigned verification = 0,
                                const std::map<std::string, model::Loaded>& files = {}, model::Memo* memo = nullptr) {
    const auto cell = first_cell(id, axes);
    return model::set_up(*cell.experiment, {*cell.variant, cell.point, device, seed, files, verification, memo});
}

inline bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace cllab::test

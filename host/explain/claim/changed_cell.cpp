#include "explain/claim/changed_cell.hpp"

#include <algorithm>

#include "explain/kernel_text.hpp"
#include "model/work.hpp"

namespace cllab::explain {
namespace {

/// Of every amount a part; what each work-item passes or waits for is the same.
model::WorkInfo part_of(model::WorkInfo work, double part) {
    for (double* amount : {&work.bytes, &work.flops, &work.atomics, &work.groups, &work.local_bytes,
                           &work.local_atomics, &work.instructions})
        *amount *= part;
    if (!work.shared) work.footprint *= part;
    if (work.read) *work.read *= part;
    return work;
}

}  // namespace

std::variant<HalfItems, std::string> half_of_items(const Unchanged& of) {
    if (!of.setup.steps.empty() || of.setup.slope)
        return "an operation has several launches, or the time is per step of a loop";
    if (of.setup.local.dims == 0) return "the groups are the driver's choice";
    if (asks_for(of.built.text, of.built.options, {"get_global_size", "get_num_groups"}))
        return "its text asks how many work-items there are";
    auto global = of.setup.global;
    for (std::size_t d = 3; d-- > 0 && global.count() == of.setup.global.count();) {
        const auto local = std::max<std::size_t>(1, of.setup.local.size[d]), groups = global.size[d] / local;
        if (groups >= 2 && groups % 2 == 0) global.size[d] = groups / 2 * local;
    }
    const auto before = static_cast<double>(of.setup.global.count()), after = static_cast<double>(global.count());
    if (after == before) return "no dimension has an even number of groups";
    // Each of a GPU's units holds some thousand work-items at once, and each core takes some groups one after the
    // other.
    constexpr double items_of_unit = 8192, groups_of_core = 4;
    const double units = std::max(1u, of.device.compute_units);
    if (of.device.is_gpu() ? after < items_of_unit * units
                           : after / static_cast<double>(of.setup.local.count()) < groups_of_core * units)
        return "half of the groups would leave units idle";
    const auto halved = std::make_shared<model::Experiment>(*of.cell.experiment);
    halved->setup = [base = of.cell.experiment->setup, global](const model::Request& request, model::Params& params) {
        auto out = base(request, params);
        out.global = global;
        // Half of the results are not there. That the kernel is right was shown of the cell as it is.
        out.check = [](const model::Buffers&) { return std::optional<std::string>(); };
        out.reference.reset();
        out.proof = {};
        out.know_code = {};
        return out;
    };
    ChangedCell changed{of.cell, halved};
    changed.cell.experiment = halved.get();
    return HalfItems{std::move(changed), part_of(of.record.work, after / before), before, after};
}

}  // namespace cllab::explain

#include "app/claims/half_items.hpp"

#include "app/claims/kernel_text.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {
namespace {

/// Of every amount half; what each work-item passes or waits for is the same.
model::WorkInfo part_of(model::WorkInfo work, double part) {
    for (double* amount : {&work.bytes, &work.flops, &work.atomics, &work.groups, &work.local_bytes,
                           &work.local_atomics, &work.instructions})
        *amount *= part;
    if (!work.shared) work.footprint *= part;
    if (work.read) *work.read *= part;
    return work;
}

}  // namespace

std::variant<HalfItems, std::string> half_of_items(const model::Cell& cell, const model::Setup& setup,
                                                   const model::Record& record, const run::Settings& settings,
                                                   const model::Device& device) {
    if (!setup.steps.empty() || setup.slope)
        return "an operation has several launches, or the time is per step of a loop";
    if (setup.local.dims == 0) return "the groups are the driver's choice";
    const auto built = run::build_text(cell, setup, device, settings.cl_dir, settings.build_options);
    if (asks_for(built.text, built.options, {"get_global_size", "get_num_groups"}))
        return "its text asks how many work-items there are";
    auto global = setup.global;
    std::size_t before = 0, after = 0;
    for (std::size_t d = 3; d-- > 0 && after == 0;) {
        const auto local = std::max<std::size_t>(1, setup.local.size[d]), groups = global.size[d] / local;
        if (groups < 2 || groups % 2 != 0) continue;
        before = global.count();
        global.size[d] = groups / 2 * local;
        after = global.count();
    }
    if (after == 0) return "no dimension has an even number of groups";
    const auto units = std::max(1u, device.compute_units);
    const double groups = static_cast<double>(after) / static_cast<double>(setup.local.count());
    if (device.is_gpu() ? static_cast<double>(after) < 8192.0 * units : groups < 4.0 * units)
        return "half of the groups would leave units idle";
    const auto changed = std::make_shared<model::Experiment>(*cell.experiment);
    changed->setup = [base = cell.experiment->setup, global](const model::Request& request, model::Params& params) {
        auto out = base(request, params);
        out.global = global;
        // Half of the results are not there. That the kernel is right was shown of the cell as it is.
        out.check = [](const model::Buffers&) { return std::optional<std::string>(); };
        out.reference.reset();
        out.proof = {};
        out.know_code = {};
        return out;
    };
    HalfItems out{changed, cell, part_of(record.work, static_cast<double>(after) / static_cast<double>(before)),
                  static_cast<double>(before), static_cast<double>(after)};
    out.cell.experiment = changed.get();
    return out;
}

}  // namespace cllab::app

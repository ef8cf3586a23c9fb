#include "explain/changed_cell.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "explain/kernel_text.hpp"
#include "inspect/isa/nvidia.hpp"
#include "model/work.hpp"

namespace cllab::explain {
namespace {

using Change = std::function<void(model::Setup&)>;

ChangedCell with_setup(const Unchanged& of, const Change& change) {
    const auto changed = std::make_shared<model::Experiment>(*of.cell.experiment);
    changed->setup = [base = of.cell.experiment->setup, change](const model::Request& request, model::Params& params) {
        auto out = base(request, params);
        change(out);
        return out;
    };
    ChangedCell out{of.cell, changed};
    out.cell.experiment = changed.get();
    return out;
}

/// `add` gives its set-ups the arguments of the parameters.
std::optional<ChangedCell> with_text(const Unchanged& of, const std::string& parameters, const std::string& statements,
                                     const Change& add) {
    if (!of.setup.steps.empty() || of.built.options.find("-x cuda") != std::string::npos) return std::nullopt;
    const auto text =
        with_parameters(of.built.text, {of.cell.experiment->entry(*of.cell.variant), "KERNEL"}, parameters, statements);
    if (!text) return std::nullopt;
    auto out = with_setup(of, add);
    out.cell.options.clear();  // they are among those that are stored
    out.cell.stored = std::make_shared<const model::StoredBuild>(model::StoredBuild{*text, of.built.options});
    return out;
}

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

unsigned Unchanged::waves(const model::Record& code, std::size_t more_local_bytes) const {
    if (device.compute_capability == 0 || !code.code.registers || record.work.group <= 0) return 0;
    const auto local =
        static_cast<std::int64_t>(model::local_bytes_of(setup)) + static_cast<std::int64_t>(more_local_bytes);
    const auto found = inspect::nvidia_occupancy("sm_" + std::to_string(device.compute_capability),
                                                 {*code.code.registers, 0, code.code.local_bytes.value_or(0) + local,
                                                  32, static_cast<std::size_t>(record.work.group)});
    return found ? found->waves : 0;
}

std::variant<Residency, std::string> plan_ballast(const Unchanged& of) {
    const auto& record = of.record;
    const auto& device = of.device;
    if (!device.is_gpu()) return "a CPU runs one group a core at a time";
    if (device.compute_capability == 0 || !record.code.registers)
        return "the number of resident groups per unit is known on NVIDIA only, where the compiler reports registers";
    if (record.work.group < 1 || record.work.launches > 1)
        return "an operation has several launches, or the driver chooses its groups";
    const auto before = of.waves(record);
    if (before == 0) return "the number of groups that a unit of this processor holds is not known";
    if (record.work.groups * std::ceil(record.work.group / 32) < 2.0 * before * device.compute_units)
        return "all groups, or nearly all, are resident at once";
    const auto own = record.code.local_bytes.value_or(0) + static_cast<std::int64_t>(model::local_bytes_of(of.setup));
    constexpr std::size_t step = 1024;
    for (std::size_t bytes = step; bytes + static_cast<std::size_t>(own) <= device.local_bytes; bytes += step) {
        const auto after = of.waves(record, bytes);
        if (after > 0 && 4 * after <= 3 * before) return Residency{before, after, bytes};
    }
    return "with the most local memory that a group may ask for, a unit still holds more than three quarters of its " +
           std::to_string(before) + " waves";
}

std::optional<ChangedCell> with_ballast(const Unchanged& of, std::size_t bytes) {
    if (model::local_bytes_of(of.setup) + static_cast<double>(bytes) > static_cast<double>(of.device.local_bytes))
        return std::nullopt;
    return with_text(of, "__local uint* cllab_ballast", "", [bytes](model::Setup& out) {
        out.args.push_back(model::Local{"cllab_ballast", bytes});
    });
}

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
    auto changed = with_setup(of, [global](model::Setup& out) {
        out.global = global;
        // Half of the results are not there. That the kernel is right was shown of the cell as it is.
        out.check = [](const model::Buffers&) { return std::optional<std::string>(); };
        out.reference.reset();
        out.proof = {};
        out.know_code = {};
    });
    return HalfItems{std::move(changed), part_of(of.record.work, after / before), before, after};
}

std::optional<ChangedCell> with_arithmetic(const Unchanged& of, unsigned operations) {
    if (of.setup.slope) return std::nullopt;
    // Four chains, of which each multiply-add waits for the one before. All stay positive, and the store would need a
    // negative sum. A number of 64 bits would take vectors of twice the width to become a float.
    std::string text =
        " float cllab_0 = (float)((int)get_global_id(0) & 0xffff) * cllab_factor, cllab_1 = cllab_0 + 1.0f, "
        "cllab_2 = cllab_0 + 2.0f, cllab_3 = cllab_0 + 3.0f;";
    for (unsigned i = 0; i < operations; ++i) {
        const auto name = "cllab_" + std::to_string(i % 4);
        text += " " + name + " = fma(" + name + ", cllab_factor, 0.5f);";
    }
    text += " if (cllab_0 + cllab_1 + cllab_2 + cllab_3 == cllab_never) cllab_sink[get_global_id(0)] = cllab_0;";
    const std::size_t bytes = sizeof(float) * of.setup.global.size[0];
    return with_text(
        of, "__global float* cllab_sink, float cllab_factor, float cllab_never", text,
        [bytes, operations](model::Setup& out) {
            out.args.push_back(model::Scratch{"cllab_sink", bytes});
            out.args.push_back(model::value("cllab_factor", 0.75f));
            out.args.push_back(model::value("cllab_never", -1.0f));
            // That they stand in the machine code is looked at, and the cell collapsed where they do not.
            out.declared.push_back({model::Declared::What::multiply_add, static_cast<double>(operations), 32});
        });
}

}  // namespace cllab::explain

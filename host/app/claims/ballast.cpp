#include "app/claims/ballast.hpp"

#include <algorithm>
#include <cmath>

#include "inspect/isa/nvidia.hpp"

namespace cllab::app {
namespace {

constexpr const char* parameter = "cllab_ballast";

}  // namespace

std::size_t local_arguments(const model::Setup& setup) {
    std::size_t out = 0;
    for (const auto& argument : setup.args)
        if (const auto* local = std::get_if<model::Local>(&argument)) out += local->size_bytes;
    return out;
}

std::string ballast_parameter() { return std::string("__local uint* ") + parameter; }

unsigned waves_of(const model::Record& record, const model::Device& device, std::size_t arguments,
                  std::size_t ballast) {
    if (device.compute_capability == 0 || !record.code.registers || record.work.group <= 0) return 0;
    const inspect::KernelNeeds needs{
        *record.code.registers, 0, record.code.local_bytes.value_or(0) + static_cast<std::int64_t>(arguments + ballast),
        32, static_cast<std::size_t>(record.work.group)};
    const auto found = inspect::nvidia_occupancy("sm_" + std::to_string(device.compute_capability), needs);
    return found ? found->waves : 0;
}

std::variant<Residency, std::string> plan_ballast(const model::Record& record, const model::Device& device,
                                                  std::size_t arguments) {
    if (!device.is_gpu()) return "a CPU runs one group a core at a time";
    if (device.compute_capability == 0 || !record.code.registers)
        return "the number of resident groups per unit is known on NVIDIA only, where the compiler reports registers";
    const auto group = static_cast<std::size_t>(record.work.group);
    if (group == 0 || record.work.launches > 1)
        return "an operation has several launches, or the driver chooses its groups";
    const auto local = record.code.local_bytes.value_or(0) + static_cast<std::int64_t>(arguments);
    const auto waves = [&](std::size_t bytes) { return waves_of(record, device, arguments, bytes); };
    const auto before = waves(0);
    if (before == 0) return "the number of groups that a unit of this processor holds is not known";
    const double wave_of_group = std::max(1.0, std::ceil(record.work.group / 32));
    if (record.work.groups * wave_of_group < 2.0 * before * device.compute_units)
        return "all groups, or nearly all, are resident at once";
    constexpr std::size_t step = 1024;
    for (std::size_t bytes = step; bytes + static_cast<std::size_t>(local) <= device.local_bytes; bytes += step) {
        const auto after = waves(bytes);
        if (after > 0 && 4 * after <= 3 * before) return Residency{before, after, bytes};
    }
    return "with the most local memory that a group may ask for, a unit still holds at least " +
           std::to_string(before) + " waves";
}

std::optional<ChangedCell> with_ballast(const model::Cell& cell, const model::Setup& setup,
                                        const run::Settings& settings, const model::Device& device, std::size_t bytes) {
    if (local_arguments(setup) + bytes > device.local_bytes) return std::nullopt;
    const auto add = [bytes](model::Setup& out) { out.args.push_back(model::Local{parameter, bytes}); };
    return with_changed_text(cell, setup, settings, device, ballast_parameter(), "", add);
}

}  // namespace cllab::app

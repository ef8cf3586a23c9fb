#include "app/request.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <random>
#include <set>

#include "core/error.hpp"
#include "device/quirks.hpp"
#include "explain/limiter.hpp"
#include "explain/limits.hpp"
#include "kernelfile/description.hpp"
#include "model/params.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {

model::RunInfo run_info(const Invocation& invocation) {
    static const std::string id = [] {
        std::random_device random;
        return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
    }();
    model::RunInfo out;
    out.id = id;
    out.label = invocation.label;
    out.driver_caches = device::cache_settings();
    return out;
}

run::Settings settings_of(const Invocation& invocation) {
    run::Settings out;
    out.seed = invocation.seed;
    out.sampling_seconds = invocation.sampling_seconds;
    out.build_options = invocation.build_options;
    kernelfile::Description said;
    for (const auto& [option, value] : invocation.statements)
        if (option == "tolerance") kernelfile::parse_option(option, value, said);
    out.tolerance = said.tolerance;
    out.steps = invocation.steps;
    out.count_above = invocation.count_above;
    out.cl_dir = invocation.cl_dir;
    out.builds_ahead = out.cl_dir.empty();
    out.argv = invocation.argv;
    out.run = run_info(invocation);
    out.judge = explain::beyond_peak;
    out.name_limit = explain::limit_in_a_word;
    out.tool_seconds = std::min(out.tool_seconds, invocation.timeout_seconds / 2);
    return out;
}

void check_points(const run::RunRequest& request, const model::Device& device) {
    const auto& settings = request.settings;
    std::set<std::string> families;
    for (const auto& group : request.comparisons) {
        for (const auto& cell : group)
            if (families.insert(cell.experiment->family).second) run::kernel_source(*cell.experiment, *cell.variant, settings.cl_dir);
    }
    for (const auto& group : request.comparisons) {
        for (const auto& cell : group) {
            try {
                model::resolve(*cell.experiment, {*cell.variant, cell.point, device, settings.seed, settings.files});
            } catch (const Unsupported&) {
                // A limit of this device: the cell says so in its record.
            }
        }
    }
}

}  // namespace cllab::app

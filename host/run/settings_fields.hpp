// The one list of the fields of Settings. A copy of settings that is made field by field goes through it.
#pragma once

#include "run/request.hpp"

namespace cllab::run {

/// Calls `visit` with each field of the settings, in their order. A field that is missing in the list stops the build:
/// the list has a name for each member.
template <typename OfSettings, typename Visit>
void visit_fields(OfSettings& settings, const Visit& visit) {
#define CLLAB_FIELDS                                                                                                 \
    seed, measure, sampling_seconds, warm_seconds, tolerance, build_options, cl_dir, dumps, files, pictures, argv,   \
        run, arrangement, goes_on, ends, fresh_data, hot_seconds, core_models, tool_seconds, small_groups, cache,    \
        count_above, energy, steps, read_code, builds_ahead, limits, judge, name_limit
    auto& [CLLAB_FIELDS] = settings;
    const auto each = [&](auto&... field) { (visit(field), ...); };
    each(CLLAB_FIELDS);
#undef CLLAB_FIELDS
}

}  // namespace cllab::run

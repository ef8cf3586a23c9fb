#include "run/launch_once.hpp"

#include "model/params.hpp"
#include "run/cell/cell_state.hpp"
#include "run/kernel_source.hpp"

namespace cllab::run {
namespace {

using namespace model;

/// Chooses a work-group of up to 256 work-items that divides the global size, as drivers do.
void choose_group(const Extent& global, Extent& local, std::vector<std::string>& assumed) {
    constexpr std::size_t usual = 256;
    if (local.dims > 0 || global.dims == 0) return;
    local = global;
    std::size_t room = usual;
    for (unsigned i = 0; i < global.dims; ++i) {
        std::size_t size = room;
        while (size > 1 && global.size[i] % size != 0) --size;
        local.size[i] = size;
        room /= size;
    }
    assumed.push_back("groups of " + local.text() + ", chosen by the driver");
}

void build(CellState& state) {
    const auto from = build_text(state.cell, state.setup, state.session.facts(), state.settings);
    state.built = state.instruments.programs().build(from.text, from.options).get();
    if (state.built.ok) return;
    const auto first = first_error(name_lines(state.built.log, from.text));
    state.fail(Status::build_failed, device::error_name(state.built.code) + (first.empty() ? "" : ": " + first));
}

void choose_groups(Setup& setup, std::vector<std::string>& assumed) {
    choose_group(setup.global, setup.local, assumed);
    for (auto& step : setup.steps)
        if (auto* launch = std::get_if<Launch>(&step)) choose_group(launch->global, launch->local, assumed);
}

}  // namespace

LaunchedOnce launch_once(device::Session& session, const Settings& settings, const Cell& cell, const Device& as,
                         const std::function<void(const LaunchedOnce&)>& before,
                         const std::function<void(const Buffers&)>& after) {
    LaunchedOnce out;
    Kept results;
    Instruments instruments(session, results, std::nullopt, false);
    CellState state(session, instruments, cell, Order{}, settings, [](auto&&...) {});
    state.guarded([&] {
        if (const auto reason = missing_need(*cell.variant, as)) {
            state.fail(Status::unsupported, *reason);
            return;
        }
        state.setup = set_up(*cell.experiment,
                             {*cell.variant, cell.point, as, settings.seed, settings.files, 0, &instruments.data()});
        choose_groups(state.setup, out.assumed);
        build(state);
        if (state.record.status != Status::ok) return;
        Operation operation(session, state.built, state.setup, cell.experiment->entry(*cell.variant));
        operation.load(state.setup, settings.seed);
        if (state.setup.slope) {
            operation.set_trips(state.setup.slope->low);
            out.assumed.push_back(state.setup.slope->argument + " = " + std::to_string(state.setup.slope->low) +
                                  ", the lower of two trip counts");
        }
        out.launches = operation.launches_in_operation();
        if (before) before(out);
        operation.enqueue();
        session.wait();
        if (!after) return;
        Buffers left;
        if (const auto outside = operation.read_back(left))
            state.fail(Status::wrong_result, *outside);
        else
            after(left);
    });
    out.status = state.record.status;
    out.reason = state.record.reason;
    return out;
}

}  // namespace cllab::run

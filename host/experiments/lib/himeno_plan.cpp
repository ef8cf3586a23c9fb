#include "experiments/lib/family.hpp"
#include "experiments/lib/himeno.hpp"

namespace cllab::model::himeno {
namespace {

using lib::divide_up, lib::is_one_of, lib::round_up;

std::string automatic_size(const Device& device) {
    if (device.implementation == Implementation::oclgrind) return "XXS";
    if (device.is_cpu()) return "S";
    // L is the smallest size that no cache of today's GPUs holds: 1.9 GB, plus the host's copies.
    return device.global_bytes >= (16ull << 30) ? "L" : device.global_bytes >= (2ull << 30) ? "M" : "S";
}

/// Default work-group of a variant; x is along k.
Extent automatic_local(const std::string& variant, const Plan& plan, const Device& device) {
    if (plan.body == Body::rows) return Extent(1, 1, 1);
    const std::size_t most = std::max<std::size_t>(1, device.max_group);
    const std::size_t across = plan.grid.k / plan.lanes;
    if (is_one_of(variant, {"transfers", "region", "whole", "data", "resident"}))
        return most >= 256 ? Extent(16, 16, 1)
                           : Extent(most, 1, 1);  // a compiler's choice for two loops of unknown length
    if (device.is_cpu()) return Extent(std::min({across, most, std::size_t{256}}), 1, 1);
    if (is_one_of(variant, {"schedule", "padded"})) return Extent(std::min({across, most, std::size_t{256}}), 1, 1);
    const std::size_t x = std::min({across, most, std::size_t{plan.lanes > 1 ? 32u : 64u}});
    return Extent(x, std::max<std::size_t>(1, std::min<std::size_t>(4, most / x)), 1);
}

std::size_t automatic_planes(const Plan& plan, const Device& device) {
    const std::size_t interior = plan.grid.i - 2;
    // On a CPU, four work-items per core even out the scheduling. On a GPU, the first two planes of a march are read
    // twice. So a longer march is better while there are enough work-items to fill the device several times.
    if (plan.body == Body::rows) return divide_up(interior, std::size_t{4} * device.compute_units);
    const std::size_t columns = plan.grid.j * plan.grid.k / plan.lanes;
    const std::size_t wanted_items = std::size_t{device.compute_units} * 4096;
    return std::clamp<std::size_t>(columns * interior / wanted_items, std::min<std::size_t>(8, interior), interior);
}

std::size_t automatic_lanes(const Device& device) {
    // Oclgrind 21.10 crashes on a shuffle of vectors when it looks for uninitialized values.
    if (device.implementation == Implementation::oclgrind) return 1;
    return device.is_cpu() ? 8 : 4;
}

void choose_layout(Plan& plan, const Request& request, Params& params) {
    const auto& variant = request.variant.name;
    if (variant == "wide") plan.lanes = params.count("lanes", automatic_lanes(request.device));
    if (is_one_of(variant, {"local", "registers", "wide"})) {
        plan.planes = std::min(params.count("planes", automatic_planes(plan, request.device)), plan.grid.i - 2);
        params.record("planes", plan.planes);
    }
    if (variant == "schedule") {
        // The article's grid of 16x126 groups: 16 along i, with one row each.
        plan.planes = std::min(params.count("planes", divide_up(plan.grid.i - 2, std::size_t{16})), plan.grid.i - 2);
        params.record("planes", plan.planes);
    }
    if (variant == "swap") {
        plan.start = params.count("start");
        plan.order = params.text("order");
    }
    plan.sections = variant == "region";
    // The static C version has one more word per row than the problem; no section contains it. Step 7 of the article
    // extends this to 32 words.
    plan.row = plan.grid.k + params.count("pad", !plan.copy || plan.sections ? 0 : variant == "padded" ? 32 : 1);
    if (plan.row % plan.lanes != 0)
        throw Unsupported("a row has ", plan.row, " words (axis 'pad'); it must have a multiple of ", plan.lanes);
}

void choose_groups(Plan& plan, const Request& request, Params& params) {
    const auto& device = request.device;
    const auto& variant = request.variant.name;
    plan.local = params.shape("local", automatic_local(variant, plan, device));
    plan.local.dims = 3;
    params.record("local", plan.local.text());
    lib::require_group(device, plan.local.count());  // every kernel states its group (reqd_work_group_size)
    if (plan.body == Body::rows && plan.local.count() != 1)
        throw Unsupported("axis 'local' is ", plan.local.text(), "; himeno_wide needs 1 on a CPU");
    const auto& l = plan.local.size;
    const std::size_t i = plan.grid.i - 2, j = plan.grid.j - 2, k = plan.grid.k / plan.lanes - (plan.first_k ? 2 : 0);
    if (plan.body == Body::local) {
        plan.planes = round_up(plan.planes, l[2]);  // a group makes whole tiles
        params.record("planes", plan.planes);
        const std::size_t tile =
            (l[0] + 2) * (l[1] + 2) * (l[2] == 1 ? 4 : l[2] + 2) * sizeof(float) + plan.local.count() * sizeof(float);
        if (tile > device.local_bytes && device.local_bytes > 0)
            throw Unsupported("a tile for local size ", plan.local.text(), " takes ", tile, " bytes; the device has ",
                              device.local_bytes, " bytes of local memory");
    }
    if (plan.body == Body::rows) {
        plan.global = Extent(divide_up(i, plan.planes), 1, 1);
    } else {
        const std::size_t groups_of_planes = divide_up(i, plan.planes);
        plan.global = Extent(1, 1, 1);
        for (unsigned d = 0; d < 3; ++d) {
            const char axis = plan.order[d];
            plan.global.size[d] = axis == 'k'                ? round_up(k, l[d])
                                  : axis == 'j'              ? round_up(j, l[d])
                                  : plan.body == Body::local ? groups_of_planes * l[d]
                                                             : round_up(groups_of_planes, l[d]);
        }
    }
    plan.groups = plan.global.count() / plan.local.count();
    plan.gosa_items = std::min<std::size_t>(device.is_cpu() ? 64 : 1024, device.max_group);

    // Every term of gosa is positive. So each addition on the longest path costs at most half a unit: 2^-24.
    const auto levels = [](std::size_t n) {
        double out = 0;
        for (; n > 1; n = (n + 1) / 2) ++out;
        return out;
    };
    double additions = 2 + levels(plan.local.count());
    additions += plan.body == Body::rows ? static_cast<double>(plan.grid.k) / static_cast<double>(plan.lanes)
                                         : static_cast<double>(plan.planes);
    additions += levels(plan.lanes);
    plan.has_double = device.fp64;
    if (!device.fp64) {
        additions += static_cast<double>(divide_up(plan.groups, plan.gosa_items)) + levels(plan.gosa_items);
        if (plan.body == Body::rows) additions += static_cast<double>(plan.planes * plan.grid.j);
    }
    plan.gosa_tolerance = plan.contract ? 2e-3 : additions * 0x1p-24;
}

void check_room(const Plan& plan, const Device& device) {
    const std::size_t largest = plan.field_bytes() * (plan.body == Body::interleaved ? 4 : 1);
    lib::require_room(device, plan.body == Body::interleaved ? "a" : "p", largest);
    if (device.global_bytes > 0 && 14 * plan.field_bytes() > device.global_bytes)
        throw Unsupported("size ", plan.size, " needs ", format_bytes(14 * plan.field_bytes()), "; the device has ",
                          format_bytes(device.global_bytes));
}

}  // namespace

Plan plan_of(const Request& request, Params& params) {
    const auto& variant = request.variant.name;
    Plan plan;
    plan.size = params.text("size", automatic_size(request.device));
    plan.grid = grid_of(plan.size);
    plan.prescribed = params.text("data") == "prescribed";
    plan.contract = params.text("contract") == "on";
    plan.copy = is_one_of(variant, {"transfers", "region", "whole", "data", "resident", "schedule", "padded"});
    plan.first_k = plan.copy ? 1 : 0;
    if (variant == "transfers") plan.transfers = Transfers::every_iteration;
    if (variant == "data") plan.transfers = Transfers::residual_only;
    if (is_one_of(variant, {"region", "whole"})) {
        plan.transfers = Transfers::around_loop;
        plan.sweeps = params.count("sweeps");
    }
    if (variant == "interleaved") plan.body = Body::interleaved;
    if (variant == "local") plan.body = Body::local;
    if (variant == "registers") plan.body = Body::march;
    if (variant == "wide") plan.body = request.device.is_cpu() ? Body::rows : Body::march;
    choose_layout(plan, request, params);
    choose_groups(plan, request, params);
    check_room(plan, request.device);
    if (variant == "region") plan.piece_bytes = (plan.grid.j - 2) * (plan.grid.k - 2) * sizeof(float);
    return plan;
}

}  // namespace cllab::model::himeno

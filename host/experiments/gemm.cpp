// gemm: C += A B from one element per work-item to double-buffered register tiles. The register-reuse lesson is from
// Citadel's study of Turing (2019), where the order of the multiply-adds was worth 12 %.
#include <tuple>

#include "experiments/lib/gemm_reference.hpp"
#include "experiments/lib/sizes.hpp"

namespace cllab::model {
namespace {

using namespace lib;

struct Sizes {
    std::size_t m = 0, n = 0, k = 0, tile_k = 0;
};

bool has_register_tiles(const Variant& variant) {
    return variant.name == "tile8" || variant.name == "buffered" || variant.name == "serpentine";
}

Sizes sizes_of(const Request& request, Params& params) {
    const auto& device = request.device;
    const auto m = params.integer("m", by_scale(device, 40, 512, 4096));
    const auto n = params.integer("n", m), k = params.integer("k", m);
    const std::size_t tile_k = has_register_tiles(request.variant) ? params.count("tile_k") : 0;
    const std::uint64_t most = 1ull << 40;
    require_room(device, "a", 4 * product("the number of elements of A", {m, k}, most));
    require_room(device, "b", 4 * product("the number of elements of B", {k, n}, most));
    require_room(device, "c", 4 * product("the number of elements of C", {m, n}, most));
    if ((tile_k > 0 || request.variant.name == "local") && device.max_group < 256)
        throw Unsupported("a tile takes a work-group of 256; the device takes at most " + std::to_string(device.max_group));
    return {static_cast<std::size_t>(m), static_cast<std::size_t>(n), static_cast<std::size_t>(k), tile_k};
}

Setup setup(const Request& request, Params& params) {
    const auto [m, n, k, tile_k] = sizes_of(request, params);
    const auto& device = request.device;
    const auto& variant = request.variant.name;
    static Recent<std::tuple<std::size_t, std::size_t, std::size_t, std::uint64_t>, gemm::Matrices> recent;
    const auto in = recent.get({m, n, k, request.seed}, [m = m, n = n, k = k, &request] {
        return gemm::random_matrices(m, n, k, request.seed);
    });

    Setup out;
    out.args = {Input{"a", in->a}, Input{"b", in->b}, InOut{"c", in->c, 4 * n}, value("m", static_cast<std::int32_t>(m)),
                value("n", static_cast<std::int32_t>(n)), value("k", static_cast<std::int32_t>(k))};
    if (variant == "naive") {
        const std::size_t y = device.max_group >= 256 ? 8 : 1;
        out.local = Extent(group_of(device, 32), y);
        out.global = Extent(round_up(n, out.local.size[0]), round_up(m, y));
    } else if (variant == "local") {
        out.local = Extent(16, 16);
        out.global = Extent(round_up(n, 16), round_up(m, 16));
    } else if (variant == "vector") {
        out.local = Extent(1, 1);
        // Four work-items a compute unit, for cores that are not equally free: over strips of columns as far as these go.
        const std::size_t items = 4ull * device.compute_units, columns = std::min(divide_up(n, 16), items);
        out.global = Extent(columns, std::min(divide_up(items, columns), divide_up(m, 6)));
    } else {
        out.local = Extent(256, 1);
        out.global = Extent(divide_up(n, 128) * 256, divide_up(m, 128));
        const bool whole = m % 128 == 0 && n % 128 == 0 && k % tile_k == 0;
        const bool aligned = n % 4 == 0 && k % 4 == 0;
        out.defines = {"TILE_K=" + std::to_string(tile_k), "GEMM_ALIGNED=" + std::to_string(aligned),
                       "GEMM_WHOLE=" + std::to_string(whole)};
        // ptxas takes 130 registers when left alone, and two groups of 256 share 65536: at 128 both are resident, without
        // a spill at depth 8 (ptxas 13.0 for sm_90).
        if (device.implementation == Implementation::nvidia && tile_k == 8) out.defines.push_back("-cl-nv-maxrregcount=128");
    }
    const auto dm = static_cast<double>(m), dn = static_cast<double>(n), dk = static_cast<double>(k);
    out.work = {4 * (dm * dk + dk * dn + 2 * dm * dn), 2 * dm * dn * dk, 0};
    out.accumulates = true;
    out.check = [in](const Buffers& buffers) {
        return gemm::check(*in, buffers.as<float>("c"), buffers.poison_seed, buffers.operations);
    };
    return out;
}

}  // namespace

Experiment describe_gemm() {
    Experiment out;
    out.family = "gemm";
    out.question = "What do tiles in local memory, tiles in registers, double buffering and the order of the FMAs each add to C += A B?";
    const auto size = [](const char* name, const char* meaning, double most) {
        return Axis{name, "", meaning, Axis::Kind::integer, {"auto"}, {}, 1, most, true};
    };
    out.axes = {size("m", "rows of A and C; auto is 4096, on a CPU 512", 1 << 24),
                size("n", "columns of B and C; auto is m", 1 << 24),
                // Above, not even sums of products of -1, 0 and 1 would be exact in float, and the check needs that.
                size("k", "columns of A, rows of B; auto is m", 1 << 23),
                {"tile_k", "", "depth of the tiles", Axis::Kind::choice, {"8"}, {"8", "16"}}};
    out.axes.back().tune = {"8", "16"};
    out.axes.back().only = {"tile8", "buffered", "serpentine"};
    out.variants = {
        {"naive", "One element of C per work-item, operands straight from memory."},
        {"local", "A 16x16 work-group shares tiles of A and B in local memory."},
        {"tile8", "8x8 elements of C in the registers of each work-item, 128x128 per work-group, 128-bit loads."},
        {"buffered", "tile8 with two tiles: one is multiplied while the next is fetched."},
        {"serpentine", "buffered with every second row of multiply-adds in reverse order, so that operands repeat."},
        {"vector", "6x16 elements of C in vector registers, strips of B packed: the form for a CPU.", {}, {"cpu"}},
    };
    out.setup = setup;
    out.resolve = [](const Request& request, Params& params) { sizes_of(request, params); };
    return out;
}

}  // namespace cllab::model

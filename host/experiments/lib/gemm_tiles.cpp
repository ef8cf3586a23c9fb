#include "experiments/lib/gemm_tiles.hpp"

#include <algorithm>

#include "experiments/lib/setups.hpp"

namespace cllab::model::gemm {
namespace {

using namespace lib;

constexpr Tiles streamed{128, 128};

constexpr std::size_t registers = 65536;  ///< of a compute unit of NVIDIA's

std::size_t units(const Device& device) { return std::max(1u, device.compute_units); }

/// Work-groups of a stream: as many as are resident, at 128 registers a work-item, and with 128 sums a work-item one of
/// 256 per compute unit; no more than there are steps of k.
std::size_t stream_groups(const Sizes& sizes, const Tiles& tiles, const Device& device) {
    const auto resident = tiles.item_n > 8 ? 1 : std::max<std::size_t>(1, registers / 128 / tiles.group());
    return std::min(units(device) * resident, sizes.tiles_of_c(tiles) * divide_up(sizes.k, sizes.tile_k));
}

/// The part of C in what the compute units could make while the busiest one does its tiles: the rest is idle, or past
/// C's edges.
double useful(const Sizes& sizes, const Tiles& tiles, const Device& device) {
    return static_cast<double>(sizes.m * sizes.n) /
           static_cast<double>(round_up(sizes.tiles_of_c(tiles), units(device)) * tiles.m * tiles.n);
}

/// The largest tiles that leave little of the device unused, because they do more multiply-adds per value read. Where
/// none do, a stream, which leaves nothing idle but adds to C atomically: it beats half tiles unless these leave next
/// to nothing unused, and pays where each unit has two steps of k and more. Else the smallest. It is no best choice
/// everywhere: of six on an H100 another took 13 % less at 700 and 6 % less at 5000. `cllab tune gemm_pipelined` tries
/// them all.
Tiles usual_tiles(const Sizes& sizes, const Device& device, bool may_stream) {
    // 128 sums a work-item, which not every register file holds. Float by float they take longer to get to C than
    // smaller tiles do.
    const bool large = device.implementation == Implementation::nvidia && sizes.aligned();
    for (const auto& [tiles, least] :
         {std::pair{Tiles{256, 128, 16}, large ? 0.9 : 2}, {Tiles{128, 128}, 0.9}, {Tiles{64, 128}, 0.95}})
        if (tiles.group() <= device.max_group_promised && useful(sizes, tiles, device) >= least) return tiles;
    if (may_stream && streamed.group() <= device.max_group_promised &&
        sizes.tiles_of_c(streamed) * divide_up(sizes.k, sizes.tile_k) >= 2 * units(device))
        return {128, 128, 8, 1, true};
    return {64, 64};
}

/// Teams that make a group of 256 work-items, eight warps, of it: with fewer a unit waits for local memory. The tiles
/// in local memory grow with them, and stay within 48 KiB.
std::size_t usual_slices(const Sizes& sizes, const Tiles& tiles, const Device& device) {
    const auto group = std::min<std::size_t>(256, device.max_group_promised);
    return std::clamp<std::size_t>(std::min(group / tiles.group(), 32 / sizes.tile_k), 1, 4);
}

/// Copies A and B to where whole tiles fill them, and has the copies multiplied.
void add_packing(Setup& out, const Sizes& sizes) {
    const auto m = sizes.whole_m(), n = sizes.whole_n(), k = sizes.whole_k();
    out.args.emplace_back(Scratch{"packed_a", m * k * sizeof(float), k * sizeof(float)});
    out.args.emplace_back(Scratch{"packed_b", k * n * sizeof(float), n * sizeof(float)});
    for (const auto& [name, size] : {std::pair{"whole_m", m}, {"whole_n", n}, {"whole_k", k}})
        out.args.emplace_back(value(name, static_cast<std::int32_t>(size)));
    constexpr std::size_t rows_of_item = 8;  // PACK of the kernel
    const Extent all(round_up(std::max(k, n), 32), round_up(divide_up(std::max(m, k), rows_of_item), 8), 2);
    out.steps = {launch("pack", "gemm_pack", all, Extent(32, 8, 1), {"a", "b", "packed_a", "packed_b", "m", "n", "k"}),
                 launch("multiply", "", out.global, out.local,
                        {"packed_a", "packed_b", "c", "m", "n", "whole_k", "whole_m", "whole_n"})};
}

/// Whether to keep the compiler to 128 registers a work-item. Left alone, ptxas takes 129 to 146, and one group fewer
/// is resident: where there are so many groups, they end in bunches, and a unit that takes a bunch more is the last by
/// far (1500 cubed on an H200: 233 us without the limit, 195 with it). Small tiles of copies begin one after the other,
/// and the limit costs 5 %.
bool limits_registers(const Sizes& sizes, const Device& device) {
    const auto& tiles = sizes.tiles;
    if (device.implementation != Implementation::nvidia || tiles.item_n > 8) return false;
    if (tiles.stream) return true;
    const auto elements = tiles.m * tiles.n;
    const bool gains =
        elements <= 64 * 64 ? !sizes.packed : elements < 128 * 128 || sizes.tile_k == 16 || !sizes.whole();
    return gains && sizes.tiles_of_c(tiles) > device.compute_units * (registers / 136 / tiles.group());
}

void require_possible(const Tiles& tiles, const Device& device) {
    const auto what = "tiles of " + tiles.name() + " in " + std::to_string(tiles.slices) + " slices take ";
    if (tiles.stream && tiles.slices > 1)
        throw Unsupported(
            "the k of streamed tiles is shared by work-groups, not by teams of one: slices can only be 1");
    if (tiles.group() * 8 * tiles.item_n > 32768)
        throw Unsupported(what + std::to_string(tiles.group() * tiles.item_n / 32) +
                          " KiB of registers for their sums alone; 128 KiB are the most");
    if (tiles.group() > device.max_group_promised)
        throw Unsupported(what + "a work-group of " + std::to_string(tiles.group()) + "; the device takes at most " +
                          std::to_string(device.max_group_promised));
}

}  // namespace

void choose_tiles(Sizes& sizes, const Device& device, Params& params) {
    // In smaller matrices the copies and one more launch save nothing (`cllab run gemm_pipelined --axis m=129,193
    // --axis pack=0,1`; on an H200 they cost 2 % at 129 and save 12 % at 193).
    constexpr std::size_t least_packed = 192;
    const bool packs = !sizes.aligned() && std::min({sizes.m, sizes.n, sizes.k}) >= least_packed;
    sizes.packed = params.text("pack", packs ? "1" : "0") == "1";

    const auto may_be = [&](const char* axis, const std::string& value) {
        return params.is_auto(axis) || params.text(axis) == value;
    };
    const bool may_stream =
        device.implementation == Implementation::nvidia && may_be("slices", "1") && may_be("tile", streamed.name());
    auto usual = usual_tiles(sizes, device, may_stream);
    auto& tiles = sizes.tiles;
    tiles.stream = params.text("schedule", usual.stream ? "stream" : "tiles") == "stream";
    if (tiles.stream != usual.stream) usual = tiles.stream ? streamed : usual_tiles(sizes, device, false);
    const auto tile = params.text("tile", usual.name());
    const auto x = tile.find('x');
    tiles.m = std::stoul(tile.substr(0, x));
    tiles.n = std::stoul(tile.substr(x + 1));
    tiles.item_n = tiles.m * tiles.n > 128 * 128 ? 16 : 8;
    tiles.slices = params.count("slices", tiles.stream ? 1 : usual_slices(sizes, tiles, device));
    require_possible(tiles, device);
    if (sizes.packed) {
        require_room(device, "packed_a", 4 * sizes.whole_m() * sizes.whole_k());
        require_room(device, "packed_b", 4 * sizes.whole_k() * sizes.whole_n());
    }
}

void launch_tiles(Setup& out, const Sizes& sizes, const Device& device, bool pipelined) {
    const auto& tiles = sizes.tiles;
    out.local = Extent(tiles.group(), 1);
    out.global = Extent(divide_up(sizes.n, tiles.n) * tiles.group(), divide_up(sizes.m, tiles.m));
    out.defines = defines({{"TILE_M", tiles.m},
                           {"TILE_N", tiles.n},
                           {"TILE_K", sizes.tile_k},
                           {"ITEM_N", tiles.item_n},
                           {"SLICES", tiles.slices},
                           {"GEMM_ALIGNED", sizes.aligned()},
                           {"GEMM_WHOLE", sizes.whole()},
                           {"GEMM_PACKED", sizes.packed}});
    if (pipelined) out.defines.push_back("PREFETCH=" + std::to_string(tiles.m * tiles.n >= 128 * 128));
    if (tiles.stream) {
        out.global = Extent(stream_groups(sizes, tiles, device) * tiles.group(), 1);
        out.defines.emplace_back("GEMM_STREAM=1");
        // sm_90 and PTX 8.1, which no clang up to 16 writes: not offline.
        if (sizes.aligned() && device.compute_capability >= 90 && !device.driver.starts_with("clang"))
            out.defines.emplace_back("GEMM_RED4=1");
    }
    if (limits_registers(sizes, device))
        for (const auto* limit : {"GEMM_LIMITED=1", "-cl-nv-maxrregcount=128"}) out.defines.emplace_back(limit);
    if (sizes.packed) add_packing(out, sizes);
}

}  // namespace cllab::model::gemm

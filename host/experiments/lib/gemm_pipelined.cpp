#include "experiments/lib/gemm_pipelined.hpp"

#include <algorithm>

namespace cllab::model::gemm {
namespace {

using namespace lib;

constexpr Tiles streamed{128, 128};

constexpr std::size_t registers = 65536;  ///< of a compute unit of NVIDIA's

/// Work-groups of a stream that a compute unit holds: at 128 registers a work-item, and with 128 sums a work-item one
/// of 256.
std::size_t resident(const Tiles& tiles) {
    return tiles.item_n > 8 ? 1 : std::max<std::size_t>(1, registers / 128 / tiles.group());
}

std::size_t tiles_of_c(const Sizes& sizes, const Tiles& tiles) {
    return divide_up(sizes.m, tiles.m) * divide_up(sizes.n, tiles.n);
}

/// Steps of k of all tiles.
std::size_t all_steps(const Sizes& sizes, const Tiles& tiles) {
    return tiles_of_c(sizes, tiles) * divide_up(sizes.k, sizes.tile_k);
}

std::size_t units(const Device& device) { return std::max(1u, device.compute_units); }

/// Whether at most a tenth of the compute units idle when each does one group after the other.
bool fills_units(const Sizes& sizes, const Tiles& tiles, const Device& device) {
    const auto groups = tiles_of_c(sizes, tiles);
    return 10 * groups >= 9 * round_up(groups, units(device));
}

/// Teams that make a group of 256 work-items, eight warps, of it: with fewer a unit waits for local memory. The
/// tiles in local memory grow with them, and stay within 48 KiB.
std::size_t usual_slices(const Sizes& sizes, const Tiles& tiles) {
    return std::clamp<std::size_t>(std::min(256 / tiles.group(), 32 / sizes.tile_k), 1, 4);
}

/// Larger tiles do more multiply-adds per value read. So: the largest that keep the units busy; where even the smaller
/// ones do not, a stream, which always does, if every unit gets two steps of k and more; else the smallest.
/// `cllab tune gemm_pipelined` tries them all.
Tiles usual_tiles(const Sizes& sizes, const Device& device, bool may_stream) {
    std::vector<Tiles> choices{{128, 128}, {64, 128}};
    // 128 sums a work-item, which not every register file holds. Float by float they take longer to get to C than
    // smaller tiles do.
    if (device.implementation == Implementation::nvidia && sizes.aligned()) choices.insert(choices.begin(), {256, 128});
    for (const auto& tiles : choices)
        if (fills_units(sizes, tiles, device)) return tiles;
    if (may_stream && all_steps(sizes, streamed) >= 2 * units(device)) {
        auto out = streamed;
        out.stream = true;
        return out;
    }
    return {64, 64};
}

/// Copies A and B to where whole tiles fill them, and has the copies multiplied.
void add_packing(Setup& out, const Sizes& sizes) {
    const auto m = sizes.whole_m(), n = sizes.whole_n(), k = sizes.whole_k();
    out.args.emplace_back(Scratch{"packed_a", m * k * sizeof(float), k * sizeof(float)});
    out.args.emplace_back(Scratch{"packed_b", k * n * sizeof(float), n * sizeof(float)});
    for (const auto& [name, size] : {std::pair{"whole_m", m}, {"whole_n", n}, {"whole_k", k}})
        out.args.emplace_back(value(name, static_cast<std::int32_t>(size)));
    constexpr std::size_t rows_of_item = 8;  // PACK of the kernel
    out.steps.emplace_back(
        Launch{"gemm_pack",
               Extent(round_up(std::max(k, n), 32), round_up(divide_up(std::max(m, k), rows_of_item), 8), 2),
               Extent(32, 8, 1),
               {"a", "b", "packed_a", "packed_b", "m", "n", "k"},
               {},
               "pack"});
    out.steps.emplace_back(Launch{{},
                                  out.global,
                                  out.local,
                                  {"packed_a", "packed_b", "c", "m", "n", "whole_k", "whole_m", "whole_n"},
                                  {},
                                  "multiply"});
}

/// Whether to keep the compiler to 128 registers a work-item: left alone, NVIDIA's takes 129 to 146, and one group
/// fewer is resident. Where there are no more groups than that anyway, the limit only costs.
bool limits_registers(const Sizes& sizes, const Device& device) {
    const auto& tiles = sizes.tiles;
    if (device.implementation != Implementation::nvidia || tiles.item_n > 8) return false;
    return tiles.stream || tiles_of_c(sizes, tiles) > units(device) * (registers / 136 / tiles.group());
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

    const bool free = params.is_auto("tile") && params.is_auto("slices");
    const bool may_stream = params.is_auto("schedule") ? free && device.implementation == Implementation::nvidia
                                                       : params.text("schedule") == "stream";
    auto usual = usual_tiles(sizes, device, may_stream);
    auto& tiles = sizes.tiles;
    tiles.stream = params.text("schedule", usual.stream ? "stream" : "tiles") == "stream";
    if (tiles.stream) usual = streamed;
    const auto tile = params.text("tile", usual.name());
    const auto x = tile.find('x');
    tiles.m = std::stoul(tile.substr(0, x));
    tiles.n = std::stoul(tile.substr(x + 1));
    tiles.item_n = tiles.m * tiles.n > 128 * 128 ? 16 : 8;
    tiles.slices = std::stoul(params.text("slices", std::to_string(tiles.stream ? 1 : usual_slices(sizes, tiles))));
    require_possible(tiles, device);
    if (sizes.packed) {
        require_room(device, "packed_a", 4 * sizes.whole_m() * sizes.whole_k());
        require_room(device, "packed_b", 4 * sizes.whole_k() * sizes.whole_n());
    }
}

void launch_pipelined(Setup& out, const Sizes& sizes, const Device& device) {
    const auto& tiles = sizes.tiles;
    launch_tiles(out, sizes);
    out.defines.push_back("PREFETCH=" + std::to_string(tiles.m * tiles.n >= 128 * 128));
    if (tiles.stream) {
        const auto groups = std::min(units(device) * resident(tiles), all_steps(sizes, tiles));
        out.global = Extent(groups * tiles.group(), 1);
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

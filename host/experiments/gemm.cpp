// gemm: C += A B from one element per work-item to double-buffered register tiles. The register-reuse lesson is from
// Citadel's study of Turing (2019), where the order of the multiply-adds was worth 12 %.
#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "experiments/lib/describe.hpp"
#include "experiments/lib/gemm_reference.hpp"
#include "experiments/lib/gemm_tiles.hpp"
#include "experiments/lib/native.hpp"
#include "experiments/lib/one_of.hpp"
#include "experiments/lib/setups.hpp"

namespace cllab::model::gemm_family {
namespace {

using namespace lib;

// Which variants have which axes.
const Texts with_tiles{"tile8", "buffered", "serpentine", "pipelined"}, with_gaps{"naive", "local"};

gemm::Sizes sizes_of(const Device& device, const std::string& variant, Params& params) {
    const auto m = params.count("m", by_scale<std::size_t>(device, 40, 512, 4096));
    const auto n = params.count("n", m), k = params.count("k", m);
    const std::size_t tile_k = is_one_of(variant, with_tiles) ? params.count("tile_k") : 0;
    const std::size_t pad = is_one_of(variant, with_gaps) ? params.count("pad") : 0;
    const std::uint64_t most = 1ull << 40;
    require_room(device, "a", 4 * product("the number of elements of A", {m, k + pad}, most));
    require_room(device, "b", 4 * product("the number of elements of B", {k, n + pad}, most));
    require_room(device, "c", 4 * product("the number of elements of C", {m, n + pad}, most));
    if ((tile_k > 0 || variant == "local") && device.max_group < 256)
        throw Unsupported("a tile takes a work-group of 256; the device takes at most " +
                          std::to_string(device.max_group));
    gemm::Sizes out{m, n, k, tile_k, pad};
    if (variant == "pipelined") gemm::choose_tiles(out, device, params);
    return out;
}

/// The matrix that lies between the gaps, or what is wrong with one of these.
std::optional<std::string> without_gaps(std::span<const float> found, std::size_t columns, std::size_t pad,
                                        std::vector<float>& out) {
    for (std::size_t at = 0; at < found.size(); ++at) {
        const std::size_t row = at / (columns + pad), column = at % (columns + pad);
        if (column < columns)
            out.push_back(found[at]);
        else if (std::bit_cast<std::uint32_t>(found[at]) != gap_word)
            return "c[" + std::to_string(row) + "][" + std::to_string(column) +
                   "] was written, though it lies between two rows";
    }
    return std::nullopt;
}

Setup setup(const Request& request, const gemm::Sizes& sizes) {
    const auto m = sizes.m, n = sizes.n, k = sizes.k, pad = sizes.pad;
    const auto& device = request.device;
    const auto& variant = request.variant.name;
    const auto in = kept(request, "gemm", std::tuple(m, n, k, request.seed),
                         [&] { return gemm::random_matrices(m, n, k, request.seed); });

    Setup out;
    out.args = {Input{"a", rows_apart(in->a, k, k + pad)},
                Input{"b", rows_apart(in->b, n, n + pad)},
                InOut{"c", rows_apart(in->c, n, n + pad), 4 * (n + pad)},
                value("m", static_cast<std::int32_t>(m)),
                value("n", static_cast<std::int32_t>(n)),
                value("k", static_cast<std::int32_t>(k))};
    if (is_one_of(variant, with_gaps)) out.defines = {"PAD=" + std::to_string(pad)};
    if (variant == "naive") {
        const std::size_t y = device.max_group >= 256 ? 8 : 1;
        out.local = Extent(group_of(device, 32), y);
        out.global = Extent(round_up(n, out.local.size[0]), round_up(m, y));
    } else if (variant == "local") {
        out.local = Extent(16, 16);
        out.global = Extent(round_up(n, 16), round_up(m, 16));
    } else if (variant == "vector") {
        out.local = Extent(1, 1);
        // Four work-items a compute unit, for cores that are not equally free: over strips of columns as far as these
        // go.
        const std::size_t items = 4ull * device.compute_units, columns = std::min(divide_up(n, 16), items);
        out.global = Extent(columns, std::min(divide_up(items, columns), divide_up(m, 6)));
    } else {
        gemm::launch_tiles(out, sizes, device, variant == "pipelined");
    }
    const auto dm = static_cast<double>(m), dn = static_cast<double>(n), dk = static_cast<double>(k);
    out.work = {4 * (dm * dk + dk * dn + 2 * dm * dn), 2 * dm * dn * dk, 0};
    out.accumulates = true;
    out.check = [in, n, pad](const Buffers& buffers) -> std::optional<std::string> {
        const auto found = buffers.as<float>("c");
        if (pad == 0) return gemm::check(*in, found, buffers.poison_seed, buffers.operations);
        std::vector<float> rows;
        if (auto wrong = without_gaps(found, n, pad, rows)) return wrong;
        return gemm::check(*in, rows, buffers.poison_seed, buffers.operations);
    };
    return out;
}

/// The deepest dip of the rate over the sizes of square matrices: rows a power of two apart fall on the same sets and
/// channels.
std::vector<Finding> conclude(const std::vector<Curve>& curves, const Device&) {
    std::map<std::string, std::map<double, const Curve::Sample*>> squares;  // by variant and what else is fixed
    for (const auto& curve : curves) {
        if (curve.samples.size() != 1) continue;
        const auto& sample = curve.samples.front();
        std::string key = curve.variant;
        bool square = true;
        for (const auto& [axis, value] : curve.fixed.values()) {
            if (axis == "n" || axis == "k")
                square = square && value == std::to_string(static_cast<std::int64_t>(sample.x));
            else
                key += " " + axis + "=" + value;
        }
        if (square && sample.seconds > 0 && sample.work.flops > 0) squares[key][sample.x] = &sample;
    }
    std::vector<Finding> out;
    for (const auto& [key, sizes] : squares) {
        if (sizes.size() < 5) continue;
        std::vector<std::pair<double, const Curve::Sample*>> line(sizes.begin(), sizes.end());
        const auto rate = [&](std::size_t i) { return line[i].second->work.flops / line[i].second->seconds; };
        double deepest = 1;
        std::size_t at = 0;
        for (std::size_t i = 2; i + 2 < line.size(); ++i) {
            const double beside = std::min(std::max(rate(i - 1), rate(i - 2)), std::max(rate(i + 1), rate(i + 2)));
            if (rate(i) / beside < deepest) deepest = rate(i) / beside, at = i;
        }
        // Whole tiles and half-empty ones make steps; a dip lies below both its sides, by more than its own interval.
        if (at == 0 || deepest > 0.9 || line[at].second->low < deepest * line[at].second->seconds) continue;
        out.push_back({"dip." + key, "deepest dip, " + key, "", deepest, deepest, deepest,
                       "rate at m = " + std::to_string(static_cast<std::int64_t>(line[at].first)) +
                           " over the lower of the best on either side"});
    }
    return out;
}

}  // namespace

Experiment describe() {
    auto out = family("gemm",
                      "What do tiles in local memory, tiles in registers, double buffering and the order of the FMAs "
                      "each add to C += A B?",
                      sizes_of, setup);
    out.axes = {
        count_axis("m", "", "rows of A and C; auto is 4096, on a CPU 512", 1, 1 << 24),
        count_axis("n", "", "columns of B and C; auto is m", 1, 1 << 24),
        count_axis("k", "", "columns of A, rows of B; auto is m", 1, 1 << 23),
        count_axis("pad", "float", "floats between two rows of each matrix, of naive and local", 0, 4096, {"0"})
            .tune({"0"})
            .only(with_gaps),
        choice_axis("tile_k", "depth of the tiles", {"8", "16"}).tuned().only(with_tiles),
        choice_axis("tile", "rows and columns of C that a work-group makes; auto by the size and the compute units",
                    {"64x64", "64x128", "128x64", "128x128", "128x256", "256x128"})
            .usually("auto")
            .tuned()
            .only({"pipelined"}),
        choice_axis("pack",
                    "1: first copies A and B into aligned rows and whole tiles, within the operation. auto: where rows "
                    "are not aligned, from 192 on",
                    {"0", "1"})
            .usually("auto")
            .tuned()
            .only({"pipelined"}),
        choice_axis("slices",
                    "teams of a work-group that share the k of its tile; auto by the size and the compute units",
                    {"1", "2", "4"})
            .usually("auto")
            .tuned()
            .only({"pipelined"}),
        choice_axis("schedule",
                    "tiles: one work-group per tile. stream: resident groups take whole tiles and equal shares of the "
                    "k of the rest. auto: by size and compute units; tiles except on NVIDIA",
                    {"tiles", "stream"})
            .usually("auto")
            .tuned()
            .only({"pipelined"})};
    out.variants = {
        {"naive", "One element of C per work-item, operands straight from memory."},
        {"local", "A 16x16 work-group shares tiles of A and B in local memory."},
        {"tile8", "8x8 elements of C in the registers of each work-item, 128x128 per work-group, 128-bit loads."},
        {"buffered", "tile8 with two tiles: one is multiplied while the next is fetched."},
        {"serpentine", "buffered with every second row of multiply-adds in reverse order, so operands repeat."},
        {"pipelined",
         "serpentine with values read ahead from local memory, tiles by the size, and teams that share the k of small "
         "ones or work-groups that share that of the last."},
        variant("vector", "6x16 elements of C in vector registers, strips of B packed: the form for a CPU.")
            .needs({"cpu"})};
    out.native = native::loops("vector", "Three loops, the innermost along the rows of B and C", native::gemm);
    out.curve_over = "m";
    out.conclude = conclude;
    return out;
}

}  // namespace cllab::model::gemm_family

// gemm: C += A B from one element per work-item to double-buffered register tiles. The reuse of registers follows
// Citadel's study of Turing (2019), where the order of the multiply-adds gained 12 %.
#include "experiments/lib/gemm.hpp"

#include "experiments/lib/family.hpp"

namespace cllab::model::gemm_family {

using namespace lib;

// --- How variants with register tiles divide C: the macros of cl/include/gemm.h.

/// m, n: rows and columns of a work-group. item_n: columns of a work-item, which has 8 rows. slices: teams of
/// work-items that share the tile's k.
struct Tiles {
    std::size_t m = 128, n = 128, item_n = 8, slices = 1;
    bool stream = false;  ///< only the resident work-groups run, and share all tiles' k

    std::size_t group() const { return m * n / 8 / item_n * slices; }
    std::string name() const { return concat(m, "x", n); }
};

struct Sizes {
    std::size_t m = 0, n = 0, k = 0, tile_k = 0, pad = 0;
    Tiles tiles{};
    bool packed = false;  ///< tiles come from copies of A and B

    bool aligned() const { return n % 4 == 0 && k % 4 == 0; }
    // The sizes covered by whole tiles.
    std::size_t whole_m() const { return round_up(m, tiles.m); }
    std::size_t whole_n() const { return round_up(n, tiles.n); }
    std::size_t whole_k() const { return round_up(k, tile_k * tiles.slices); }
    bool whole() const { return m == whole_m() && n == whole_n() && k == whole_k(); }
    std::size_t tiles_of_c(const Tiles& t) const { return divide_up(m, t.m) * divide_up(n, t.n); }
};

constexpr Tiles streamed{128, 128};

constexpr std::size_t registers = 65536;  ///< per compute unit of NVIDIA's GPUs

std::size_t units(const Device& device) { return std::max(1u, device.compute_units); }

/// Work-groups of a stream: as many as are resident at 128 registers per work-item. With 128 sums per work-item, it is
/// one group of 256 per compute unit. At most as many as there are steps of k.
std::size_t stream_groups(const Sizes& sizes, const Tiles& tiles, const Device& device) {
    const auto resident = tiles.item_n > 8 ? 1 : std::max<std::size_t>(1, registers / 128 / tiles.group());
    return std::min(units(device) * resident, sizes.tiles_of_c(tiles) * divide_up(sizes.k, sizes.tile_k));
}

/// The share of C in what the compute units could compute while the busiest one does its tiles. The rest is idle, or
/// beyond C's edges.
double useful(const Sizes& sizes, const Tiles& tiles, const Device& device) {
    return static_cast<double>(sizes.m * sizes.n) /
           static_cast<double>(round_up(sizes.tiles_of_c(tiles), units(device)) * tiles.m * tiles.n);
}

/// The largest tiles that leave little of the device unused, because they do more multiply-adds per value read. If
/// there are none, a stream, which leaves nothing idle but adds to C atomically. A stream beats half tiles unless these
/// leave almost nothing unused, and pays if each unit has at least two steps of k. Otherwise the smallest tiles. This
/// is not always the best choice: of six on an H100, another one took 13 % less at 700 and 6 % less at 5000. `cllab
/// tune gemm_pipelined` tries all of them.
Tiles usual_tiles(const Sizes& sizes, const Device& device, bool may_stream) {
    // 128 sums per work-item, which not every register file holds. Written one float at a time, they take longer to
    // reach C than smaller tiles do.
    const bool large = device.implementation == Implementation::nvidia && sizes.aligned();
    for (const auto& [tiles, least] :
         {std::pair{Tiles{256, 128, 16}, large ? 0.9 : 2}, {Tiles{128, 128}, 0.9}, {Tiles{64, 128}, 0.95}})
        if (tiles.group() <= device.max_group_promised && useful(sizes, tiles, device) >= least) return tiles;
    if (may_stream && streamed.group() <= device.max_group_promised &&
        sizes.tiles_of_c(streamed) * divide_up(sizes.k, sizes.tile_k) >= 2 * units(device))
        return {128, 128, 8, 1, true};
    return {64, 64};
}

/// Teams that make a group of 256 work-items, eight warps; with fewer, a unit waits for local memory. The tiles in
/// local memory grow with the teams, and stay within 48 KiB.
std::size_t usual_slices(const Sizes& sizes, const Tiles& tiles, const Device& device) {
    const auto group = std::min<std::size_t>(256, device.max_group_promised);
    return std::clamp<std::size_t>(std::min(group / tiles.group(), 32 / sizes.tile_k), 1, 4);
}

/// Copies A and B to buffers of whole tiles, and multiplies the copies.
void add_packing(Setup& out, const Sizes& sizes) {
    const auto m = sizes.whole_m(), n = sizes.whole_n(), k = sizes.whole_k();
    out.args.emplace_back(Scratch{"packed_a", m * k * sizeof(float), k * sizeof(float)});
    out.args.emplace_back(Scratch{"packed_b", k * n * sizeof(float), n * sizeof(float)});
    for (const auto& [name, size] : {std::pair{"whole_m", m}, {"whole_n", n}, {"whole_k", k}})
        out.args.emplace_back(value(name, static_cast<std::int32_t>(size)));
    constexpr std::size_t rows_of_item = 8;  // PACK in the kernel
    const Extent all(round_up(std::max(k, n), 32), round_up(divide_up(std::max(m, k), rows_of_item), 8), 2);
    out.steps = {launch("pack", "gemm_pack", all, Extent(32, 8, 1), {"a", "b", "packed_a", "packed_b", "m", "n", "k"}),
                 launch("multiply", "", out.global, out.local,
                        {"packed_a", "packed_b", "c", "m", "n", "whole_k", "whole_m", "whole_n"})};
}

/// Whether to limit the compiler to 128 registers per work-item. Otherwise ptxas takes 129 to 146, and one group fewer
/// is resident. With very many groups, the groups then end in bunches, and a unit with one bunch more ends far later
/// (1500 cubed on an H200: 233 us without the limit, 195 us with it). Small tiles of copies begin one after the other,
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
    const auto what = concat("tiles of ", tiles.name(), " in ", tiles.slices, " slices need ");
    if (tiles.stream && tiles.slices > 1)
        throw Unsupported("axis 'slices' is ", tiles.slices, "; it must be 1 with schedule=stream");
    if (tiles.group() * 8 * tiles.item_n > 32768)
        throw Unsupported(what, tiles.group() * tiles.item_n / 32,
                          " KiB of registers for their sums alone; at most 128 KiB are possible");
    if (tiles.group() > device.max_group_promised)
        throw Unsupported(what, "a work-group of ", tiles.group(), "; the device takes at most ",
                          device.max_group_promised);
}

/// Reads the axes of `pipelined`. Throws Unsupported for tiles that the device cannot hold.
void choose_tiles(Sizes& sizes, const Device& device, Params& params) {
    // For smaller matrices, the copies and their launch gain nothing (`cllab run gemm_pipelined --axis m=129,193 --axis
    // pack=0,1`; on an H200 they cost 2 % at 129 and save 12 % at 193).
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

/// One work-group per tile of C, and the macros. `pipelined` also has copies and streams.
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
    if (pipelined) out.defines.push_back(concat("PREFETCH=", tiles.m * tiles.n >= 128 * 128));
    if (tiles.stream) {
        out.global = Extent(stream_groups(sizes, tiles, device) * tiles.group(), 1);
        out.defines.emplace_back("GEMM_STREAM=1");
        // Needs sm_90 and PTX 8.1, which no clang up to 16 writes, so not offline.
        if (sizes.aligned() && device.compute_capability >= 90 && !device.driver.starts_with("clang"))
            out.defines.emplace_back("GEMM_RED4=1");
    }
    if (limits_registers(sizes, device))
        for (const auto* limit : {"GEMM_LIMITED=1", "-cl-nv-maxrregcount=128"}) out.defines.emplace_back(limit);
    if (sizes.packed) add_packing(out, sizes);
}

// --- The family.

// Variants by their axes.
const Texts with_tiles{"tile8", "buffered", "serpentine", "pipelined"}, with_gaps{"naive", "local"};

Sizes sizes_of(const Device& device, const std::string& variant, Params& params) {
    const auto m = params.count("m", by_scale<std::size_t>(device, 40, 512, 4096));
    const auto n = params.count("n", m), k = params.count("k", m);
    const std::size_t tile_k = is_one_of(variant, with_tiles) ? params.count("tile_k") : 0;
    const std::size_t pad = is_one_of(variant, with_gaps) ? params.count("pad") : 0;
    const std::uint64_t most = 1ull << 40;
    require_room(device, "a", 4 * product("the number of elements of A", {m, k + pad}, most));
    require_room(device, "b", 4 * product("the number of elements of B", {k, n + pad}, most));
    require_room(device, "c", 4 * product("the number of elements of C", {m, n + pad}, most));
    if ((tile_k > 0 || variant == "local") && device.max_group < 256)
        throw Unsupported("a tile needs a work-group of 256; the device takes at most ", device.max_group);
    Sizes out{m, n, k, tile_k, pad};
    if (variant == "pipelined") choose_tiles(out, device, params);
    return out;
}

/// Appends the matrix without the gaps to `out`. Returns the first gap that was written, in words, or nullopt.
std::optional<std::string> without_gaps(std::span<const float> found, std::size_t columns, std::size_t pad,
                                        std::vector<float>& out) {
    for (std::size_t at = 0; at < found.size(); ++at) {
        const std::size_t row = at / (columns + pad), column = at % (columns + pad);
        if (column < columns)
            out.push_back(found[at]);
        else if (std::bit_cast<std::uint32_t>(found[at]) != gap_word)
            return concat("c[", row, "][", column, "] was written, though it lies between two rows");
    }
    return std::nullopt;
}

Setup setup(const Request& request, const Sizes& sizes) {
    const auto m = sizes.m, n = sizes.n, k = sizes.k, pad = sizes.pad;
    const auto& device = request.device;
    const auto& variant = request.variant.name;
    const auto in = cached(request, "gemm", std::tuple(m, n, k, request.seed),
                           [&] { return gemm::random_matrices(m, n, k, request.seed); });

    Setup out;
    out.args = {Input{"a", rows_apart(in->a, k, k + pad)},
                Input{"b", rows_apart(in->b, n, n + pad)},
                InOut{"c", rows_apart(in->c, n, n + pad), 4 * (n + pad)},
                value<std::int32_t>("m", m),
                value<std::int32_t>("n", n),
                value<std::int32_t>("k", k)};
    if (is_one_of(variant, with_gaps)) out.defines = {concat("PAD=", pad)};
    if (variant == "naive") {
        const std::size_t y = device.max_group >= 256 ? 8 : 1;
        out.local = Extent(group_of(device, 32), y);
        out.global = Extent(round_up(n, out.local.size[0]), round_up(m, y));
    } else if (variant == "local") {
        out.local = Extent(16, 16);
        out.global = Extent(round_up(n, 16), round_up(m, 16));
    } else if (variant == "vector") {
        out.local = Extent(1, 1);
        // Four work-items per compute unit, because not all cores are equally free. They divide the columns into strips
        // first, then the rows.
        const std::size_t items = 4ull * device.compute_units, columns = std::min(divide_up(n, 16), items);
        out.global = Extent(columns, std::min(divide_up(items, columns), divide_up(m, 6)));
    } else {
        launch_tiles(out, sizes, device, variant == "pipelined");
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

/// The deepest dip of the rate over the sizes of square matrices. Rows a power of two apart share cache sets and
/// channels.
std::vector<Finding> conclude(const std::vector<Curve>& curves, const Device&) {
    std::map<std::string, std::map<double, const Curve::Sample*>> squares;  // by variant and other axes
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
            const double neighbours = std::min(std::max(rate(i - 1), rate(i - 2)), std::max(rate(i + 1), rate(i + 2)));
            if (rate(i) / neighbours < deepest) deepest = rate(i) / neighbours, at = i;
        }
        // Full and half-empty tiles cause steps. A dip is below both sides, by more than its own interval.
        if (at == 0 || deepest > 0.9 || line[at].second->low < deepest * line[at].second->seconds) continue;
        out.push_back({"dip." + key, "deepest dip, " + key, "", deepest, deepest, deepest,
                       concat("rate at m = ", static_cast<std::int64_t>(line[at].first),
                              " over the lower of the best on either side")});
    }
    return out;
}

Experiment describe() { return family("gemm", sizes_of, setup, {.conclude = conclude}); }

}  // namespace cllab::model::gemm_family

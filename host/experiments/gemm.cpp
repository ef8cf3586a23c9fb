// gemm: C += A B from one element per work-item to double-buffered register tiles. The register-reuse lesson is from
// Citadel's study of Turing (2019), where the order of the multiply-adds was worth 12 %.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>

#include "experiments/lib/gemm_reference.hpp"
#include "experiments/lib/native.hpp"
#include "experiments/lib/sizes.hpp"

namespace cllab::model {
namespace {

using namespace lib;

/// How the variants with tiles in registers cut C: rows and columns of a work-group, columns of a work-item (of 8
/// rows), and the teams of work-items that share the tile's k among them.
struct Tiles {
    std::size_t m = 128, n = 128, item_n = 8, slices = 1;
    bool stream = false;  ///< the work-groups are those that are resident at once, and share all tiles' k

    [[nodiscard]] std::size_t group() const { return m * n / 8 / item_n * slices; }
};

struct Sizes {
    std::size_t m = 0, n = 0, k = 0, tile_k = 0, pad = 0;
    Tiles tiles;
    bool packed = false;

    [[nodiscard]] bool aligned() const { return n % 4 == 0 && k % 4 == 0; }
    // As whole tiles cover them.
    [[nodiscard]] std::size_t whole_m() const { return round_up(m, tiles.m); }
    [[nodiscard]] std::size_t whole_n() const { return round_up(n, tiles.n); }
    [[nodiscard]] std::size_t whole_k() const { return round_up(k, tile_k * tiles.slices); }
    [[nodiscard]] bool whole() const { return m == whole_m() && n == whole_n() && k == whole_k(); }
};

/// Work-groups of a stream that a compute unit of 64 Ki registers holds: at 128 a work-item, and with 128 sums a
/// work-item one of 256.
std::size_t resident(const Tiles& tiles) {
    return tiles.item_n > 8 ? 1 : std::max<std::size_t>(1, 65536 / 128 / tiles.group());
}

/// Work-groups of a stream: no more than there are steps of k.
std::size_t stream_groups(const Sizes& sizes, const Tiles& tiles, const Device& device) {
    const auto steps = divide_up(sizes.m, tiles.m) * divide_up(sizes.n, tiles.n) * divide_up(sizes.k, sizes.tile_k);
    return std::min(device.compute_units * resident(tiles), steps);
}

bool has_register_tiles(const Variant& variant) {
    return variant.name == "tile8" || variant.name == "buffered" || variant.name == "serpentine" ||
           variant.name == "pipelined";
}

/// Tiles that `auto` may choose for `pipelined`, and how fast they are: C's elements a second and compute unit over the
/// peak's, by the rounds of groups that the units do (1, 2, 3, more). Where edges are tested or copies read, more
/// rounds than one have that part of it. Fitted to the times of 40 sizes from 256 to 4100 (H200; those of
/// copies with some 8 us too many, for an event between two launches); at these the choice takes at most 2.5 % longer
/// than the best of all tiles, at others it was not tried.
struct Choice {
    std::size_t m, n, slices;
    std::array<double, 4> rate;
    double edges, packed;
};
constexpr std::array<Choice, 7> choices{{{256, 128, 1, {0.755, 0.775, 0.782, 0.782}, 0.95, 0.95},
                                         {128, 128, 1, {0.660, 0.740, 0.745, 0.768}, 1.00, 1.00},
                                         {128, 128, 2, {0.715, 0.700, 0.700, 0.715}, 1.00, 1.01},
                                         {64, 128, 1, {0.540, 0.675, 0.708, 0.735}, 0.95, 0.98},
                                         {64, 128, 2, {0.605, 0.705, 0.710, 0.745}, 0.92, 0.92},
                                         {64, 64, 2, {0.410, 0.600, 0.650, 0.680}, 0.97, 0.97},
                                         {64, 64, 4, {0.440, 0.585, 0.610, 0.650}, 0.96, 1.00}}};

/// Relative: the time of the unit with the most groups.
double time_of(const Choice& c, const Sizes& sizes, const Device& device) {
    const auto groups = divide_up(sizes.m, c.m) * divide_up(sizes.n, c.n);
    const auto rounds = divide_up(groups, std::max<std::size_t>(1, device.compute_units));
    const bool whole = sizes.m % c.m == 0 && sizes.n % c.n == 0;
    const double slower = rounds == 1 ? 1 : sizes.packed ? c.packed : whole ? 1 : c.edges;
    return static_cast<double>(rounds * c.m * c.n) /
           (c.rate[std::min<std::size_t>(rounds, c.rate.size()) - 1] * slower);
}

/// The tiles that `auto` may choose for a stream, the faster ones at all sizes but two, and their time: that of their
/// multiply-adds at a part of the peak, and what a launch and the sums that several groups add to one tile take. Fitted
/// to 28 sizes from 512 to 5000 (H200); at these the choice between whole tiles and a stream takes at
/// most 2.8 % longer than the better one.
constexpr const Choice& streamed = choices[1];
constexpr double stream_rate = 0.697, stream_seconds = 9.3e-6;
// Of copies, whose sums go to C float by float: fitted to 20 sizes from 705 to 4097, at which the choice
// takes at most 1.6 % longer than the better one. The fit gave 20.9e-6; 4 us of that are the copies', for which the
// rates of whole tiles have no term either.
constexpr double stream_rate_packed = 0.668, stream_seconds_packed = 16.9e-6;
constexpr double multiply_adds_of_unit = 253e9;  // a second, at the peak

/// As time_of, of a stream; of one that would do whole tiles only, never.
double time_of_stream(const Sizes& sizes, const Device& device) {
    const auto tiles = divide_up(sizes.m, streamed.m) * divide_up(sizes.n, streamed.n);
    if (tiles % stream_groups(sizes, {streamed.m, streamed.n}, device) == 0) return INFINITY;
    const double elements = static_cast<double>(tiles * streamed.m * streamed.n) / std::max(1u, device.compute_units);
    return elements / (sizes.packed ? stream_rate_packed : stream_rate) +
           (sizes.packed ? stream_seconds_packed : stream_seconds) * multiply_adds_of_unit /
               static_cast<double>(sizes.k);
}

/// The tiles of `pipelined`; without a choice, those that take the busiest compute unit the least time.
Tiles tiles_of(const Sizes& sizes, const Device& device, Params& params) {
    const bool nvidia = device.implementation == Implementation::nvidia;
    const auto fits = [&](const Choice& c) {
        // 128 sums a work-item, which not every register file holds. Float by float they take longer to get to C than
        // smaller tiles do.
        return (c.m * c.n <= 128 * 128 || (nvidia && sizes.aligned())) &&
               c.m * c.n / 64 * c.slices <= device.max_group_promised;
    };
    const auto name = [](const Choice& c) { return std::to_string(c.m) + "x" + std::to_string(c.n); };
    const auto time = [&](const Choice& c) { return fits(c) ? time_of(c, sizes, device) : INFINITY; };
    const auto& whole = *std::ranges::min_element(choices, {}, time);
    const auto may_be = [&](const char* axis, const std::string& value) {
        return params.is_auto(axis) || params.text(axis) == value;
    };
    const bool may_stream = nvidia && may_be("slices", "1") && may_be("tile", name(streamed));
    Tiles out;
    out.stream = params.text("schedule", may_stream && fits(streamed) && time_of_stream(sizes, device) < time(whole)
                                             ? "stream"
                                             : "tiles") == "stream";
    const auto& best = out.stream ? streamed : whole;
    const auto tile = params.text("tile", name(best));
    const auto x = tile.find('x');
    out.m = std::stoul(tile.substr(0, x));
    out.n = std::stoul(tile.substr(x + 1));
    out.item_n = out.m * out.n > 128 * 128 ? 16 : 8;
    out.slices =
        std::stoul(params.text("slices", std::to_string(out.m == best.m && out.n == best.n ? best.slices : 1)));
    if (out.stream && out.slices > 1)
        throw Unsupported(
            "the k of streamed tiles is shared by work-groups, not by teams of one: slices can only be 1");
    if (out.group() * 8 * out.item_n > 32768)
        throw Unsupported("tiles of " + tile + " in " + std::to_string(out.slices) + " slices take " +
                          std::to_string(out.group() * out.item_n / 32) +
                          " KiB of registers for their sums alone; 128 KiB are the most");
    if (out.group() > device.max_group_promised)
        throw Unsupported("tiles of " + tile + " in " + std::to_string(out.slices) + " slices take a work-group of " +
                          std::to_string(out.group()) + "; the device takes at most " +
                          std::to_string(device.max_group_promised));
    return out;
}

bool has_gaps(const Variant& variant) { return variant.name == "naive" || variant.name == "local"; }

Sizes sizes_of(const Request& request, Params& params) {
    const auto& device = request.device;
    const auto m = params.integer("m", by_scale(device, 40, 512, 4096));
    const auto n = params.integer("n", m), k = params.integer("k", m);
    const std::size_t tile_k = has_register_tiles(request.variant) ? params.count("tile_k") : 0;
    const std::int64_t pad = has_gaps(request.variant) ? params.integer("pad") : 0;
    const std::uint64_t most = 1ull << 40;
    require_room(device, "a", 4 * product("the number of elements of A", {m, k + pad}, most));
    require_room(device, "b", 4 * product("the number of elements of B", {k, n + pad}, most));
    require_room(device, "c", 4 * product("the number of elements of C", {m, n + pad}, most));
    if ((tile_k > 0 || request.variant.name == "local") && device.max_group < 256)
        throw Unsupported("a tile takes a work-group of 256; the device takes at most " +
                          std::to_string(device.max_group));
    Sizes out{static_cast<std::size_t>(m),
              static_cast<std::size_t>(n),
              static_cast<std::size_t>(k),
              tile_k,
              static_cast<std::size_t>(pad),
              {},
              false};
    if (request.variant.name == "pipelined") {
        // Below, the copies and one more launch save nothing (H200: 129 cubed 12.8 us with them and 12.6
        // without, 193 cubed 13.1 and 14.9).
        constexpr std::size_t least = 192;
        out.packed = params.text("pack", !out.aligned() && std::min({out.m, out.n, out.k}) >= least ? "1" : "0") == "1";
        out.tiles = tiles_of(out, device, params);
        if (out.packed) {
            require_room(device, "packed_a", 4 * out.whole_m() * out.whole_k());
            require_room(device, "packed_b", 4 * out.whole_k() * out.whole_n());
        }
    }
    return out;
}

constexpr std::uint32_t gap = 0x7FC0DEAD;  // a NaN, which shows in every sum it gets into

/// The rows of a matrix `pad` words apart.
SharedBytes with_gaps(const SharedBytes& matrix, std::size_t columns, std::size_t pad) {
    if (pad == 0) return matrix;
    const std::size_t rows = matrix.size() / sizeof(float) / columns;
    return {rows * (columns + pad) * sizeof(float), [matrix, rows, columns, pad] {
                const auto from = view<float>(matrix);
                std::vector<float> out(rows * (columns + pad), std::bit_cast<float>(gap));
                for (std::size_t r = 0; r < rows; ++r)
                    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(r * columns), columns,
                                out.begin() + static_cast<std::ptrdiff_t>(r * (columns + pad)));
                return to_bytes(out);
            }};
}

/// The matrix that lies between the gaps, or what is wrong with one of these.
std::optional<std::string> without_gaps(std::span<const float> found, std::size_t columns, std::size_t pad,
                                        std::vector<float>& out) {
    for (std::size_t at = 0; at < found.size(); ++at) {
        const std::size_t row = at / (columns + pad), column = at % (columns + pad);
        if (column < columns)
            out.push_back(found[at]);
        else if (std::bit_cast<std::uint32_t>(found[at]) != gap)
            return "c[" + std::to_string(row) + "][" + std::to_string(column) +
                   "] was written, though it lies between two rows";
    }
    return std::nullopt;
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

Setup setup(const Request& request, Params& params) {
    const auto sizes = sizes_of(request, params);
    const auto [m, n, k, tile_k, pad, tiles, packed] = sizes;
    const auto& device = request.device;
    const auto& variant = request.variant.name;
    const auto in = kept(request, "gemm", std::tuple(m, n, k, request.seed),
                         [m = m, n = n, k = k, &request] { return gemm::random_matrices(m, n, k, request.seed); });

    Setup out;
    out.args = {Input{"a", with_gaps(in->a, k, pad)},
                Input{"b", with_gaps(in->b, n, pad)},
                InOut{"c", with_gaps(in->c, n, pad), 4 * (n + pad)},
                value("m", static_cast<std::int32_t>(m)),
                value("n", static_cast<std::int32_t>(n)),
                value("k", static_cast<std::int32_t>(k))};
    if (has_gaps(request.variant)) out.defines = {"PAD=" + std::to_string(pad)};
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
        out.local = Extent(tiles.group(), 1);
        out.global = tiles.stream ? Extent(stream_groups(sizes, tiles, device) * tiles.group(), 1)
                                  : Extent(divide_up(n, tiles.n) * tiles.group(), divide_up(m, tiles.m));
        const bool whole = sizes.whole();
        for (const auto& [name, number] :
             std::initializer_list<std::pair<const char*, std::size_t>>{{"TILE_M", tiles.m},
                                                                        {"TILE_N", tiles.n},
                                                                        {"TILE_K", tile_k},
                                                                        {"ITEM_N", tiles.item_n},
                                                                        {"SLICES", tiles.slices},
                                                                        {"GEMM_ALIGNED", sizes.aligned()},
                                                                        {"GEMM_WHOLE", whole},
                                                                        {"GEMM_PACKED", packed}})
            out.defines.push_back(name + ("=" + std::to_string(number)));
        if (variant == "pipelined") out.defines.push_back("PREFETCH=" + std::to_string(tiles.m * tiles.n >= 128 * 128));
        if (tiles.stream) out.defines.emplace_back("GEMM_STREAM=1");
        // sm_90 and PTX 8.1, which no clang up to 16 writes: not offline.
        if (tiles.stream && sizes.aligned() && device.compute_capability >= 90 && !device.driver.starts_with("clang"))
            out.defines.emplace_back("GEMM_RED4=1");
        // Left alone, ptxas takes 129 to 146 registers. At 128 one group more is resident, where there are so many;
        // else the units' groups end in bunches, and a unit that takes a bunch more is the last by far (1500 cubed: 233
        // us, with the limit 195). Of small tiles of copies the groups begin one after the other, and the limit costs 5
        // % (H200).
        const std::size_t elements = tiles.m * tiles.n;
        const bool many =
            divide_up(m, tiles.m) * divide_up(n, tiles.n) > device.compute_units * (65536 / 136 / tiles.group());
        const bool more = elements <= 64 * 64 ? !packed : elements < 128 * 128 || tile_k == 16 || !whole;
        // A stream has as many groups as are resident with it.
        if (device.implementation == Implementation::nvidia && tiles.item_n == 8 && (tiles.stream || (many && more)))
            for (const auto* limit : {"GEMM_LIMITED=1", "-cl-nv-maxrregcount=128"}) out.defines.emplace_back(limit);
        if (packed) add_packing(out, sizes);
    }
    const auto dm = static_cast<double>(m), dn = static_cast<double>(n), dk = static_cast<double>(k);
    out.work = {4 * (dm * dk + dk * dn + 2 * dm * dn), 2 * dm * dn * dk, 0};
    out.accumulates = true;
    out.check = [in, n = n, pad = pad](const Buffers& buffers) -> std::optional<std::string> {
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

Experiment describe_gemm() {
    Experiment out;
    out.family = "gemm";
    out.question =
        "What do tiles in local memory, tiles in registers, double buffering and the order of the FMAs each add to C "
        "+= A B?";
    const auto size = [](const char* name, const char* meaning, double most) {
        return Axis{name, "", meaning, Axis::Kind::integer, {"auto"}, {}, 1, most, true};
    };
    out.axes = {size("m", "rows of A and C; auto is 4096, on a CPU 512", 1 << 24),
                size("n", "columns of B and C; auto is m", 1 << 24),
                // Above, not even sums of products of -1, 0 and 1 would be exact in float, and the check needs that.
                size("k", "columns of A, rows of B; auto is m", 1 << 23),
                {"pad",
                 "float",
                 "floats between two rows of each matrix, of naive and local",
                 Axis::Kind::integer,
                 {"0"},
                 {},
                 0,
                 4096},
                {"tile_k", "", "depth of the tiles", Axis::Kind::choice, {"8"}, {"8", "16"}}};
    out.axes[out.axes.size() - 2].tune = {"0"};  // with or without it a variant is compared with the others
    out.axes[out.axes.size() - 2].only = {"naive", "local"};
    out.axes.back().tune = {"8", "16"};
    out.axes.back().only = {"tile8", "buffered", "serpentine", "pipelined"};
    const auto by_size = [&](const char* name, const char* meaning, std::vector<std::string> choices) {
        out.axes.push_back({.name = name,
                            .meaning = meaning,
                            .kind = Axis::Kind::choice,
                            .values = {"auto"},
                            .choices = std::move(choices),
                            .may_be_auto = true,
                            .only = {"pipelined"}});
        out.axes.back().tune = out.axes.back().choices;
        out.axes.back().tune.insert(out.axes.back().tune.begin(), "auto");
    };
    by_size("tile", "rows and columns of C that a work-group makes; auto by the size and the compute units",
            {"64x64", "64x128", "128x64", "128x128", "128x256", "256x128"});
    by_size("pack",
            "1: first copies A and B into aligned rows and whole tiles, within the operation. auto: where rows are not "
            "aligned, from 192 on",
            {"0", "1"});
    by_size("slices", "teams of a work-group that share the k of its tile; auto by the size and the compute units",
            {"1", "2", "4"});
    by_size("schedule",
            "tiles: one work-group per tile. stream: resident groups take whole tiles and equal shares of the k of the "
            "rest. auto: by size and compute units; tiles except on NVIDIA",
            {"tiles", "stream"});
    out.variants = {
        {"naive", "One element of C per work-item, operands straight from memory."},
        {"local", "A 16x16 work-group shares tiles of A and B in local memory."},
        {"tile8", "8x8 elements of C in the registers of each work-item, 128x128 per work-group, 128-bit loads."},
        {"buffered", "tile8 with two tiles: one is multiplied while the next is fetched."},
        {"serpentine", "buffered with every second row of multiply-adds in reverse order, so operands repeat."},
        {"pipelined",
         "serpentine with values read ahead from local memory, tiles by the size, and teams that share the k of small "
         "ones or work-groups that "
         "share that of the last."},
        {"vector", "6x16 elements of C in vector registers, strips of B packed: the form for a CPU.", {}, {"cpu"}},
    };
    out.native = native::loops("vector", "Three loops, the innermost along the rows of B and C",
                               [](const HostMemory& m, const Point&, unsigned threads) {
                                   const auto of = [&](const char* name) {
                                       return static_cast<std::size_t>(m.value<std::int32_t>(name));
                                   };
                                   native::gemm(m.as<float>("a").data(), m.as<float>("b").data(),
                                                m.as<float>("c").data(), of("m"), of("n"), of("k"), threads);
                               });
    out.curve_over = "m";
    out.conclude = conclude;
    out.setup = setup;
    out.resolve = [](const Request& request, Params& params) { sizes_of(request, params); };
    return out;
}

}  // namespace cllab::model

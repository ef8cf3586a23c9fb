// matrix: the matrix units by the type of their elements: the time of one product, and the rate of all units.
#include "experiments/lib/matrix.hpp"

#include "experiments/lib/family.hpp"

namespace cllab::model::matrix_family {

using namespace lib;
using matrix::Tile;

constexpr std::size_t period = 16;  // waves repeat the operands with this period
constexpr std::int64_t unroll = 8;  // products of each tile per trip, as in the kernel

/// One cell's sizes, all resolved.
struct Shape {
    Tile tile;
    std::string type;
    std::size_t tiles = 1, waves = 1, groups = 1;

    std::size_t count() const { return waves * groups; }
};

Shape shape_of(const Device& device, const std::string& variant, Params& params) {
    Shape out;
    out.type = params.text("type");
    const bool is_wgmma = variant == "wgmma";
    out.tiles = is_wgmma ? 1 : params.count("tiles", variant == "latency" ? 1 : 4);
    out.tile = is_wgmma ? matrix::wgmma_tile(device, out.type) : matrix::tile_of(device, out.type);
    if (variant != "latency") {
        out.waves =
            is_wgmma ? 1 : std::max<std::size_t>(1, std::min<std::size_t>(8, device.max_group / out.tile.lanes));
        out.groups = device.compute_units * std::size_t{4};
    }
    return out;
}

/// Small integers, so that each type holds every product and sum exactly.
std::vector<int> small_numbers(std::size_t count, std::uint64_t seed) {
    Random random(seed);
    std::vector<int> out(count);
    for (auto& x : out) x = static_cast<int>(random() >> 33) % 7 - 3;
    return out;
}

/// Leaves one number of absolute value 1 per row. wgmma sums products of fp8 with fewer bits than float (Hopper; a sum
/// of 23,000 was 300 too large). With so few numbers every sum stays below 2^13.
void thin_out(std::vector<int>& numbers, std::size_t row) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = i % row == i / row * 7 % row ? (numbers[i] < 0 ? -1 : 1) : 0;
}

/// d = c + steps * a * b for each wave's tiles. a has rows of k elements, b has columns of k elements.
template <typename Sum>
std::vector<Sum> sums_after(const Tile& t, std::size_t tiles, std::int64_t steps, const std::vector<int>& a,
                            const std::vector<int>& b, const std::vector<int>& c) {
    std::vector<Sum> out;
    for (std::size_t wave = 0; wave < period; ++wave)
        for (std::size_t tile = 0; tile < tiles; ++tile)
            for (std::size_t i = 0; i < t.m; ++i)
                for (std::size_t j = 0; j < t.n; ++j) {
                    std::int64_t product = 0;
                    for (std::size_t k = 0; k < t.k; ++k)
                        product += a[(wave * t.m + i) * t.k + k] * b[(wave * t.n + j) * t.k + k];
                    out.push_back(static_cast<Sum>(c[out.size()] + steps * product));
                }
    return out;
}

template <typename Sum>
void fill(Setup& out, const Request& request, const Shape& s) {
    const auto& t = s.tile;
    auto a = small_numbers(period * t.m * t.k, request.seed);
    if (s.type == "fp8" && t.unit == "WGMMA") thin_out(a, t.k);
    const auto b = small_numbers(period * t.n * t.k, request.seed + 1);
    const auto c = small_numbers(period * s.tiles * t.m * t.n, request.seed + 2);
    out.args = {Input{"a", matrix::elements(s.type, a)},
                Input{"b", matrix::elements(s.type, b)},
                Input{"c", share(std::vector<Sum>(c.begin(), c.end()))},
                Output{"d", s.count() * s.tiles * t.m * t.n * sizeof(Sum)},
                value("period", static_cast<std::int32_t>(period)),
                trips()};
    out.check = [=, tiles = s.tiles](const Buffers& buffers) {
        const auto expected = sums_after<Sum>(t, tiles, unroll * buffers.trips, a, b, c);
        return first_difference<Sum>(buffers, "d", [&](std::size_t i) { return expected[i % expected.size()]; });
    };
}

Setup setup(const Request& request, const Shape& s) {
    Setup out;
    if (s.type == "s8")
        fill<std::int32_t>(out, request, s);
    else if (s.type == "f64")
        fill<double>(out, request, s);
    else
        fill<float>(out, request, s);
    launch_groups(out, s.groups, s.waves * s.tile.lanes);
    const int low = request.variant.name == "latency" ? 256 : 64;
    out.slope = slope(request.device, low, 3 * low, static_cast<double>(unroll));
    out.chained = request.variant.name == "latency";
    // A step is one product of every tile.
    out.work.flops = 2.0 * static_cast<double>(s.tile.m * s.tile.n * s.tile.k * s.tiles * s.count());
    out.defines = {"TYPE_" + s.type,
                   concat("ELEMENT=", matrix::element_type(s.type)),
                   concat("SUM=", s.type == "s8"    ? "int"
                                  : s.type == "f64" ? "double"
                                                    : "float"),
                   concat("TILE_M=", s.tile.m),
                   concat("TILE_N=", s.tile.n),
                   concat("TILE_K=", s.tile.k),
                   concat("LANES=", s.tile.lanes),
                   concat("TILES=", s.tiles),
                   concat("UNIT_", s.tile.unit)};
    return out;
}

double flops(const Setup& setup, double seconds) {
    return matrix::is_integer(setup) ? NAN : setup.work.flops / seconds;
}
double operations(const Setup& setup, double seconds) {
    return matrix::is_integer(setup) ? setup.work.flops / seconds : NAN;
}

void conclude(const Curve& curve, const Device&, std::vector<Finding>& out) {
    if (curve.samples.empty()) return;
    const auto& type = curve.fixed.text("type");
    if (curve.variant == "latency") {
        out.push_back(step_finding("latency." + type, "matrix product latency, " + type, curve.samples.front(),
                                   "slope over products that wait for the one before"));
        return;
    }
    const auto rate_of = [](const Curve::Sample& s) {
        return metric(s, "flops").value_or(metric(s, "ops").value_or(0));
    };
    const bool is_wgmma = curve.variant == "wgmma";
    const auto& best = *std::ranges::max_element(curve.samples, {}, rate_of);
    const auto most = rate_of(best);
    auto rate = rate_finding(
        (is_wgmma ? "wgmma." : "rate.") + type, concat("matrix units, ", type, is_wgmma ? " by wgmma" : ""),
        type == "s8" ? "op/s" : "FLOP/s", best, most * best.per_step,
        is_wgmma
            ? "all units, products of four waves, factors in local memory, a multiply-add as two"
            : concat("all units, ", format_general(best.x, 3), " products in flight per wave, a multiply-add as two"));
    // All samples do the same work, so only the clock can cause such different times.
    constexpr double two_clocks = 1.2;
    if (rate.high > two_clocks * rate.low) {
        rate.value = rate.low;
        rate.how += "; samples lie at two rates, as where power limits the clock: the slower one";
    }
    out.push_back(std::move(rate));
    if (curve.samples.size() < 2) return;
    const auto enough = std::ranges::find_if(curve.samples, [&](const auto& s) { return rate_of(s) >= 0.95 * most; });
    out.push_back(figure("tiles." + type, "products in flight for full matrix rate, " + type, "products", enough->x,
                         "the fewest per wave that reach 95 % of the best"));
}

Experiment describe() {
    return family("matrix", shape_of, setup,
                  {.metrics = {{"flops", "FLOP/s", Better::higher, flops}, {"ops", "op/s", Better::higher, operations}},
                   .conclude = of_each(conclude)});
}

}  // namespace cllab::model::matrix_family

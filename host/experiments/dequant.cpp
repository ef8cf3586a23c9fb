// dequant: y = W x with 4-bit weights in blocks that share a scale. It shows the gain from wide loads and from dot
// products of bytes where only the weights must be read.
#include "core/half.hpp"
#include "experiments/lib/family.hpp"

namespace cllab::model::dequant_family {

using namespace lib;

constexpr std::size_t block = 32, block_bytes = 18;

/// One cell's sizes, all resolved.
struct Shape {
    std::size_t m = 0, k = 0, lanes = 1, local = 1, rows = 1;

    std::size_t blocks() const { return m * (k / block); }
};

Shape shape_of(const Device& device, const std::string& variant, Params& params) {
    Shape s;
    s.m = params.count("m", by_scale<std::size_t>(device, 16, 4096, 32768));
    s.k = params.count("k", by_scale<std::size_t>(device, 128, 4096, 8192));
    require_room(device, "w", product("the bytes of W", {s.m, s.k / block, block_bytes}, 1ull << 40));
    s.local = group(params, device, variant == "row" || device.is_gpu() ? 128 : 16);
    if (variant == "row") return s;
    s.lanes = params.count("lanes", std::min<std::size_t>(s.local, !device.is_gpu() ? 1 : variant == "dot" ? 16 : 4));
    if (variant == "dot") s.rows = params.count("rows", device.is_gpu() && s.m % 4 == 0 ? 4 : 1);
    if (s.m % s.rows) throw Unsupported("m is ", s.m, "; it must be a multiple of axis 'rows', ", s.rows);
    if (s.local % s.lanes)
        throw Unsupported("a work-group of ", s.local, " is not a multiple of axis 'lanes', ", s.lanes);
    return s;
}

/// Weights and factors are integers, and scales are powers of two. So every sum is exact in any order.
struct Problem {
    std::vector<std::uint8_t> weights;  ///< 0 to 15, row by row
    std::vector<float> scales;          ///< one per block of W
    std::vector<std::int8_t> x;         ///< factors, -2 to 2 ...
    std::vector<float> x_scales;        ///< ... times one of these per block

    float factor(std::size_t i) const { return static_cast<float>(x[i]) * x_scales[i / block]; }
};

Problem random_problem(const Shape& s, std::uint64_t seed) {
    Problem out;
    out.weights.resize(s.m * s.k);
    out.scales.resize(s.blocks());
    in_parallel(s.m, 64, [&](std::size_t begin, std::size_t end) {
        for (auto row = begin; row < end; ++row) {
            Random random(mix64(seed + row));
            for (std::size_t i = 0; i < s.k; ++i) out.weights[row * s.k + i] = random() >> 60;
            for (std::size_t b = 0; b < s.k / block; ++b)
                out.scales[row * (s.k / block) + b] = random() >> 63 ? 0.5f : 0.25f;
        }
    });
    Random random(mix64(~seed));
    for (std::size_t i = 0; i < s.k; ++i)
        out.x.push_back(static_cast<std::int8_t>(static_cast<int>(random() >> 32) % 3));
    for (std::size_t b = 0; b < s.k / block; ++b) out.x_scales.push_back(random() >> 63 ? 1.0f : 0.5f);
    return out;
}

/// The blocks of W in a variant's layout: one after the other, or all scales first and then all weights, aligned.
SharedBytes weights_of(const std::shared_ptr<const Problem>& in, const Shape& s, bool apart) {
    const auto words = round_up(2 * s.blocks(), 16);
    const auto bytes = apart ? words + 16 * s.blocks() : s.blocks() * block_bytes;
    return filled<std::uint8_t>(bytes, [in, s, apart, words](std::span<std::uint8_t> out) {
        in_parallel(s.blocks(), 4096, [&](std::size_t begin, std::size_t end) {
            for (auto b = begin; b < end; ++b) {
                const auto scale = to_half(in->scales[b]).bits;
                std::memcpy(&out[apart ? 2 * b : block_bytes * b], &scale, sizeof scale);
                auto* fours = &out[apart ? words + 16 * b : block_bytes * b + 2];
                const auto* from = &in->weights[b * block];
                for (std::size_t i = 0; i < 16; ++i) fours[i] = static_cast<std::uint8_t>(from[i] | from[16 + i] << 4);
            }
        });
    });
}

/// For each block of x: its scale, and the sum of its values times the scale.
std::vector<float> scales_and_sums(const Problem& in) {
    std::vector<float> out;
    for (std::size_t b = 0; b < in.x_scales.size(); ++b) {
        int sum = 0;
        for (std::size_t i = 0; i < block; ++i) sum += in.x[b * block + i];
        out.push_back(in.x_scales[b]);
        out.push_back(in.x_scales[b] * static_cast<float>(sum));
    }
    return out;
}

double expected(const Problem& in, const Shape& s, std::size_t row) {
    double out = 0;
    for (std::size_t i = 0; i < s.k; ++i)
        out += in.scales[(row * s.k + i) / block] * (in.weights[row * s.k + i] - 8.0) * in.factor(i);
    return out;
}

Setup setup(const Request& request, const Shape& s) {
    const auto& variant = request.variant.name;
    const auto in =
        cached(request, "dequant", std::tuple(s.m, s.k, request.seed), [&] { return random_problem(s, request.seed); });
    Setup out;
    const bool in_bytes = variant == "dot";
    out.args = {Input{"w", weights_of(in, s, in_bytes || variant == "split")}};
    if (in_bytes) {
        out.args.emplace_back(Input{"x", share(in->x)});
        out.args.emplace_back(Input{"x_scales", share(scales_and_sums(*in))});
    } else {
        std::vector<float> x;
        for (std::size_t i = 0; i < s.k; ++i) x.push_back(in->factor(i));
        out.args.emplace_back(Input{"x", share(x)});
    }
    out.args.emplace_back(Output{"y", s.m * sizeof(float)});
    for (const auto& [name, size] : {std::pair{"m", s.m}, {"k", s.k}})
        out.args.emplace_back(value<std::int32_t>(name, size));
    out.local = Extent(s.local);
    out.global = Extent(round_up(s.m / s.rows * s.lanes, s.local));
    if (variant != "row") out.defines = {concat("LANES=", s.lanes), concat("GROUP=", s.local)};
    if (in_bytes) out.defines.push_back(concat("ROWS=", s.rows));
    if (in_bytes && request.device.compute_capability >= 70) out.defines.push_back("HAS_NO_ALLOCATE");
    const auto weights = static_cast<double>(s.m * s.k);
    out.work = {weights / block * block_bytes + 4.0 * static_cast<double>(s.m + s.k), 2 * weights, 0};
    out.check = [in, s](const Buffers& buffers) {
        return first_difference<float>(buffers, "y",
                                       [&](std::size_t row) { return static_cast<float>(expected(*in, s, row)); });
    };
    return out;
}

Experiment describe() { return family("dequant", shape_of, setup); }

}  // namespace cllab::model::dequant_family

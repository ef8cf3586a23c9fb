// hgemm: C = A B with elements of 16 bits and float sums, from one element per work-item to matrix units that are fed
// without a wait.
#include "experiments/lib/family.hpp"
#include "experiments/lib/gemm.hpp"
#include "experiments/lib/matrix.hpp"

namespace cllab::model::hgemm_family {

using namespace lib;

const Texts with_units{"mma", "buffered", "async"};

/// One cell's sizes, all resolved.
struct Sizes {
    std::size_t m = 0, n = 0, k = 0;
    std::string type;
    std::size_t block_m = 16, block_n = 16, block_k = 16, stages = 1;

    std::size_t stage_bytes() const { return 2 * block_k * (block_m + block_n); }
};

/// Reads the axes of the variants with matrix units. Throws Unsupported where the device has none that they know.
void choose_blocks(Sizes& s, const Device& device, const std::string& variant, Params& params) {
    const auto block = params.text("block");
    const auto x = block.find('x'), second = block.find('x', x + 1);
    s.block_m = std::stoul(block.substr(0, x));
    s.block_n = std::stoul(block.substr(x + 1, second - x - 1));
    s.block_k = std::stoul(block.substr(second + 1));
    const auto room = matrix::array_bytes(device), most = room / s.stage_bytes();
    s.stages = variant == "async" ? params.count("stages", std::clamp<std::size_t>(most, 2, 4))
               : variant == "mma" ? 1
                                  : 2;
    if (device.implementation != Implementation::nvidia || device.compute_capability < 80)
        throw Unsupported("the kernel is PTX for NVIDIA's matrix units from sm_80 on");
    if (s.stages > most)
        throw Unsupported("as many as ", s.stages, " stages of ", format_bytes(s.stage_bytes()), " are more than the ",
                          format_bytes(room), " of local memory");
    if (s.m % s.block_m || s.n % s.block_n || s.k % 32)
        throw Unsupported("m, n and k are ", s.m, ", ", s.n, " and ", s.k, ", which are no multiples of ", s.block_m,
                          ", ", s.block_n, " and 32");
}

Sizes sizes_of(const Device& device, const std::string& variant, Params& params) {
    Sizes s;
    s.m = params.count("m", by_scale<std::size_t>(device, 40, 256, 4096));
    s.n = params.count("n", s.m), s.k = params.count("k", s.m);
    s.type = params.text("type");
    const std::uint64_t most = 1ull << 40;
    require_room(device, "a", 2 * product("the number of elements of A", {s.m, s.k}, most));
    require_room(device, "b", 2 * product("the number of elements of B", {s.k, s.n}, most));
    require_room(device, "c", 4 * product("the number of elements of C", {s.m, s.n}, most));
    if (is_one_of(variant, with_units)) choose_blocks(s, device, variant, params);
    if (device.max_group < 256)
        throw Unsupported("the kernels take a work-group of 256; the device takes at most ", device.max_group);
    return s;
}

/// The same whole numbers, which either type holds exactly.
SharedBytes in_16_bits(const SharedBytes& floats, const std::string& type) {
    return filled<std::uint16_t>(floats.size() / sizeof(float), [floats, is_half = type == "f16"](auto out) {
        const auto from = view<float>(floats);
        in_parallel(out.size(), parallel_piece, [&](std::size_t begin, std::size_t end) {
            for (auto i = begin; i < end; ++i) out[i] = is_half ? to_half(from[i]).bits : matrix::to_bf16(from[i]);
        });
    });
}

Setup setup(const Request& request, const Sizes& s) {
    const auto in = kept(request, "hgemm", std::tuple(s.m, s.n, s.k, request.seed), [&] {
        auto out = gemm::random_matrices(s.m, s.n, s.k, request.seed, 255);
        out.c = {};
        return out;
    });
    Setup out;
    out.args = {
        Input{"a", in_16_bits(in->a, s.type)},
        Input{"b", in_16_bits(in->b, s.type)},
        Output{"c", s.m * s.n * sizeof(float), s.n * sizeof(float)},
    };
    const bool has_units = is_one_of(request.variant.name, with_units);
    for (const auto& [name, size] : {std::pair{"m", s.m}, {"n", s.n}, {"k", s.k}})
        out.args.emplace_back(value<std::int32_t>(name, size));
    out.defines = {"TYPE_" + s.type};
    if (has_units) {
        for (const auto& [name, number] :
             {std::pair{"BLOCK_M", s.block_m}, {"BLOCK_N", s.block_n}, {"BLOCK_K", s.block_k}, {"STAGES", s.stages}})
            out.defines.push_back(concat(name, "=", number));
        out.local = Extent(256);
        out.global = Extent(s.m / s.block_m * (s.n / s.block_n) * 256);
    } else {
        out.local = Extent(16, 16);
        out.global = Extent(round_up(s.n, 16), round_up(s.m, 16));
    }
    const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
    out.work = {2 * (m * k + k * n) + 4 * m * n, 2 * m * n * k, 0};
    out.check = [in](const Buffers& buffers) { return gemm::check(*in, buffers.as<float>("c"), buffers.poison_seed); };
    return out;
}

Experiment describe() {
    auto out = family("hgemm", "What does each step of a matrix product of 16-bit elements gain, up to matrix units?",
                      sizes_of, setup);
    out.axes = {count_axis("m", "", "rows of A and C; auto is 4096, on a CPU 256", 1, 1 << 24),
                count_axis("n", "", "columns of B and C; auto is m", 1, 1 << 24),
                count_axis("k", "", "columns of A, rows of B; auto is m", 1, 1 << 23),
                choice_axis("type", "elements of A and B; sums are float", {"bf16", "f16"}),
                choice_axis("block", "rows and columns of C that a work-group makes, and the part of k in local memory",
                            {"128x256x32", "256x128x32", "128x128x32", "128x256x16", "128x128x16"})
                    .tuned()
                    .only(with_units),
                count_axis("stages", "", "blocks in local memory at once; auto is what it holds, up to 4", 2, 8)
                    .tune({"auto", "2", "3", "4", "5", "6"})
                    .only({"async"})};
    out.variants = {{"naive", "One element of C per work-item, operands straight from memory."},
                    {"local", "A 16x16 work-group shares tiles of A and B in local memory."},
                    {"mma", "Matrix units: 128x128 of C per work-group, tiles through local memory, ldmatrix."},
                    {"buffered", "mma with two tiles: one is multiplied while the next is fetched into registers."},
                    {"async", "mma with copies straight to local memory, several blocks ahead."}};
    out.curve_over = "m";
    return out;
}

}  // namespace cllab::model::hgemm_family

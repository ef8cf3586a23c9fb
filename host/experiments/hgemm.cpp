// hgemm: C = A B with 16-bit elements and float sums, or 8-bit elements and int sums. The variants go from one element
// per work-item to matrix units that never wait for data.
#include "experiments/lib/family.hpp"
#include "experiments/lib/gemm.hpp"
#include "experiments/lib/matrix.hpp"

namespace cllab::model::hgemm_family {

using namespace lib;

const Texts with_units{"mma", "buffered", "async", "wgmma"};
/// Bytes of local memory that `wgmma` needs in addition to its stages: a tensor map of 128 bytes, barriers, alignment.
constexpr std::size_t wgmma_bytes = 512;

/// One cell's sizes, all resolved.
struct Sizes {
    std::size_t m = 0, n = 0, k = 0;
    std::string type;
    std::size_t block_m = 16, block_n = 16, block_k = 16, stages = 1;
    std::size_t groups = 0;  ///< work-groups of `wgmma`; each makes several tiles

    bool is_bytes() const { return type == "s8"; }
    std::size_t element_bytes() const { return is_bytes() ? 1 : 2; }
    std::size_t stage_bytes() const { return element_bytes() * block_k * (block_m + block_n); }
};

/// Reads the axes of the variants with matrix units. Throws Unsupported if the device lacks the units that they need.
void choose_blocks(Sizes& s, const Device& device, const std::string& variant, Params& params) {
    const bool is_wgmma = variant == "wgmma";
    if (is_wgmma) {
        s.block_m = 128, s.block_n = 256, s.block_k = 128 / s.element_bytes();
    } else {
        const auto block = params.text("block");
        const auto x = block.find('x'), second = block.find('x', x + 1);
        s.block_m = std::stoul(block.substr(0, x));
        s.block_n = std::stoul(block.substr(x + 1, second - x - 1));
        s.block_k = std::stoul(block.substr(second + 1)) * 2 / s.element_bytes();
    }
    const auto room = matrix::array_bytes(device, is_wgmma) - (is_wgmma ? wgmma_bytes : 0);
    const auto most = room / s.stage_bytes();
    s.stages = is_wgmma || variant == "async" ? params.count("stages", std::clamp<std::size_t>(most, 2, 4))
               : variant == "mma"             ? 1
                                              : 2;
    if (device.implementation != Implementation::nvidia || device.compute_capability < 80)
        throw Unsupported("the kernel needs NVIDIA's matrix units (PTX, sm_80 or later)");
    if (is_wgmma && device.compute_capability != 90) throw Unsupported("the instruction wgmma needs sm_90");
    if (s.stages > most)
        throw Unsupported("the kernel has ", s.stages, " stages of ", format_bytes(s.stage_bytes()), "; at most ", most,
                          " fit in ", format_bytes(room), " of local memory");
    const std::size_t step = is_wgmma ? s.block_k : 64 / s.element_bytes();
    if (s.m % s.block_m || s.n % s.block_n || s.k % step)
        throw Unsupported("m, n and k are ", s.m, ", ", s.n, " and ", s.k, "; they must be multiples of ", s.block_m,
                          ", ", s.block_n, " and ", step);
    if (is_wgmma) s.groups = std::min<std::size_t>(s.m / s.block_m * (s.n / s.block_n), device.compute_units);
}

Sizes sizes_of(const Device& device, const std::string& variant, Params& params) {
    Sizes s;
    s.m = params.count("m", by_scale<std::size_t>(device, 40, 256, 4096));
    s.n = params.count("n", s.m), s.k = params.count("k", s.m);
    s.type = params.text("type");
    const std::uint64_t most = 1ull << 40;
    const auto bytes = s.element_bytes();
    require_room(device, "a", bytes * product("the number of elements of A", {s.m, s.k}, most));
    require_room(device, "b", bytes * product("the number of elements of B", {s.k, s.n}, most));
    require_room(device, "c", 4 * product("the number of elements of C", {s.m, s.n}, most));
    if (is_one_of(variant, with_units)) choose_blocks(s, device, variant, params);
    if (device.max_group < 256)
        throw Unsupported("the kernels need a work-group of 256; the device takes at most ", device.max_group);
    return s;
}

/// The same integers in another type, which holds them exactly. Element i is the float at `place(i)`.
template <typename Element, typename Place, typename Convert>
SharedBytes converted(const SharedBytes& floats, Place place, Convert convert) {
    return filled<Element>(floats.size() / sizeof(float), [=](auto out) {
        const auto from = view<float>(floats);
        fill_each(out, [&](std::size_t i) { return convert(from[place(i)]); });
    });
}

template <typename Place = std::identity>
SharedBytes elements(const SharedBytes& floats, const Sizes& s, Place place = {}) {
    if (s.is_bytes()) return converted<std::int8_t>(floats, place, [](float v) { return static_cast<std::int8_t>(v); });
    if (s.type == "f16") return converted<std::uint16_t>(floats, place, [](float v) { return to_half(v).bits; });
    return converted<std::uint16_t>(floats, place, matrix::to_bf16);
}

Setup setup(const Request& request, const Sizes& s) {
    const auto in = cached(request, "hgemm", std::tuple(s.m, s.n, s.k, request.seed), [&] {
        auto out = gemm::random_matrices(s.m, s.n, s.k, request.seed, 127);
        out.c = {};
        return out;
    });
    Setup out;
    const auto transposed = [n = s.n, k = s.k](std::size_t i) { return i % k * n + i / k; };
    out.args = {
        Input{"a", elements(in->a, s)},
        Input{"b", s.is_bytes() ? elements(in->b, s, transposed) : elements(in->b, s)},
        Output{"c", s.m * s.n * sizeof(float), s.n * sizeof(float)},
    };
    if (s.groups > 0) out.args.emplace_back(Scratch{"maps", 256 * s.groups});
    const bool has_units = is_one_of(request.variant.name, with_units);
    for (const auto& [name, size] : {std::pair{"m", s.m}, {"n", s.n}, {"k", s.k}})
        out.args.emplace_back(value<std::int32_t>(name, size));
    out.defines = {"TYPE_" + s.type};
    if (has_units) {
        for (const auto& [name, number] :
             {std::pair{"BLOCK_M", s.block_m}, {"BLOCK_N", s.block_n}, {"BLOCK_K", s.block_k}, {"STAGES", s.stages}})
            out.defines.push_back(concat(name, "=", number));
        out.local = Extent(s.groups > 0 ? 288 : 256);
        out.global = Extent((s.groups > 0 ? s.groups : s.m / s.block_m * (s.n / s.block_n)) * out.local.size[0]);
    } else {
        out.local = Extent(16, 16);
        out.global = Extent(round_up(s.n, 16), round_up(s.m, 16));
    }
    const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
    out.work = {static_cast<double>(s.element_bytes()) * (m * k + k * n) + 4 * m * n, s.is_bytes() ? 0 : 2 * m * n * k,
                0};
    out.check = [in, is_int = s.is_bytes()](const Buffers& buffers) {
        if (!is_int) return gemm::check(*in, buffers.as<float>("c"), buffers.poison_seed);
        const auto sums = buffers.as<std::int32_t>("c");
        const std::vector<float> as_floats(sums.begin(), sums.end());
        return gemm::check(*in, as_floats, buffers.poison_seed);
    };
    return out;
}

/// Computes 2 m n k from the three sizes m k, k n and m n.
double integer_operations(const Setup& setup, double seconds) {
    if (!matrix::is_integer(setup)) return NAN;
    const auto bytes = [&](std::size_t at) { return static_cast<double>(std::get<Input>(setup.args[at]).data.size()); };
    const auto of_c = static_cast<double>(std::get<Output>(setup.args[2]).size_bytes) / sizeof(std::int32_t);
    return 2 * std::sqrt(bytes(0) * bytes(1) * of_c) / seconds;
}

Experiment describe() {
    return family("hgemm", sizes_of, setup, {.metrics = {{"ops", "op/s", Better::higher, integer_operations}}});
}

}  // namespace cllab::model::hgemm_family

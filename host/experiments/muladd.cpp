// muladd: the smallest kernel that computes something, for reading its code.
#include "experiments/lib/family.hpp"

namespace cllab::model::muladd_family {

using namespace lib;

/// Three numbers for which fma(a, b, c) and a * b + c differ, so that a check can distinguish them. a * b needs more
/// than 24 bits, and c cancels its leading bits.
struct Operands {
    float a, b, c;
};

Operands operands(std::uint64_t seed) {
    Random random(seed);
    for (;;) {
        const float a = random.real(1, 2), b = random.real(1, 2), c = -random.real(1, 4);
        const float product = a * b;
        if (std::fma(a, b, c) != product + c && std::fma(a, b, c) != 0) return {a, b, c};
    }
}

struct Shape {
    std::size_t items = 0, offset = 0;
};

Shape shape_of(const Device& device, const std::string& variant, Params& params) {
    Shape s;
    if (variant == "local") {
        s.items = group(params, device, 256);
        return s;
    }
    s.items = params.count("items");
    s.offset = params.count("offset");
    return s;
}

Setup setup(const Request& request, const Shape& shape) {
    const auto [items, offset] = shape;
    const auto [a, b, c] = operands(request.seed);
    const float product = a * b;  // rounded here: a separate statement, -ffp-contract=off
    const float expected = request.variant.name == "mad" ? product + c : std::fma(a, b, c);

    Setup out;
    // The elements before the offset must stay unwritten.
    out.args = {Output{"out", (offset + items) * sizeof(float)}, value("a", a), value("b", b), value("c", c)};
    out.global = Extent(items);
    if (request.variant.name == "local") out.local = Extent(items);
    if (offset > 0) out.offset = Extent(offset);
    out.work.bytes = items * sizeof(float);
    out.work.flops = 2.0 * items;
    out.work.steps = items;
    out.check = [expected, offset = offset](const Buffers& buffers) -> std::optional<std::string> {
        const auto found = buffers.as<float>("out");
        for (std::size_t byte = 0; byte < offset * sizeof(float); ++byte)
            if (!buffers.untouched("out", byte))
                return concat("out[", byte / sizeof(float), "] was written; the first is ", offset);
        return first_difference<float>(buffers, "out", [&](std::size_t i) { return i < offset ? found[i] : expected; });
    };
    return out;
}

Experiment describe() { return family("muladd", shape_of, setup); }

}  // namespace cllab::model::muladd_family

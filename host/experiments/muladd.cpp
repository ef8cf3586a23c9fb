// muladd: the smallest kernel that computes anything, for reading its code.
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "core/random.hpp"
#include "model/params.hpp"

namespace cllab::model {
namespace {

/// Three numbers for which fma(a, b, c) and a * b + c differ, so that a check can tell one from the other: a * b needs
/// more than 24 bits and c cancels its leading ones.
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

std::string hexadecimal(float value) {
    char text[48];
    std::snprintf(text, sizeof text, "%.9g (%a)", static_cast<double>(value), static_cast<double>(value));
    return text;
}

Setup setup(const Request& request, Params& params) {
    const auto items = params.count("items");
    const auto [a, b, c] = operands(request.seed);
    const float product = a * b;  // a statement of its own and -ffp-contract=off: rounded here
    const float expected = request.variant.name == "fma" ? std::fma(a, b, c) : product + c;

    Setup out;
    out.args = {Output{"out", items * sizeof(float)}, value("a", a), value("b", b), value("c", c)};
    out.global = Extent(items);
    out.work.bytes = static_cast<double>(items * sizeof(float));
    out.work.flops = 2.0 * static_cast<double>(items);
    out.work.steps = static_cast<double>(items);
    out.check = [expected](const Buffers& buffers) -> std::optional<std::string> {
        const auto found = buffers.as<float>("out");
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (std::bit_cast<std::uint32_t>(found[i]) != std::bit_cast<std::uint32_t>(expected))
                return "out[" + std::to_string(i) + "] is " + hexadecimal(found[i]) + ", expected " +
                       hexadecimal(expected);
        }
        return std::nullopt;
    };
    return out;
}

}  // namespace

Experiment describe_muladd() {
    Experiment out;
    out.family = "muladd";
    out.question = "What does a device make of one multiply-add and one store?";
    out.axes = {
        {"items", "work-item", "work-items, each of which writes one float", Axis::Kind::integer, {"1048576"}, {}, 1, 1 << 28}};
    out.variants = {{"fma", "fma(a, b, c): one rounding."}, {"mad", "a * b + c with contraction off: two roundings."}};
    out.setup = setup;
    return out;
}

}  // namespace cllab::model

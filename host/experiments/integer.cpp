// integer: how many integer multiplications and divisions a device does in a second, by their width, and dot products
// of bytes.
#include "experiments/lib/family.hpp"

namespace cllab::model::integer_family {

using namespace lib;

constexpr std::size_t period = 256;            // work-items further on begin with the same values
constexpr std::size_t chains = 4, rounds = 4;  // of a work-item, in a trip

/// A step of one chain, as the kernel does it.
template <typename T>
T next(const std::string& variant, T v, T s, T key) {
    if (variant == "multiply") return static_cast<T>(v * ((key & ~T{7}) | 5) + (s | 1));
    if (variant == "dot") {
        T sum = v;
        for (unsigned at = 0; at < 32; at += 8) sum = static_cast<T>(sum + (v >> at & 255) * (s >> at & 255));
        return sum;
    }
    return static_cast<T>((key / (v | 1)) ^ s);
}

template <typename T>
void fill(Setup& out, const Request& request, std::size_t items) {
    const auto& variant = request.variant.name;
    Random random(request.seed);
    // A divisor of five eighths of the bits leaves a quotient of three eighths.
    constexpr unsigned kept = 8 * sizeof(T) / 8 * 5;
    std::vector<T> start(chains * period);
    for (auto& s : start) s = static_cast<T>((random() | std::uint64_t{1} << 63) >> (64 - kept));
    const T key = static_cast<T>(random() | std::uint64_t{1} << 63 | std::uint64_t{1} << 31);
    out.args = {Input{"start", share(start)}, Output{"out", chains * items * sizeof(T)}, value("key", key),
                value<std::uint32_t>("period", period), trips()};
    out.check = [=](const Buffers& buffers) {
        std::vector<T> expected = start;
        for (auto& v : expected) {
            const T s = v;
            T sum = 0;
            for (std::int64_t k = 0; k < static_cast<std::int64_t>(rounds) * buffers.trips; ++k)
                sum = static_cast<T>(sum + (v = next(variant, v, s, key)));
            if (variant == "divide") v = sum;
        }
        return first_difference<T>(buffers, "out", [&](std::size_t i) { return expected[i % expected.size()]; });
    };
}

Setup setup(const Request& request, Params& params) {
    const auto& device = request.device;
    const auto bits = request.variant.name == "dot" ? "32" : params.text("bits");
    const std::size_t items = std::min<std::size_t>(device.is_gpu() ? 256 : 16, device.max_group),
                      groups = is_simulator(device) ? 1 : device.compute_units * (device.is_gpu() ? 8u : 4u);
    Setup out;
    if (bits == "64")
        fill<std::uint64_t>(out, request, items * groups);
    else
        fill<std::uint32_t>(out, request, items * groups);
    launch_groups(out, groups, items);
    // A CPU's launches differ by more than so few operations take.
    const int low = (request.variant.name == "divide" ? 16 : 128) * (device.is_cpu() ? 16 : 1);
    out.slope = slope(device, low, 3 * low, rounds * chains * items * groups);
    out.work.steps = 1;
    out.defines = {"TYPE=" + std::string(bits == "64" ? "ulong" : "uint")};
    return out;
}

void conclude(const Curve& curve, const Device&, std::vector<Finding>& out) {
    for (const auto& s : curve.samples) {
        const auto how = "all units, four chains per work-item" + through(s, chains * rounds);
        if (curve.variant == "dot") {
            out.push_back(rate_finding("dot", "dot products of four bytes", "op/s", s, 1,
                                       how + "; four products and an addition are one"));
            continue;
        }
        const auto bits = s.x == 0 ? std::string("32") : std::string("64");
        out.push_back(rate_finding("rate." + curve.variant + "." + bits, bits + "-bit integer " + curve.variant, "op/s",
                                   s, 1, how));
    }
}

Experiment describe() {
    auto out =
        family("integer",
               "How many integer multiplications, divisions and dot products does the device do in a second?", setup);
    out.axes = {
        choice_axis("bits", "width of the integers", {"32", "64"}).usually({"32", "64"}).only({"multiply", "divide"})};
    out.variants = {variant("multiply", "Squares, with an addition each.").defines({"INTEGER_MULTIPLY"}),
                    variant("divide", "Divisions of full width.").defines({"INTEGER_DIVIDE"}),
                    variant("dot", "Four products of bytes, added to a word.").defines({"INTEGER_DOT"})};
    out.metrics = {rate_metric("operations", "op/s")};
    out.curve_over = "bits";
    out.conclude = each_curve(conclude);
    return out;
}

}  // namespace cllab::model::integer_family

// integer: integer multiplications and divisions per second by their width, and dot products of bytes and of 16-bit
// integers, with their latency.
#include "experiments/lib/family.hpp"

namespace cllab::model::integer_family {

using namespace lib;

/// One cell's sizes, all resolved.
struct Shape {
    std::string bits = "32";
    bool rate = true;
    std::size_t chains = 4, items = 1, groups = 1;

    std::size_t links() const { return rate ? 4 : 16; }  ///< of each chain in a trip
    /// Work-items repeat their start values with this period, so that the host computes fewer chains.
    std::size_t period() const { return std::min<std::size_t>(256, items * groups); }
};

bool is_dot(const std::string& variant) { return variant.starts_with("dot") || variant.starts_with("pair"); }

Shape shape_of(const Device& device, const std::string& variant, Params& params) {
    Shape out{.rate = !variant.ends_with("_latency")};
    if (!is_dot(variant)) out.bits = params.text("bits");
    if (!out.rate) {
        out.chains = 1, out.items = wave_width(device);
        return out;
    }
    out.items = std::min<std::size_t>(device.is_gpu() ? 256 : 16, device.max_group);
    if (!is_simulator(device)) out.groups = device.compute_units * (device.is_gpu() ? 8u : 4u);
    return out;
}

/// The sum of the products of four bytes, or of two signed 16-bit integers.
std::uint32_t products(bool of_bytes, std::uint32_t a, std::uint32_t b) {
    std::uint32_t sum = 0;
    if (of_bytes)
        for (unsigned at = 0; at < 32; at += 8) sum += (a >> at & 255) * (b >> at & 255);
    else
        for (unsigned at = 0; at < 32; at += 16)
            sum += static_cast<std::uint32_t>(std::int32_t{static_cast<std::int16_t>(a >> at)} *
                                              static_cast<std::int16_t>(b >> at));
    return sum;
}

/// The result of a chain that begins with `s`, after `links` links, as in the kernel.
template <typename T>
T left_by(const std::string& variant, T s, T key, std::int64_t links) {
    const bool dot = is_dot(variant), of_bytes = variant.starts_with("dot"), multiply = variant == "multiply";
    T v = s, sum = 0;
    for (std::int64_t k = 0; k < links; ++k) {
        if (dot)
            v = std::exchange(sum, v) +
                products(of_bytes, static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(s));
        else if (multiply)
            v = static_cast<T>(v * ((key & ~T{7}) | 5) + (s | 1));
        else
            sum = static_cast<T>(sum + (v = static_cast<T>((key / (v | 1)) ^ s)));
    }
    return multiply ? v : dot ? static_cast<T>(v + sum) : sum;
}

template <typename T>
void fill(Setup& out, const Request& request, const Shape& shape) {
    const auto& variant = request.variant.name;
    Random random(request.seed);
    // A divisor of five eighths of the bits leaves a quotient of three eighths. Odd values keep the sum of two products
    // of 16-bit integers below 2^31.
    const unsigned random_bits = variant == "divide" ? sizeof(T) * 5 : 8 * sizeof(T);
    std::vector<T> start(shape.chains * shape.period());
    for (auto& s : start)
        s = static_cast<T>((random() | std::uint64_t{1} << 63) >> (64 - random_bits) | (is_dot(variant) ? 1 : 0));
    const T key = static_cast<T>(random() | std::uint64_t{1} << 63 | std::uint64_t{1} << 31);
    out.args = {Input{"start", share(start)}, Output{"out", shape.chains * shape.items * shape.groups * sizeof(T)},
                value("key", key), value<std::uint32_t>("period", static_cast<std::uint32_t>(shape.period())), trips()};
    out.check = [=, links = static_cast<std::int64_t>(shape.links())](const Buffers& buffers) {
        const auto expected = mapped(start, [&](T s) { return left_by(variant, s, key, links * buffers.trips); });
        return first_difference<T>(buffers, "out", [&](std::size_t i) { return expected[i % expected.size()]; });
    };
}

Setup setup(const Request& request, const Shape& shape) {
    const auto& device = request.device;
    Setup out;
    if (shape.bits == "64")
        fill<std::uint64_t>(out, request, shape);
    else
        fill<std::uint32_t>(out, request, shape);
    launch_groups(out, shape.groups, shape.items);
    // Use more operations on a CPU, because its launches vary by more than so few take.
    const int low = (request.variant.name == "divide" ? 16 : 128) * (device.is_cpu() ? 16 : 1);
    out.slope =
        slope(device, low, 3 * low,
              static_cast<double>(shape.links() * (shape.rate ? shape.chains * shape.items * shape.groups : 1)));
    out.chained = !shape.rate;
    out.work.steps = 1;
    out.defines = {concat("TYPE=", shape.bits == "64" ? "ulong" : "uint"), concat("CHAINS=", shape.chains),
                   concat("REPEAT=", shape.links() / 2)};
    return out;
}

double operations(const Setup& setup, double seconds) { return setup.chained ? NAN : 1 / seconds; }

void conclude(const Curve& curve, const Device& device, std::vector<Finding>& out) {
    const std::string scalar = device.is_cpu() ? "scalar " : "";
    for (const auto& s : curve.samples) {
        const auto through_many = through(s, 16),
                   how = concat("all units, four chains per work-item",
                                scalar.empty() ? "" : "; vector types may be faster", through_many);
        if (!is_dot(curve.variant)) {
            const auto bits = s.x == 0 ? std::string("32") : std::string("64");
            out.push_back(rate_finding("rate." + curve.variant + "." + bits,
                                       scalar + bits + "-bit integer " + curve.variant, "op/s", s, 1, how));
            continue;
        }
        const bool of_bytes = curve.variant.starts_with("dot");
        const std::string id = of_bytes ? "dot" : "pair",
                          name = scalar + (of_bytes ? "dot products of four bytes" : "dot products of two shorts");
        if (curve.variant != id)
            out.push_back(step_finding("latency." + id, name + ", latency", s,
                                       "slope over products of the sum before" + through_many));
        else
            out.push_back(rate_finding(id, name, "op/s", s, 1,
                                       how + (of_bytes ? "; four products and an addition are one"
                                                       : "; two products and an addition are one")));
    }
}

Experiment describe() {
    return family("integer", shape_of, setup,
                  {.metrics = {{"operations", "op/s", Better::higher, operations}}, .conclude = of_each(conclude)});
}

}  // namespace cllab::model::integer_family

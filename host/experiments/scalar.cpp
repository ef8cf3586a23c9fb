// scalar: values that all work-items of a wave share, after the rules in an article of 2015 on AMD's compiler.
#include "experiments/lib/family.hpp"

namespace cllab::model::scalar_family {

using namespace lib;

struct Shape {
    std::size_t items = 0, local = 1;
};

Shape shape_of(const Device& device, const std::string&, Params& params) {
    Shape s;
    s.local = group(params, device, 64);
    s.items = round_up(params.count("items", by_scale<std::size_t>(device, 128, 1 << 20, 1 << 24)), s.local);
    params.record("items", s.items);
    require_room(device, "out", 4 * s.items);
    return s;
}

constexpr std::size_t table_words = 64;
constexpr int steps = 8;

Setup setup(const Request& request, const Shape& s) {
    const auto& variant = request.variant.name;
    Random random(request.seed);
    const auto a = static_cast<std::uint32_t>(random()), m = static_cast<std::uint32_t>(random());
    const auto table = random_bytes(4 * table_words, request.seed);
    const auto seed = 12345u;

    Setup out;
    out.args = {Output{"out", 4 * s.items}, Input{"table", table}, value("a", a), value("m", m)};
    out.defines = {concat("SEED=", seed, "u")};
    launch_items(out, s.items, s.local);
    out.work.bytes = 4.0 * s.items;
    out.work.steps = s.items;
    out.check = [=](const Buffers& buffers) {
        const auto words = view<std::uint32_t>(table);
        return first_difference<std::uint32_t>(buffers, "out", [&](std::size_t i) {
            const std::uint32_t in_group = i % s.local, group = i / s.local;
            std::uint32_t x = variant == "constant" ? seed
                              : variant == "load"   ? words[group % table_words]
                              : variant == "result" ? a ^ group
                              : variant == "item"   ? a ^ in_group
                              : variant == "branch" ? (in_group % 2 == 1 ? m : a)
                                                    : a;
            for (int step = 0; step < steps; ++step) x = x * x + m;
            return x + static_cast<std::uint32_t>(i);
        });
    };
    return out;
}

Experiment describe() { return family("scalar", shape_of, setup); }

}  // namespace cllab::model::scalar_family

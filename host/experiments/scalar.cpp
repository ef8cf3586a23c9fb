// scalar: values that all work-items of a wave share, after the rules of an article of 2015 on AMD's compiler.
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

Experiment describe() {
    auto out =
        family("scalar", "Which values does the compiler compute once for all work-items of a wave?", shape_of, setup);
    out.axes = {
        count_axis("items", "work-item", "work-items, whole groups of them; auto is 2^24, on a CPU 2^20", 1, 1 << 30),
        local_axis("work-items per group; auto is 64")};
    out.variants = {
        {"argument", "The value is a kernel argument."},
        {"constant", "The value is known to the compiler."},
        {"load", "The value is loaded from __constant memory at the group's own place."},
        {"result", "The value is computed from an argument and the group's number."},
        {"item", "The value depends on the work-item: the control, which no unit can share."},
        {"branch", "The value is one of two arguments, by a branch that work-items of one wave take apart."}};
    return out;
}

}  // namespace cllab::model::scalar_family

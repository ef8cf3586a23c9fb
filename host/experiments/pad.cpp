// pad: 7x7 planes into 13x13, after section 2.13 of the Vega64 tutorial. The tutorial's figures count the output twice.
// Here the bytes are those that move: each input word once, each output word once.
#include "experiments/lib/family.hpp"

namespace cllab::model::pad_family {

using namespace lib;

struct Shape {
    std::size_t images = 0, channels = 0, side = 0, margin = 0, k = 1, local = 1;
    std::size_t planes() const { return images * channels; }
    std::size_t wide() const { return side + 2 * margin; }
    std::size_t area() const { return wide() * wide(); }
};

Shape shape_of(const Device& device, const std::string& variant, Params& params) {
    Shape out{params.count("images", by_scale<std::size_t>(device, 2, 128, 1024)),
              params.count("channels", by_scale<std::size_t>(device, 5, 512, 1024)), params.count("side"),
              params.count("margin")};
    const auto words =
        product("the number of output words", {out.images, out.channels, out.wide(), out.wide()}, 1ull << 40);
    require_room(device, "out", 4 * words);
    if (variant == "runtime" || variant == "constant") out.k = params.count("k");
    out.local = group(params, device, variant == "wide" && device.is_cpu() ? 1 : 256);
    return out;
}

std::optional<std::string> check(const Shape& s, const SharedBytes& in, const Buffers& buffers) {
    const auto found = buffers.as<std::uint32_t>("out"), from = view<std::uint32_t>(in);
    return first_of_pieces(s.planes(), 256, [&](std::size_t begin, std::size_t end) -> std::optional<std::string> {
        std::size_t i = begin * s.wide() * s.wide(), next = begin * s.side * s.side;
        for (std::size_t plane = begin; plane < end; ++plane) {
            for (std::size_t y = 0; y < s.wide(); ++y) {
                for (std::size_t x = 0; x < s.wide(); ++x, ++i) {
                    const bool inside =
                        y >= s.margin && y < s.margin + s.side && x >= s.margin && x < s.margin + s.side;
                    const std::uint32_t expected = inside ? from[next++] : 0;
                    if (found[i] != expected)
                        return concat("plane ", plane, ", row ", y, ", column ", x, " is ", found[i], ", expected ",
                                      expected);
                }
            }
        }
        return std::nullopt;
    });
}

Setup setup(const Request& request, const Shape& s) {
    const auto& device = request.device;
    const auto& variant = request.variant.name;
    const std::size_t count = s.planes() * s.side * s.side;
    const SharedBytes in =
        *cached(request, "pad", std::tuple(count, request.seed), [&] { return random_bytes(4 * count, request.seed); });
    const std::size_t words = s.planes() * s.area();

    Setup out;
    out.args = {Input{"in", in}, Output{"out", words * 4}};
    out.defines = {concat("SIDE=", s.side), concat("MARGIN=", s.margin)};
    const std::size_t local = s.local, k = s.k;
    if (variant == "runtime" || variant == "constant") {
        out.args.push_back(value<std::int32_t>("channels", s.channels));
        if (variant == "runtime")
            out.args.push_back(value<std::int32_t>("k", k)), out.defines.push_back(k > 16 ? "MOST=64" : "MOST=16");
        else
            out.defines.push_back(concat("CHANNELS_PER_ITEM=", k));
        out.local = Extent(local, 1, 1);
        out.global = Extent(local, divide_up(s.channels, k), s.images);
    } else if (variant == "flat") {
        out.args.push_back(value<std::uint64_t>("total", words));
        launch_items(out, words, local);
    } else {
        out.args.push_back(value<std::uint64_t>("planes", s.planes()));
        if (device.is_cpu()) {
            launch_items(out, std::min<std::size_t>(s.planes(), 8ull * device.compute_units), local);
        } else {
            // A multiple of the words of a block, so that a work-item keeps its word. Several times the resident
            // number, so that the last groups leave little of the device idle, but at most the number of blocks.
            const std::size_t unit = s.area() * local, items = std::min<std::size_t>(8 * 2048ull * device.compute_units,
                                                                                     s.planes() / 4 * s.area());
            out.local = Extent(local);
            out.global = Extent(unit * std::max<std::size_t>(1, items / unit));
        }
    }
    out.work = {4.0 * (words + s.planes() * s.side * s.side), 0, 0};
    out.check = [in, s](const Buffers& buffers) { return check(s, in, buffers); };
    return out;
}

Experiment describe() { return family("pad", shape_of, setup); }

}  // namespace cllab::model::pad_family

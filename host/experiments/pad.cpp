// pad: 7x7 planes into 13x13, after section 2.13 of the Vega64 tutorial, whose figures count the output twice; here the
// bytes are the ones that move: each input word once, each output word once.
#include <tuple>

#include "experiments/support.hpp"

namespace cllab::model {
namespace {

using namespace support;

struct Shape {
    std::size_t images = 0, channels = 0, side = 0, margin = 0;
    std::size_t planes() const { return images * channels; }
    std::size_t wide() const { return side + 2 * margin; }
    std::size_t area() const { return wide() * wide(); }
};

Shape shape_of(const Request& request) {
    const auto& device = request.device;
    const auto images = integer_or(request.point, "images", by_scale(device, 2, 128, 1024));
    const auto channels = integer_or(request.point, "channels", by_scale(device, 5, 512, 1024));
    const auto side = request.point.integer("side"), margin = request.point.integer("margin");
    const auto wide = side + 2 * margin;
    require_room(device, "out", 4 * product("the padded tensor", {images, channels, wide, wide}, 1ull << 40));
    if (images > 65535) throw Error(Blame::usage, "images is " + std::to_string(images) + "; at most 65535 are possible");
    return {static_cast<std::size_t>(images), static_cast<std::size_t>(channels), static_cast<std::size_t>(side),
            static_cast<std::size_t>(margin)};
}

Setup setup(const Request& request) {
    const auto s = shape_of(request);
    const auto& device = request.device;
    const auto& variant = request.variant.name;
    static Recent<std::tuple<std::size_t, std::uint64_t>, SharedBytes> recent;
    const SharedBytes in = *recent.get({s.planes() * s.side * s.side, request.seed}, [&] {
        return random_values<std::uint32_t>(s.planes() * s.side * s.side, request.seed, [](std::uint32_t w) { return w; });
    });
    const std::size_t words = s.planes() * s.area();

    Setup out;
    out.args = {Input{"in", in}, Output{"out", words * 4}};
    out.defines = {"SIDE=" + std::to_string(s.side), "MARGIN=" + std::to_string(s.margin)};
    const std::size_t local = group_of(device, static_cast<std::size_t>(integer_or(request.point, "local", 256)));
    const auto k = request.point.integer("k");
    if (variant == "runtime" || variant == "constant") {
        out.args.push_back(value("channels", static_cast<std::int32_t>(s.channels)));
        if (variant == "runtime")
            out.args.push_back(value("k", static_cast<std::int32_t>(k)));
        else
            out.defines.push_back("CHANNELS_PER_ITEM=" + std::to_string(k));
        out.local = Extent(local, 1, 1);
        out.global = Extent(local, divide_up(s.channels, static_cast<std::size_t>(k)), s.images);
    } else if (variant == "flat") {
        out.args.push_back(value("total", static_cast<std::uint64_t>(words)));
        out.local = Extent(local);
        out.global = Extent(round_up(words, local));
    } else {
        out.args.push_back(value("planes", static_cast<std::uint64_t>(s.planes())));
        if (device.is_cpu()) {
            out.local = Extent(1);
            out.global = Extent(std::min<std::size_t>(s.planes(), 8ull * device.compute_units));
        } else {
            // A multiple of the words of a block, so that an item stays at its word; several times what is resident, so
            // that the last groups leave little of the device idle, and no more than there are blocks.
            const std::size_t unit = s.area() * local, items = std::min<std::size_t>(8 * 2048ull * device.compute_units,
                                                                                         s.planes() / 4 * s.area());
            out.local = Extent(local);
            out.global = Extent(unit * std::max<std::size_t>(1, items / unit));
        }
    }
    out.work = {4.0 * static_cast<double>(words + s.planes() * s.side * s.side), 0, 0};
    out.resolved = {{"images", std::to_string(s.images)}, {"channels", std::to_string(s.channels)},
                    {"local", std::to_string(out.local.size[0])}};
    out.check = [in, s](const Buffers& buffers) -> std::optional<std::string> {
        const auto found = buffers.as<std::uint32_t>("out"), from = view<std::uint32_t>(in);
        std::size_t i = 0, next = 0;
        for (std::size_t plane = 0; plane < s.planes(); ++plane) {
            for (std::size_t y = 0; y < s.wide(); ++y) {
                for (std::size_t x = 0; x < s.wide(); ++x, ++i) {
                    const bool inside = y >= s.margin && y < s.margin + s.side && x >= s.margin && x < s.margin + s.side;
                    const std::uint32_t expected = inside ? from[next++] : 0;
                    if (found[i] != expected)
                        return "plane " + std::to_string(plane) + ", row " + std::to_string(y) + ", column " + std::to_string(x) +
                               " is " + std::to_string(found[i]) + ", expected " + std::to_string(expected);
                }
            }
        }
        return std::nullopt;
    };
    return out;
}

}  // namespace

Experiment describe_pad() {
    Experiment out;
    out.family = "pad";
    out.question = "How near to a plain copy does padding small planes come, and what does a private array in scratch cost?";
    const auto axis = [](const char* name, const char* unit, const char* meaning, const char* standard, double least, double most) {
        return Axis{name, unit, meaning, Axis::Kind::integer, {standard}, {}, least, most, std::string(standard) == "auto"};
    };
    out.axes = {axis("images", "", "images; auto is 1024, on a CPU 128", "auto", 1, 65535),
                axis("channels", "", "planes an image; auto is 1024, on a CPU 512", "auto", 1, 1 << 20),
                axis("side", "word", "rows and columns of an input plane", "7", 1, 1024),
                axis("margin", "word", "zeros on each side", "3", 0, 1024),
                axis("k", "", "planes a work-item of runtime and constant", "4", 1, 16),
                axis("local", "work-item", "work-group; auto is 256, and wide has 1 on a CPU", "auto", 1, 4096)};
    out.axes[4].tune = {"1:16:*2"};
    out.axes[4].tune_only = {"runtime", "constant"};
    out.axes[5].tune = {"auto", "32:512:*2"};
    out.variants = {
        {"runtime", "k planes an item through a private array of a length the compiler does not know."},
        {"constant", "k planes an item, k known to the compiler."},
        {"flat", "One output word an item, two divisions each."},
        {"wide", "128-bit stores that ignore the edges of planes; where they come from is worked out once an item."},
    };
    out.setup = setup;
    out.validate = [](const Request& request) { shape_of(request); };
    return out;
}

}  // namespace cllab::model

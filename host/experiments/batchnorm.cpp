// batchnorm: the tutorial's per-pixel forms and the per-channel layer, both verified; after section 2.14 of the Vega64
// tutorial, whose per-pixel statistics are not the layer's and whose four-item variant skips a quarter of the data.
#include "experiments/lib/batchnorm_reference.hpp"
#include "experiments/lib/family.hpp"

namespace cllab::model::batchnorm_family {

using namespace lib;
using batchnorm::Data;
using batchnorm::Shape;

bool by_channel(const std::string& variant) { return variant.rfind("channel", 0) == 0; }

/// What one cell is launched with.
struct Choice : Shape {
    std::size_t slices = 1;  ///< of channel_wide
};

/// The divisor d of `images` for which d * channels is nearest to `wanted`, by ratio: equal shares for all.
std::size_t nearest_divisor(std::size_t images, std::size_t wanted, std::size_t channels) {
    std::size_t best = 1;
    const auto distance = [&](std::size_t d) {
        return std::abs(std::log(static_cast<double>(d * channels) / static_cast<double>(wanted)));
    };
    for (std::size_t d = 2; d <= images; ++d) {
        if (images % d == 0 && distance(d) < distance(best)) best = d;
    }
    return best;
}

Choice choice_of(const Device& device, const std::string& variant, Params& params) {
    const auto axis = [&](const char* name, std::size_t simulated, std::size_t cpu, std::size_t gpu) {
        return params.count(name, by_scale(device, simulated, cpu, gpu));
    };
    const auto n = axis("images", 5, 32, 128), c = axis("channels", 3, 64, 256);
    const auto h = axis("height", 4, 56, 56), w = axis("width", 6, 56, 56);
    // Indices within an image and within a channel are 32-bit.
    const auto pixels = product("the number of values per image", {c, h, w}, (1ull << 31) - 1);
    const auto values = product("the number of values per channel", {n, h, w}, (1ull << 31) - 1);
    if (by_channel(variant) && values < 2)
        throw Unsupported(
            "a channel has only 1 value and no deviation; training needs at least 2 images, rows or columns");
    require_room(device, "x", product("the tensor's size in bytes", {n, pixels, 4}, 1ull << 40));
    Choice out{{n, c, h * w}};
    if (variant == "channel_wide") {
        // About enough groups to fill the device four times over, so that the last ones leave little of it idle.
        const std::size_t wanted = (device.is_cpu() ? 4ull : 32ull) * device.compute_units;
        out.slices = params.count("slices", nearest_divisor(out.images, wanted, out.channels));
        if (out.slices > out.images)
            throw Unsupported("axis 'slices' is ", out.slices, "; there are only ", out.images, " images to share");
    }
    return out;
}

void pixel(Setup& out, const Request& request, const Shape& s) {
    out.args = {out.args[0], Output{"y", s.total() * 4}, Output{"means", s.pixels() * 4},
                Output{"scales", s.pixels() * 4}};
    if (request.variant.name.starts_with("pixel_split")) {
        const std::size_t parts = request.variant.name.back() == '4' ? 4 : 2;
        const std::size_t places = std::min<std::size_t>(64, request.device.max_group / parts);
        if (places == 0)
            throw Unsupported("a pixel takes ", parts, " work-items of one work-group; the device takes groups of ",
                              request.device.max_group);
        // More would be spilled anyway, and unrolled loops of that length take minutes to compile.
        if (divide_up(s.images, parts) > 256)
            throw Unsupported("a work-item would hold ", divide_up(s.images, parts),
                              " values in registers; at most 256 are possible");
        out.defines.push_back(concat("PLACES=", places, "u"));
        out.local = Extent(places, parts);
        out.global = Extent(round_up(s.pixels(), places), parts);
    } else {
        launch_items(out, s.pixels(), group_of(request.device, request.device.is_cpu() ? 64 : 256));
    }
}

void channel(Setup& out, const Request& request, const Choice& s, const Data& data) {
    const auto& device = request.device;
    out.args.insert(out.args.end(),
                    {Output{"y", s.total() * 4}, Output{"means", s.channels * 4}, Output{"scales", s.channels * 4},
                     InOut{"running", data.running}, Input{"gamma", data.gamma}, Input{"beta", data.beta}});
    if (request.variant.name == "channel_wide") {
        const std::size_t vector = device.is_cpu() && s.plane % 8 == 0 ? 8 : s.plane % 4 == 0 ? 4 : 1;
        const std::size_t local = device.is_cpu() ? 1 : group_of(device, 256), groups = s.channels * s.slices;
        out.defines.insert(out.defines.end(), {concat("VECTOR=", vector), concat("SLICES=", s.slices, "u")});
        out.args.insert(out.args.end(), {Scratch{"partial", groups * 8}, Local{"shared_", local * 8}});
        const Extent all(groups * local), group(local);
        out.steps = {launch("partial_sums", "batchnorm_partial", all, group, {"x", "partial", "shared_"}),
                     launch("result", "batchnorm_apply", all, group,
                            {"x", "y", "partial", "means", "scales", "running", "gamma", "beta"})};
    } else {
        const std::size_t local = group_of(device, device.is_cpu() ? 64 : 512), own = group_of(device, 256);
        out.args.push_back(Local{"shared_", local * 4});
        out.steps = {launch("statistics", "batchnorm_statistics", Extent(s.channels * local), Extent(local),
                            {"x", "means", "scales", "running", "shared_"}),
                     launch("result", "batchnorm_normalise", Extent(round_up(s.total(), own)), Extent(own),
                            {"x", "y", "means", "scales", "gamma", "beta"})};
    }
}

Setup setup(const Request& request, const Choice& s) {
    const auto data = kept(request, "batchnorm", std::tuple(s.images, s.channels, s.plane, request.seed),
                           [&] { return batchnorm::random_data(s, request.seed); });
    Setup out;
    out.args = {Input{"x", data->x}};
    out.defines = defines({{"IMAGES", s.images}, {"CHANNELS", s.channels}, {"PLANE", s.plane}}, "u");
    out.accumulates = by_channel(request.variant.name);  // the running statistics
    if (by_channel(request.variant.name))
        channel(out, request, s, *data);
    else
        pixel(out, request, s);
    out.work = {8.0 * s.total(), 0, static_cast<double>(s.total())};
    out.check = [data, channels = by_channel(request.variant.name)](const Buffers& buffers) {
        return batchnorm::check(*data, channels, buffers);
    };
    return out;
}

Experiment describe() { return family("batchnorm", choice_of, setup); }

}  // namespace cllab::model::batchnorm_family

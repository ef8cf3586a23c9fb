// batchnorm: the tutorial's per-pixel forms and the per-channel layer, both verified. After section 2.14 of the Vega64
// tutorial. Its per-pixel statistics are not the layer's, and its four-item variant skips a quarter of the data.
#include <mutex>

#include "experiments/lib/family.hpp"

namespace cllab::model::batchnorm_family {

using namespace lib;

// The expected results of a batch normalization in double precision, and the error allowed for a float result.

constexpr double epsilon = 1e-5, momentum = 0.1;
constexpr std::size_t planes_of_a_piece = 64;  ///< per thread at a time

struct Shape {
    std::size_t images = 0, channels = 0, plane = 0;  ///< plane: rows times columns
    std::size_t pixels() const { return channels * plane; }
    std::size_t total() const { return images * pixels(); }
    bool operator==(const Shape&) const = default;
};

/// Mean and (biased) variance of each set of values that is normalized together.
struct Statistics {
    std::vector<double> mean, variance;
};

struct Data {
    Shape shape;
    SharedBytes x, gamma, beta, running;  ///< floats: NCHW, C, C, 2 C (means, then variances)
    /// Statistics of C sets, over all but the channel, or of C * plane sets, over the images alone. Computed at the
    /// first use, as is x, because reading the code needs neither.
    const Statistics& statistics(bool by_channel) const;

    struct Made {
        std::array<std::once_flag, 2> once;
        std::array<Statistics, 2> statistics;
    };
    std::shared_ptr<Made> made = std::make_shared<Made>();
};

/// Two passes in double are exact enough for any float result.
Statistics statistics_of(const Shape& s, std::span<const float> x, bool by_channel) {
    const std::size_t sets = by_channel ? s.channels : s.pixels();
    const double count = static_cast<double>(s.images) * (by_channel ? static_cast<double>(s.plane) : 1.0);
    Statistics out{std::vector<double>(sets), std::vector<double>(sets)};
    // One thread visits the values of a set in the order of the images, so the sums do not depend on the number of
    // threads.
    const auto each = [&](std::size_t begin, std::size_t end, auto add) {
        for (std::size_t n = 0; n < s.images; ++n) {
            const float* image = x.data() + n * s.pixels();
            if (by_channel)
                for (std::size_t c = begin; c < end; ++c)
                    for (std::size_t i = 0; i < s.plane; ++i) add(c, static_cast<double>(image[c * s.plane + i]));
            else
                for (std::size_t i = begin; i < end; ++i) add(i, static_cast<double>(image[i]));
        }
    };
    in_parallel(sets, by_channel ? 1 : 256, [&](std::size_t begin, std::size_t end) {
        each(begin, end, [&](std::size_t set, double v) { out.mean[set] += v; });
        for (std::size_t set = begin; set < end; ++set) out.mean[set] /= count;
        each(begin, end,
             [&](std::size_t set, double v) { out.variance[set] += (v - out.mean[set]) * (v - out.mean[set]); });
        for (std::size_t set = begin; set < end; ++set) out.variance[set] /= count;
    });
    return out;
}

const Statistics& Data::statistics(bool by_channel) const {
    auto& out = made->statistics[by_channel];
    std::call_once(made->once[by_channel], [&] { out = statistics_of(shape, view<float>(x), by_channel); });
    return out;
}

/// Random input whose channels differ in mean (to several deviations from zero) and deviation.
Data random_data(const Shape& s, std::uint64_t seed) {
    const auto x = filled<float>(s.total(), [s, seed](std::span<float> v) {
        const auto uniform = random_floats(s.total(), seed, -1, 1);
        const auto u = view<float>(uniform);
        Random random(~seed);
        std::vector<float> centre(s.channels), width(s.channels);
        for (auto& f : centre) f = random.real(-4, 4);
        for (auto& f : width) f = random.real(0.5f, 2);
        in_parallel(s.images * s.channels, planes_of_a_piece, [&](std::size_t begin, std::size_t end) {
            for (std::size_t plane = begin; plane < end; ++plane) {
                const std::size_t c = plane % s.channels;
                for (std::size_t i = plane * s.plane; i < (plane + 1) * s.plane; ++i)
                    v[i] = centre[c] + width[c] * u[i];
            }
        });
    });
    return {s, x, random_floats(s.channels, seed + 2, 0.5f, 1.5f), random_floats(s.channels, seed + 3, -1, 1),
            random_floats(2 * s.channels, seed + 4, 0.5f, 1.5f)};
}

/// The difference of a float from `expected` in words, if it exceeds `allowed`; else nullopt.
std::optional<std::string> off(Errors* errors, const char* buffer, std::size_t i, float found, double expected,
                               double allowed) {
    if (errors && errors->tolerates(found, static_cast<float>(expected))) return std::nullopt;
    if (std::abs(static_cast<double>(found) - expected) <= allowed) return std::nullopt;  // false for NaN
    return difference(buffer, i, found, static_cast<float>(expected));
}

/// Checks y, means, scales (1 / sqrt(variance + epsilon)) and, by channel, the running statistics. A mean may be off by
/// 1e-5 of its set's size. Float sums of some hundred thousand values in any order stay below that. The other limits
/// follow from it by the derivatives of the formulas.
std::optional<std::string> check(const Data& d, bool by_channel, const Buffers& buffers) {
    const auto& s = d.shape;
    const auto& set = d.statistics(by_channel);
    const auto means = buffers.as<float>("means"), scales = buffers.as<float>("scales"), y = buffers.as<float>("y");
    const auto gamma = view<float>(d.gamma), beta = view<float>(d.beta), x = view<float>(d.x),
               before = view<float>(d.running);
    const std::size_t sets = set.mean.size();
    std::vector<double> scale(sets), mean_off(sets), scale_off(sets);
    for (std::size_t i = 0; i < sets; ++i) {
        const double variance = set.variance[i], deviation = std::sqrt(variance);
        scale[i] = 1 / std::sqrt(variance + epsilon);
        mean_off[i] = 1e-5 * (std::abs(set.mean[i]) + deviation);
        scale_off[i] = scale[i] * (1e-4 + deviation * mean_off[i] / (variance + epsilon));
        if (auto wrong = off(buffers.errors, "means", i, means[i], set.mean[i], mean_off[i])) return wrong;
        if (auto wrong = off(buffers.errors, "scales", i, scales[i], scale[i], scale_off[i])) return wrong;
    }
    if (by_channel) {
        const auto running = buffers.as<float>("running");
        const double count = static_cast<double>(s.images * s.plane), unbiased = count / std::max(count - 1, 1.0);
        // Weight of the initial value in a running average after so many operations.
        const double initial_weight = std::pow(1 - momentum, static_cast<double>(buffers.operations));
        for (std::size_t c = 0; c < s.channels; ++c) {
            const double old_mean = before[c], old_variance = before[s.channels + c],
                         variance = set.variance[c] * unbiased;
            if (auto wrong = off(buffers.errors, "running", c, running[c],
                                 set.mean[c] + initial_weight * (old_mean - set.mean[c]), 1e-6 + mean_off[c]))
                return wrong;
            if (auto wrong = off(buffers.errors, "running", s.channels + c, running[s.channels + c],
                                 variance + initial_weight * (old_variance - variance), 1e-6 + 1e-4 * variance))
                return wrong;
        }
    }
    std::mutex merging;
    return first_of_pieces(s.images * s.channels, planes_of_a_piece,
                           [&](std::size_t begin, std::size_t end) -> std::optional<std::string> {
                               std::optional<Errors> errors;
                               if (buffers.errors) errors.emplace(buffers.errors->allowed());
                               for (std::size_t plane = begin; plane < end; ++plane) {
                                   const std::size_t c = plane % s.channels;
                                   const double g = by_channel ? gamma[c] : 1.0, b = by_channel ? beta[c] : 0.0;
                                   for (std::size_t i = 0; i < s.plane; ++i) {
                                       const std::size_t at = plane * s.plane + i, k = by_channel ? c : c * s.plane + i;
                                       const double moved = x[at] - set.mean[k];
                                       const double allowed =
                                           1e-6 + g * (std::abs(moved) * scale_off[k] + scale[k] * mean_off[k]);
                                       if (auto wrong = off(errors ? &*errors : nullptr, "y", at, y[at],
                                                            moved * scale[k] * g + b, allowed))
                                           return wrong;
                                   }
                               }
                               if (!errors) return std::nullopt;
                               const std::lock_guard lock(merging);
                               buffers.errors->merge(*errors);
                               return std::nullopt;
                           });
}

bool by_channel(const std::string& variant) { return variant.rfind("channel", 0) == 0; }

/// The sizes of one cell.
struct Choice : Shape {
    std::size_t slices = 1;  ///< of channel_wide
};

/// The divisor d of `images` whose d * channels is nearest to `wanted`, by ratio, so that all shares are equal.
std::size_t nearest_divisor(std::size_t images, std::size_t wanted, std::size_t channels) {
    std::size_t best = 1;
    const auto distance = [&](std::size_t d) {
        return std::abs(std::log(static_cast<double>(d * channels) / static_cast<double>(wanted)));
    };
    for (std::size_t d = 2; d <= images; ++d)
        if (images % d == 0 && distance(d) < distance(best)) best = d;
    return best;
}

Choice choice_of(const Device& device, const std::string& variant, Params& params) {
    const auto axis = [&](const char* name, std::size_t simulated, std::size_t cpu, std::size_t gpu) {
        return params.count(name, by_scale(device, simulated, cpu, gpu));
    };
    const auto n = axis("images", 5, 32, 128), c = axis("channels", 3, 64, 256);
    const auto h = axis("height", 4, 56, 56), w = axis("width", 6, 56, 56);
    // Indices within an image and within a channel have 32 bits.
    const auto pixels = product("the number of values per image", {c, h, w}, (1ull << 31) - 1);
    const auto values = product("the number of values per channel", {n, h, w}, (1ull << 31) - 1);
    if (by_channel(variant) && values < 2)
        throw Unsupported(
            "a channel has only 1 value, so no variance; batch normalisation needs at least 2 images, rows or columns");
    require_room(device, "x", product("the tensor's size in bytes", {n, pixels, 4}, 1ull << 40));
    Choice out{{n, c, h * w}};
    if (variant == "channel_wide") {
        // About four times the groups that fill the device, so that the last groups leave little of it idle.
        const std::size_t wanted = (device.is_cpu() ? 4ull : 32ull) * device.compute_units;
        out.slices = params.count("slices", nearest_divisor(out.images, wanted, out.channels));
        if (out.slices > out.images)
            throw Unsupported("axis 'slices' is ", out.slices, "; it must be at most ", out.images, ", the images");
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
            throw Unsupported("a pixel needs a work-group of ", parts, "; the device takes at most ",
                              request.device.max_group);
        // More values would be spilled anyway, and unrolled loops of that length take minutes to compile.
        if (divide_up(s.images, parts) > 256)
            throw Unsupported("a work-item needs registers for ", divide_up(s.images, parts),
                              " values; at most 256 are possible");
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
    const auto data = cached(request, "batchnorm", std::tuple(s.images, s.channels, s.plane, request.seed),
                             [&] { return random_data(s, request.seed); });
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
        return check(*data, channels, buffers);
    };
    return out;
}

Experiment describe() { return family("batchnorm", choice_of, setup); }

}  // namespace cllab::model::batchnorm_family

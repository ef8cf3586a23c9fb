// nchw: generation of indices, after section 2.8 of the Vega64 tutorial, with a footprint that exceeds all caches.
#include "experiments/lib/family.hpp"

namespace cllab::model::nchw_family {

using namespace lib;

struct Sizes {
    std::uint32_t n = 0, c = 0, h = 0, w = 0;
    std::size_t local = 1;
    std::size_t total() const { return static_cast<std::size_t>(n) * c * h * w; }
    std::size_t plane() const { return static_cast<std::size_t>(h) * w; }
};

Sizes sizes_of(const Device& device, const std::string& variant, Params& params) {
    const auto n = params.count("images", by_scale<std::size_t>(device, 1, 64, 1024));
    const auto c = params.count("channels"), h = params.count("height"), w = params.count("width");
    // Indices have 32 bits, and the division by a reciprocal needs one of them.
    const auto total = product("the number of elements", {n, c, h, w}, (1ull << 31) - 1);
    require_room(device, "out", 4 * total);
    Sizes out{static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(h),
              static_cast<std::uint32_t>(w)};
    out.local = variant == "rows" && device.is_cpu() ? group(params, device, 1)
                                                     : group(params, device, variant == "rows" ? 64 : 256);
    if (variant == "grid") {
        // A row of an image has no work for more waves.
        out.local = std::min(out.local, round_up(w * c, std::min<std::size_t>(32, out.local)));
        params.record("local", out.local);
    }
    return out;
}

/// Reciprocal and shift for the kernel's `quotient`.
std::pair<std::uint32_t, std::uint32_t> reciprocal_of(std::uint32_t d) {
    std::uint32_t s = 0;
    while ((1ull << s) < d) ++s;
    return {static_cast<std::uint32_t>((1ull << (31 + s)) / d + 1), s};
}

/// Nested loops and one addition per step: no division anywhere.
std::optional<std::string> check(const Sizes& z, const Buffers& buffers) {
    const auto found = buffers.as<std::uint32_t>("out");
    const std::uint32_t plane = z.h * z.w;
    return first_of_pieces(z.n, 1, [&](std::size_t begin, std::size_t end) -> std::optional<std::string> {
        std::size_t i = begin * plane * z.c;
        for (auto n = static_cast<std::uint32_t>(begin); n < end; ++n) {
            for (std::uint32_t pixel = 0; pixel < plane; ++pixel) {
                std::uint32_t expected = n * z.c * plane + pixel;
                for (std::uint32_t c = 0; c < z.c; ++c, ++i, expected += plane)
                    if (found[i] != expected) return difference("out", i, found[i], expected);
            }
        }
        return std::nullopt;
    });
}

Setup setup(const Request& request, const Sizes& z) {
    const auto& device = request.device;
    const auto& variant = request.variant.name;
    const std::size_t local = z.local;
    Setup out;
    out.args = {Output{"out", z.total() * 4}};
    const auto add = [&](const char* name, std::uint32_t v) { out.args.push_back(value(name, v)); };
    const auto sizes = [&] { add("channels", z.c), add("height", z.h), add("width", z.w); };
    launch_items(out, z.total(), local);
    if (variant == "divide" || variant == "magic") {
        add("total", static_cast<std::uint32_t>(z.total()));
        sizes();
        if (variant == "magic") {
            const auto [rc, sc] = reciprocal_of(z.c);
            const auto [rh, sh] = reciprocal_of(z.h);
            const auto [rw, sw] = reciprocal_of(z.w);
            add("rc", rc), add("sc", sc), add("rh", rh), add("sh", sh), add("rw", rw), add("sw", sw);
        }
    } else if (variant == "channel") {
        out.args = {Output{"out", z.n * z.plane() * 4}};
        sizes();
        out.local = Extent(local, 1);
        out.global = Extent(round_up(z.plane(), local), z.n);
        const double written = z.n * z.plane();
        out.work = {4 * written, 0, written};
        out.check = [z](const Buffers& buffers) {
            return first_difference<std::uint32_t>(buffers, "out", [&](std::size_t i) {
                return static_cast<std::uint32_t>(i / z.plane() * z.plane() * z.c + i % z.plane());
            });
        };
        return out;
    } else if (variant == "grid") {
        sizes();
        out.local = Extent(local, 1, 1);
        out.global = Extent(local, z.h, z.n);
    } else if (variant == "rows") {
        const std::size_t rows = static_cast<std::size_t>(z.n) * z.h;
        add("rows", static_cast<std::uint32_t>(rows));
        sizes();
        const std::size_t most = device.is_cpu() ? 8ull * device.compute_units : rows;
        out.global = Extent(round_up(std::min(rows, most), local));
    } else {
        out.defines = {concat("CHANNELS=", z.c, "u"), concat("HEIGHT=", z.h, "u"), concat("WIDTH=", z.w, "u"),
                       concat("TOTAL=", z.total(), "u")};
        if (variant == "vector") launch_items(out, divide_up(z.total(), 4), local);
    }
    out.work = {4.0 * z.total(), 0, static_cast<double>(z.total())};
    out.check = [z](const Buffers& buffers) { return check(z, buffers); };
    return out;
}

Experiment describe() { return family("nchw", sizes_of, setup); }

}  // namespace cllab::model::nchw_family

// pages: the reach of address translation for streams that go from page to page.
#include "experiments/lib/family.hpp"
#include "experiments/lib/levels.hpp"

namespace cllab::model::pages_family {

using namespace lib;

constexpr std::uint32_t reads_per_trip = 4;  // as in pages.cl

std::vector<std::string> counts() {
    std::vector<std::string> out;
    for (int count = 16; count <= 16384; count *= 2) out.push_back(std::to_string(count));
    return out;
}

/// One cell's axes, all resolved.
struct Shape {
    /// count: lines to read, one per page if `apart`. page, line: bytes of a page and of a line.
    std::uint64_t count = 0, page = 4096, line = 64;
    std::uint32_t wave = 1, streams = 1;  ///< lanes that read a line together; number of waves or cores
    std::size_t local = 1;
    bool apart = false, one_by_one = false;  ///< a stream reads lines in order, as on CPUs
    Pages pages = Pages::any;

    std::uint64_t region_bytes() const { return apart ? count * page : count * line; }
};

Shape shape_of(const Device& device, const std::string& variant, Params& params) {
    Shape s;
    s.apart = variant == "apart";
    s.one_by_one = device.is_cpu();
    s.pages = pages_of(params);
    const bool large = device.is_gpu() || s.pages == Pages::huge;
    s.page = params.count("page", large ? 2 << 20 : 4096);
    s.count = params.count("count");
    s.wave = s.one_by_one ? 1 : std::max(8u, wave_width(device));
    s.line = std::max<std::uint64_t>(4 * s.wave, std::max<std::size_t>(64, std::bit_ceil(device.cacheline_bytes)));
    if (s.page < s.line) throw Unsupported("axis 'page' is ", s.page, " bytes; it must be at least ", s.line, " here");
    s.local = s.one_by_one ? 1 : is_simulator(device) ? s.wave : group_of(device, 256) / s.wave * s.wave;
    s.streams = by_scale<std::size_t>(device, 2, device.compute_units, device.compute_units * 2ull * s.local / s.wave);
    require_room(device, "region", s.region_bytes());
    return s;
}

/// The sum of each lane of each stream.
std::vector<std::uint32_t> sums_of(const Shape& s, std::span<const std::uint32_t> words, std::int32_t trips) {
    std::vector<std::uint32_t> out(static_cast<std::size_t>(s.streams) * s.wave);
    const auto reads = static_cast<std::uint64_t>(trips) * reads_per_trip;
    const std::uint64_t step = s.one_by_one ? 1 : s.streams % s.count, round = s.count / std::gcd(step, s.count);
    in_parallel(s.streams, 16, [&](std::size_t begin, std::size_t end) {
        for (auto stream = begin; stream < end; ++stream) {
            auto k = s.one_by_one ? stream * s.count / s.streams : stream % s.count;
            // After `round` reads a stream is back at its start. So each line is read reads / round times, and the
            // first ones once more.
            for (std::uint64_t i = 0; i < std::min(round, reads); ++i, k = (k + step) % s.count) {
                const std::uint32_t times = reads / round + (i < reads % round);
                for (std::uint32_t lane = 0; lane < s.wave; ++lane)
                    out[stream * s.wave + lane] += times * words[k * s.wave + lane];
            }
        }
    });
    return out;
}

Setup setup(const Request& request, const Shape& s) {
    const auto& device = request.device;
    const auto words = random_bytes(4 * s.count * s.wave, request.seed);
    Setup out;
    out.args = {Input{"words", words}, Scratch{"region", s.region_bytes()}, Output{"sums", 4ull * s.streams * s.wave},
                value<std::uint32_t>("mask", s.count - 1), trips()};
    out.steps = {launch("fill", "pages_fill", Extent(s.count * s.wave), {}, {"words", "region", "mask"}),
                 launch("walk", "", Extent(static_cast<std::size_t>(s.streams) * s.wave), Extent(s.local),
                        {"region", "sums", "mask", "trips"})};
    // An odd number near the golden section of their number, so that neighbors in the order are far apart.
    const auto odd = static_cast<std::uint64_t>(0.618 * s.count) | 1;
    out.defines = defines({{"LINE_WORDS", s.line / 4},
                           {"PAGE_WORDS", s.page / 4},
                           {"LINES", s.page / s.line},
                           {"WAVE", s.wave},
                           {"ODD", odd}},
                          "u");
    // On a CPU each launch visits all lines at least once. Otherwise a large region would never be visited completely.
    const auto low = s.one_by_one ? std::max<std::uint64_t>(4096, divide_up(s.count, reads_per_trip)) : 64;
    out.slope = slope(device, low, static_cast<std::int64_t>(5 * low), static_cast<double>(reads_per_trip) * s.streams);
    out.declared = {{Declared::What::load, reads_per_trip, 32}};
    out.pages = device.is_cpu() ? s.pages : Pages::any;
    out.shared = true;
    out.check = [s, words](const Buffers& buffers) {
        return first_difference(buffers, "sums", sums_of(s, view<std::uint32_t>(words), buffers.trips));
    };
    return out;
}

std::vector<Finding> conclude(const std::vector<Curve>& curves, const Device& device) {
    std::vector<Finding> out;
    for (const auto& apart : curves) {
        if (apart.variant != "apart" || !apart.fixed.has("page")) continue;
        for (const auto& together : curves) {
            if (together.variant != "together" || together.fixed.text("pages") != apart.fixed.text("pages") ||
                together.fixed.text("page") != apart.fixed.text("page"))
                continue;
            const double page = apart.fixed.integer("page");
            const auto in_bytes = [&](Curve curve) {
                for (auto& s : curve.samples) s.x *= page;
                return curve;
            };
            const auto kind = device.is_cpu() ? apart.fixed.text("pages") + "." : std::string();
            append(out, tlb(in_bytes(apart), in_bytes(together), kind + "streams." + apart.fixed.text("page"),
                            "TLB of streams" + (device.is_cpu() ? " in " + apart.fixed.text("pages") + " pages" : ""),
                            "reads of one line of each " + bytes_text(page) +
                                ", all units together, compared with as many adjacent lines"));
        }
    }
    return out;
}

Experiment describe() { return family("pages", shape_of, setup, {.conclude = conclude}); }

}  // namespace cllab::model::pages_family

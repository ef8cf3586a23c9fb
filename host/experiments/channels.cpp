// channels: bandwidth of the second level and what lies behind it over the spacing of lines.
//
// Masking the address to a window, as is often done, changes with the spacing how many times each address is written
// and so how many writes merge. Here the set of lines has one size; only where they lie changes.
#include <atomic>
#include <bit>

#include "core/random.hpp"
#include "experiments/lib/channels_dips.hpp"
#include "experiments/lib/compare.hpp"
#include "experiments/lib/describe.hpp"
#include "experiments/lib/findings.hpp"
#include "experiments/lib/sizes.hpp"

namespace cllab::model {
namespace {

using namespace lib;

constexpr std::uint32_t line_words = 4, pass_step = 1021, factor = 0x9E3779B1u;  // as in channels.cl; words of 16 bytes

struct Layout {
    std::uint32_t lines = 0, spacing_words = 0, items = 0, group = 1;
    std::uint32_t line_of(std::uint32_t item, std::uint32_t pass) const {
        return static_cast<std::uint32_t>((item / line_words + static_cast<std::uint64_t>(pass) * pass_step) % lines);
    }
    std::size_t bytes() const { return static_cast<std::size_t>(lines) * spacing_words * 16; }
    /// Items are shared out among threads.
    template <typename Visit>
    void each(std::int32_t passes, Visit visit) const {
        in_parallel(items, 1024, [&](std::size_t begin, std::size_t end) {
            for (std::uint32_t pass = 0; pass < static_cast<std::uint32_t>(passes); ++pass)
                for (auto item = static_cast<std::uint32_t>(begin); item < end; ++item) visit(item, pass);
        });
    }
};

std::optional<std::string> check_store(const Layout& layout, std::uint32_t key, const Buffers& buffers) {
    Bytes raw(layout.bytes());
    poison(raw, buffers.poison_seed);
    std::vector<std::uint32_t> expected(raw.size() / 4);
    std::memcpy(expected.data(), raw.data(), raw.size());
    std::vector<std::uint8_t> reached(static_cast<std::size_t>(layout.lines) * line_words);
    layout.each(buffers.trips, [&](std::uint32_t item, std::uint32_t pass) {
        std::atomic_ref(reached[layout.line_of(item, pass) * line_words + item % line_words])
            .store(1, std::memory_order_relaxed);
    });
    for (std::size_t i = 0; i < reached.size(); ++i) {
        if (!reached[i]) continue;
        const std::size_t at = i / line_words * layout.spacing_words + i % line_words;
        for (std::uint32_t k = 0; k < 4; ++k)
            expected[at * 4 + k] = (static_cast<std::uint32_t>(at) * factor ^ key) + k;
    }
    return first_difference(buffers, "out", expected);
}

std::optional<std::string> check_load(const Layout& layout, std::span<const std::uint32_t> word_sums,
                                      const Buffers& buffers) {
    std::vector<std::uint32_t> expected(layout.items);
    layout.each(buffers.trips, [&](std::uint32_t item, std::uint32_t pass) {
        expected[item] += word_sums[layout.line_of(item, pass) * line_words + item % line_words];
    });
    return first_difference(buffers, "out", expected);
}

std::vector<std::string> spacings() {
    std::vector<std::string> out;
    for (int bytes = 64; bytes <= 32768; bytes *= 2) {
        out.push_back(std::to_string(bytes));
        if (bytes >= 256) out.push_back(std::to_string(bytes + 64));  // an odd number of lines
    }
    return out;
}

Layout layout_of(const Request& request, Params& params) {
    const auto& device = request.device;
    if (device.is_cpu())
        throw Unsupported(
            "address hashing and prefetching hide a CPU's channels; `latency_global --axis line=4096` shows its "
            "pages and sets");
    Layout out;
    out.lines = static_cast<std::uint32_t>(params.count("lines", is_simulator(device) ? 64 : 4096));
    out.spacing_words = static_cast<std::uint32_t>(params.count("spacing") / 16);
    out.group = std::min<std::uint32_t>(256, static_cast<std::uint32_t>(std::bit_floor(device.max_group)));
    out.items = is_simulator(device) ? out.group : device.compute_units * 4 * out.group;
    require_room(device, "out", out.bytes());
    return out;
}

Setup setup(const Request& request, Params& params) {
    const auto& device = request.device;
    const auto layout = layout_of(request, params);

    Setup out;
    const auto mask = value("line_mask", layout.lines - 1);
    const auto spacing = value("spacing_words", layout.spacing_words);
    const auto trips = value("trips", std::int32_t{0});
    if (request.variant.name == "store") {
        const auto key = static_cast<std::uint32_t>(mix64(request.seed));
        out.args = {Output{"out", layout.bytes()}, mask, spacing, value("key", key), trips};
        out.check = [layout, key](const Buffers& buffers) { return check_store(layout, key, buffers); };
    } else {
        std::vector<std::uint32_t> in(layout.bytes() / 4);
        fill_random(std::as_writable_bytes(std::span(in)), request.seed);
        std::vector<std::uint32_t> sums(static_cast<std::size_t>(layout.lines) * line_words);
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const auto* word = &in[(i / line_words * layout.spacing_words + i % line_words) * 4];
            sums[i] = word[0] + word[1] + word[2] + word[3];
        }
        out.args = {Input{"in", share(in)}, Output{"out", layout.items * 4ull}, mask, spacing, trips};
        out.check = [layout, sums = std::move(sums)](const Buffers& buffers) {
            return check_load(layout, sums, buffers);
        };
    }
    out.declared = {{request.variant.name == "store" ? Declared::What::store : Declared::What::load, 1, 128}};
    out.global = Extent(layout.items);
    out.local = Extent(layout.group);
    const double bytes_per_trip = 16.0 * layout.items;
    out.slope = slope(device, 32, 160, bytes_per_trip);
    return out;
}

std::vector<Finding> conclude(const std::vector<Curve>& curves, const Device&) {
    std::vector<Finding> out;
    for (const auto& curve : curves) {
        if (curve.samples.size() < 3) continue;
        std::vector<double> bandwidth;
        for (const auto& s : curve.samples) bandwidth.push_back(1 / s.per_step);
        const auto faster = [](const auto& a, const auto& b) { return a.per_step < b.per_step; };
        const auto [best, worst] = std::minmax_element(curve.samples.begin(), curve.samples.end(), faster);
        const auto place = [](const Curve::Sample& s) { return format_bytes(static_cast<std::uint64_t>(s.x)); };
        out.push_back(
            rate_finding(curve.variant + ".rate", curve.variant + " bandwidth of the second level", "B/s", *best, 1,
                         "best spacing, " + place(*best) + ", of " + curve.fixed.text("lines") + " lines of 64 bytes"));
        out.push_back({curve.variant + ".worst", curve.variant + " worst spacing", "x",
                       worst->per_step / best->per_step, worst->low / best->high, worst->high / best->low,
                       "time at " + place(*worst) + " over that at the best spacing"});
        if (const auto found = channels::find_interleave(xs(curve), bandwidth)) {
            const auto bytes = static_cast<double>(found->bytes);
            out.push_back({curve.variant + ".interleave", curve.variant + " interleave", "byte", bytes, bytes,
                           2 * bytes,
                           "largest power-of-two spacing at full bandwidth; worst beyond it " +
                               format_significant(found->ratio, 3) + " times slower"});
        } else {
            out.push_back(
                withheld(curve.variant + ".interleave", curve.variant + " interleave",
                         "no spacing beyond which all are slower, as with addresses hashed over the channels"));
        }
    }
    return out;
}

}  // namespace

Experiment describe_channels() {
    Experiment out;
    out.family = "channels";
    out.question = "At which distances do lines fall on the same memory channels?";
    out.axes = {
        count_axis("spacing", "byte",
                   "distance from line to line; by default powers of two, and powers of two plus one line", 64, 1 << 24)
            .usually(spacings())
            .multiple_of(16),
        count_axis("lines", "line", "lines of 64 bytes visited; auto is 4096, on a simulator 64", 4, 1 << 24)
            .power_of_two()};
    out.variants = {
        {"store", "The whole device stores to the lines, 16 bytes per work-item and pass."},
        {"load", "The whole device loads from the lines past the first level, 16 bytes per work-item and pass."}};
    out.setup = setup;
    out.resolve = [](const Request& request, Params& params) { layout_of(request, params); };
    out.metrics = {{"bandwidth", "B/s", Better::higher, [](const Setup&, double seconds) { return 1 / seconds; }}};
    out.curve_over = "spacing";
    out.conclude = conclude;
    return out;
}

}  // namespace cllab::model

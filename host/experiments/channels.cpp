// channels: bandwidth of the second level and the memory behind it by the spacing of lines.
//
// The usual probe masks the address to a window. With the spacing it then changes how often each address is written,
// and so how many writes merge. Here the set of lines has a constant size, and only its placement changes.
#include <atomic>

#include "experiments/lib/family.hpp"

namespace cllab::model::channels_family {

using namespace lib;

constexpr std::uint32_t line_words = 4, pass_step = 1021, factor = 0x9E3779B1u;  // as in channels.cl; 16-byte words

struct Layout {
    std::uint32_t lines = 0, spacing_words = 0, items = 0, group = 1;
    std::uint32_t line_of(std::uint32_t item, std::uint32_t pass) const {
        return static_cast<std::uint32_t>((item / line_words + static_cast<std::uint64_t>(pass) * pass_step) % lines);
    }
    std::size_t bytes() const { return static_cast<std::size_t>(lines) * spacing_words * 16; }
    /// Several threads share the work-items.
    template <typename Visit>
    void each(std::int32_t passes, Visit visit) const {
        in_parallel(items, 1024, [&](std::size_t begin, std::size_t end) {
            for (std::uint32_t pass = 0; pass < static_cast<std::uint32_t>(passes); ++pass)
                for (auto item = static_cast<std::uint32_t>(begin); item < end; ++item) visit(item, pass);
        });
    }
};

std::optional<std::string> check_store(const Layout& layout, std::uint32_t key, const Buffers& buffers) {
    auto expected = poisoned_words(buffers, "out");
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

Layout layout_of(const Device& device, const std::string&, Params& params) {
    if (device.is_cpu())
        throw Unsupported(
            "address hashing and prefetching hide a CPU's memory channels; `cllab run latency_global --axis "
            "line=4096` shows its pages and cache sets");
    Layout out;
    out.lines = params.count("lines", is_simulator(device) ? 64 : 4096);
    out.spacing_words = params.count("spacing") / 16;
    out.group = even_group(device);
    out.items = is_simulator(device) ? out.group : device.compute_units * 4 * out.group;
    require_room(device, "out", out.bytes());
    return out;
}

Setup setup(const Request& request, const Layout& layout) {
    const auto& device = request.device;

    Setup out;
    const auto mask = value("line_mask", layout.lines - 1);
    const auto spacing = value("spacing_words", layout.spacing_words);
    if (request.variant.name == "store") {
        const std::uint32_t key = mix64(request.seed);
        out.args = {Output{"out", layout.bytes()}, mask, spacing, value("key", key), trips()};
        out.check = [layout, key](const Buffers& buffers) { return check_store(layout, key, buffers); };
    } else {
        const auto in = random_bytes(layout.bytes(), request.seed);
        const auto words = view<std::uint32_t>(in);
        std::vector<std::uint32_t> sums(static_cast<std::size_t>(layout.lines) * line_words);
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const auto* word = &words[(i / line_words * layout.spacing_words + i % line_words) * 4];
            sums[i] = word[0] + word[1] + word[2] + word[3];
        }
        out.args = {Input{"in", in}, Output{"out", layout.items * 4ull}, mask, spacing, trips()};
        out.check = [layout, sums = std::move(sums)](const Buffers& buffers) {
            return check_load(layout, sums, buffers);
        };
    }
    out.declared = {{request.variant.name == "store" ? Declared::What::store : Declared::What::load, 1, 128}};
    launch_groups(out, layout.items / layout.group, layout.group);
    const double bytes_per_trip = 16.0 * layout.items;
    out.slope = slope(device, 32, 160, bytes_per_trip);
    return out;
}

void conclude(const Curve& curve, const Device&, std::vector<Finding>& out) {
    if (curve.samples.size() < 3) return;
    const auto bandwidth = mapped(curve.samples, [](const auto& s) { return 1 / s.per_step; });
    const auto& [best, worst] = extremes(curve.samples);
    out.push_back(rate_finding(
        curve.variant + ".rate", "L2 " + curve.variant + " bandwidth", "B/s", best, 1,
        "best spacing, " + bytes_text(best.x) + ", of " + curve.fixed.text("lines") + " lines of 64 bytes"));
    out.push_back(ratio_finding(curve.variant + ".worst", "memory channels, " + curve.variant + " at the worst spacing",
                                worst, best, "time at " + bytes_text(worst.x) + " over that at the best spacing"));
    if (const auto found = find_interleave(xs(curve), bandwidth)) {
        const double bytes = found->bytes;
        out.push_back({curve.variant + ".interleave", "memory channels, " + curve.variant + " interleave", "byte",
                       bytes, bytes, 2 * bytes,
                       "largest power-of-two spacing at full bandwidth; worst beyond it " +
                           format_significant(found->ratio, 3) + " times slower"});
    } else {
        out.push_back(withheld(curve.variant + ".interleave", "memory channels, " + curve.variant + " interleave",
                               "no spacing is slower from some point on; addresses may be hashed over the channels"));
    }
}

Experiment describe() {
    return family("channels", layout_of, setup,
                  {.metrics = {rate_metric("bandwidth", "B/s")}, .conclude = of_each(conclude)});
}

}  // namespace cllab::model::channels_family

// transfer: how bytes get to the device and back, and how much of that a kernel hides. After two articles: pitch
// (2013), which maps its buffers on a CPU instead of copying them, and Himeno (2010), most of whose time is transfers.
#include "experiments/lib/family.hpp"

namespace cllab::model::transfer_family {

using namespace lib;

constexpr std::uint32_t multiplier = 1664525u, increment = 1013904223u;  // as in transfer.cl

struct Shape {
    std::uint64_t words = 0;  ///< of all pieces together
    std::size_t pieces = 1, queues = 1, local = 1;
    std::int32_t rounds = 0;
    Transfer memory = Transfer::copied;

    std::uint64_t first(std::size_t piece) const { return words * piece / pieces; }
    std::uint64_t count(std::size_t piece) const { return first(piece + 1) - first(piece); }
};

/// The way of transfer for a value of axis 'memory'.
Transfer way_of(const std::string& memory) {
    static const std::map<std::string, Transfer> ways{{"pageable", Transfer::copied},
                                                      {"pinned", Transfer::pinned},
                                                      {"mapped", Transfer::mapped},
                                                      {"host_pointer", Transfer::host_pointer}};
    return ways.at(memory);
}

Shape shape_of(const Device& device, const std::string& variant, Params& params) {
    Shape s;
    s.pieces = params.count("pieces");
    const auto least = std::uint64_t{4} * s.pieces;
    const auto bytes = params.count(
        "size", std::max(least, whole_pages(device, by_scale<std::uint64_t>(device, 4096, 16 << 20, 256 << 20))));
    s.words = bytes / 4;
    if (s.words < s.pieces)
        throw Error(Blame::usage, "axis 'size' is ", bytes, " bytes; it must be at least ", least,
                    ", one word of 4 bytes per piece (axis 'pieces')");
    if (variant == "queues") s.queues = params.count("queues");
    // About as long as the transfers over PCI Express.
    s.rounds = params.count("rounds", by_scale<std::size_t>(device, 4, 16, 2048));
    s.local = group_of(device, 256);
    s.memory = way_of(params.text("memory"));
    require_room(device, "src0", 4 * s.count(s.pieces - 1));
    return s;
}

std::string numbered(const char* name, std::size_t n) { return concat(name, n); }

Setup setup(const Request& request, const Shape& s) {
    const auto data = random_bytes(4 * s.words, request.seed);
    Setup out;
    std::map<std::size_t, SharedBytes> pieces;
    for (std::size_t n = 0; n < s.pieces; ++n) {
        const std::size_t first = 4 * s.first(n), bytes = 4 * s.count(n);
        pieces[n] = SharedBytes(bytes, [=] {
            return Bytes(data->begin() + static_cast<std::ptrdiff_t>(first),
                         data->begin() + static_cast<std::ptrdiff_t>(first + bytes));
        });
        out.args.push_back(InOut{numbered("src", n), pieces[n], 0, ByStep::up});
        out.args.push_back(Output{numbered("dst", n), static_cast<std::size_t>(4 * s.count(n)), 0, ByStep::down});
        out.args.push_back(value(numbered("count", n), static_cast<std::uint32_t>(s.count(n))));
    }
    out.args.push_back(value("rounds", s.rounds));

    const auto queue = [&](std::size_t n) { return static_cast<unsigned>(n % s.queues); };
    const auto down = [&](std::size_t n) { out.steps.push_back(Download{numbered("dst", n), queue(n)}); };
    // With more queues, more other pieces are under way before a piece comes back.
    for (std::size_t n = 0; n < s.pieces; ++n) {
        out.steps.push_back(Upload{numbered("src", n), 0, queue(n)});
        out.steps.push_back(launch("kernel", "", Extent(round_up(s.count(n), s.local)), Extent(s.local),
                                   {numbered("src", n), numbered("dst", n), numbered("count", n), "rounds"}, queue(n)));
        if (n + 1 >= s.queues) down(n + 1 - s.queues);
    }
    for (std::size_t n = s.pieces - std::min(s.pieces, s.queues - 1); n < s.pieces; ++n) down(n);

    launch_items(out, s.count(0), s.local);
    out.transfer = s.memory;
    out.blocking = request.variant.name == "blocking";
    out.time_transfers = true;
    out.work.bytes = 8.0 * s.words;
    std::uint32_t factor = 1, term = 0;
    for (std::int32_t r = 0; r < s.rounds; ++r) factor *= multiplier, term = term * multiplier + increment;
    out.check = [pieces, factor, term](const Buffers& buffers) -> std::optional<std::string> {
        for (const auto& [n, bytes] : pieces) {
            const auto from = view<std::uint32_t>(bytes);
            if (auto wrong = first_difference<std::uint32_t>(buffers, numbered("src", n),
                                                             [&](std::size_t i) { return from[i]; }))
                return wrong;
            if (auto wrong = first_difference<std::uint32_t>(buffers, numbered("dst", n),
                                                             [&](std::size_t i) { return factor * from[i] + term; }))
                return wrong;
        }
        return std::nullopt;
    };
    return out;
}

/// The sample at the largest size.
const Curve::Sample* largest(const Curve& curve) { return curve.samples.empty() ? nullptr : &curve.samples.back(); }

/// The rate of one direction at the largest size, and the smallest size with at least half of that rate.
void conclude_direction(const Curve& curve, const std::string& memory, const char* direction, const char* which,
                        std::vector<Finding>& out) {
    const auto rate = [&](const Curve::Sample& s) {
        const double seconds = metric(s, which).value_or(0);
        return seconds > 0 ? s.x / seconds : 0;
    };
    const auto* last = largest(curve);
    if (!last || rate(*last) <= 0) return;
    const double best = rate(*last);
    const std::string without_filling =
        is_in_place(way_of(memory)) ? "; to map and unmap, without what the host takes to fill or read it in place"
                                    : "";
    out.push_back(figure(std::string(direction) + "." + memory, std::string(direction) + " rate, " + memory, "B/s",
                         best,
                         bytes_text(last->x) + " in " + curve.fixed.text("pieces") +
                             " pieces one after the other, by the host clock" + without_filling));
    if (curve.samples.size() < 3) return;
    const auto half = std::ranges::find_if(curve.samples, [&](const auto& s) { return rate(s) >= best / 2; });
    if (half != curve.samples.begin())
        out.push_back(figure(std::string(direction) + "_half." + memory,
                             std::string(direction) + " at half that rate, " + memory, "byte", half->x,
                             "smallest measured size with half the rate of the largest or more"));
}

std::vector<Finding> conclude(const std::vector<Curve>& curves, const Device&) {
    std::vector<Finding> out;
    // By memory, then by variant. The first curve counts, whatever else is fixed.
    std::map<std::string, std::map<std::string, const Curve*>> by_memory;
    for (const auto& curve : curves) by_memory[curve.fixed.text("memory")].emplace(curve.variant, &curve);
    for (const auto& [memory, variants] : by_memory) {
        conclude_direction(*variants.begin()->second, memory, "up", "upload", out);
        conclude_direction(*variants.begin()->second, memory, "down", "download", out);
        const auto gain = [&, &memory = memory, &variants = variants](const char* id, const char* slow,
                                                                      const char* fast, const char* name) {
            const auto a = variants.find(slow), b = variants.find(fast);
            if (a == variants.end() || b == variants.end()) return;
            const auto *before = largest(*a->second), *after = largest(*b->second);
            if (!before || !after || before->x != after->x || !(after->low > 0) || !(before->low > 0)) return;
            out.push_back({std::string(id) + "." + memory, name + (", " + memory), "", before->seconds / after->seconds,
                           before->low / after->high, before->high / after->low,
                           std::string("time of ") + slow + " over that of " + fast + " at " + bytes_text(before->x)});
        };
        gain("events", "blocking", "events", "gain of not waiting");
        gain("overlap", "events", "queues", "gain of several queues");
    }
    return out;
}

Experiment describe() { return family("transfer", shape_of, setup, {.conclude = conclude}); }

}  // namespace cllab::model::transfer_family

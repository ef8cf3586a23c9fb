// bandwidth: reads, writes, the copy that every other family is measured against, and the levels in between.
#include <cmath>
#include <map>
#include <numeric>

#include "experiments/memory_probe.hpp"
#include "model/fit.hpp"

namespace cllab::model {
namespace {

using namespace memory_probe;

using Words = std::span<const std::uint32_t>;

constexpr std::uint32_t factor = 0x9E3779B1u;  // as in bandwidth.cl

Words words_of(const SharedBytes& bytes) { return {reinterpret_cast<const std::uint32_t*>(bytes->data()), bytes->size() / 4}; }

SharedBytes random_bytes(std::uint64_t size, std::uint64_t seed) {
    Bytes data(size);
    fill_random(data, seed);
    return std::make_shared<const Bytes>(std::move(data));
}

bool is_reread(const Request& request) { return request.variant.name == "reread"; }

std::uint64_t width_of(const Request& request) {
    if (!request.point.is_auto("width")) return static_cast<std::uint64_t>(request.point.integer("width"));
    // 16 bytes a work-item everywhere, but a CPU's first level only shows its width to whole vectors.
    return is_reread(request) && request.device.is_cpu() ? 64 : 16;
}

/// Sizes of one cell. For a stream: `bytes` of each buffer. For reread: of the region all groups walk round.
struct Shape {
    std::uint64_t bytes = 0, width = 16, count = 0;  ///< count: elements
    std::size_t items = 1, lanes = 1;
    std::uint64_t depth = 4;  ///< reread: loads of a work-item and trip
    bool runs = false;        ///< each work-item has one contiguous run, as on CPUs

    // Of reread: a group's loads of one trip are one block on a CPU, a block each on a GPU.
    std::uint64_t block_elements() const { return lanes * (runs ? depth : 1); }
    std::uint64_t blocks() const { return count / block_elements(); }
    std::uint64_t groups() const { return items / lanes; }
    /// Blocks from one that a group reads to its next one.
    std::uint64_t stride() const {
        std::uint64_t out = runs ? 1 : groups();
        while (std::gcd(out, blocks()) != 1) ++out;
        return out % blocks();
    }
    std::uint64_t start(std::uint64_t group) const { return runs ? group * blocks() / groups() : group % blocks(); }
};

/// Bytes of one buffer when the axis says auto: source and destination together are four times the last-level cache,
/// within what the device can allocate.
std::uint64_t automatic_bytes(const Request& request, std::uint64_t block) {
    const auto& device = request.device;
    if (is_reread(request)) return std::max<std::uint64_t>(16 << 10, block);
    if (is_simulator(device)) return 64 << 10;
    const std::uint64_t wanted = std::max<std::uint64_t>(2 * device.last_level_bytes, 16ull << 20);
    const std::uint64_t room = device.max_alloc_bytes > 0 ? device.max_alloc_bytes : wanted;
    return std::min(wanted, room) / 4096 * 4096;
}

Shape shape_of(const Request& request) {
    const auto& device = request.device;
    Shape s;
    s.width = width_of(request);
    s.runs = device.is_cpu();
    s.lanes = s.runs ? 1 : std::min<std::size_t>(256, device.max_group);
    // One group of reread fills a unit by itself: of two, one would find in the unit's cache what the other fetched.
    if (is_reread(request) && !s.runs && !is_simulator(device)) s.lanes = std::min<std::size_t>(1024, device.max_group_promised);
    // A block of reread: 4 KiB a work-item on a CPU, where loops cost more than loads in flight.
    s.depth = s.runs ? 4096 / s.width : 4;
    const auto block = s.block_elements() * s.width;
    s.bytes = request.point.is_auto("size") ? automatic_bytes(request, block) : static_cast<std::uint64_t>(request.point.integer("size"));
    const auto step = is_reread(request) ? block : s.width;
    if (s.bytes % step != 0)
        throw Error(Blame::usage, "axis 'size' is " + std::to_string(s.bytes) + " byte; bandwidth_" + request.variant.name +
                                      " moves multiples of " + std::to_string(step) + " byte");
    if (device.max_alloc_bytes > 0 && s.bytes > device.max_alloc_bytes)
        throw Error(Blame::usage, "axis 'size' is " + std::to_string(s.bytes) + " byte; device '" + device.name +
                                      "' allocates at most " + std::to_string(device.max_alloc_bytes) + " byte at once");
    s.count = s.bytes / s.width;
    const auto round_up = [](std::uint64_t n, std::uint64_t to) { return (n + to - 1) / to * to; };
    if (is_reread(request)) s.items = (is_simulator(device) ? 2 : device.compute_units) * s.lanes;
    else if (s.runs) s.items = device.compute_units * 4ull;
    // Four accesses an item keep enough bytes in flight; fewer items when the buffer is small.
    else s.items = round_up(std::max<std::uint64_t>(1, (s.count + 3) / 4), s.lanes);
    // The sums that a read stores are traffic too: 32 groups a unit keep them to a few per cent of a large buffer.
    if (request.variant.name == "read" && !s.runs)
        s.items = std::min<std::uint64_t>(s.items, device.compute_units * 32ull * s.lanes);
    return s;
}

/// Compares word by word with `expected(word number)` without a second buffer of the same size.
template <typename Expected>
std::optional<std::string> compare(const Buffers& buffers, const char* name, std::size_t words, Expected expected) {
    const auto got = buffers.as<std::uint32_t>(name);
    for (std::size_t i = 0; i < words; ++i) {
        if (got[i] == expected(i)) continue;
        return std::string(name) + "[" + std::to_string(i) + "] is " + std::to_string(got[i]) + ", expected " + std::to_string(expected(i));
    }
    return std::nullopt;
}

/// Sum of the elements that each work-item of the read reads, word by word.
std::vector<std::uint32_t> read_sums(const Shape& s, Words src) {
    const auto words = s.width / 4, run = (s.count + s.items - 1) / s.items;
    std::vector<std::uint32_t> sums(s.items * words);
    for (std::uint64_t i = 0; i < s.count; ++i) {
        auto* sum = &sums[(s.runs ? i / run : i % s.items) * words];
        for (std::uint64_t k = 0; k < words; ++k) sum[k] += src[i * words + k];
    }
    return sums;
}

/// Sum of the elements that each work-item of reread reads in `trips` trips, word by word.
std::vector<std::uint32_t> reread_sums(const Shape& s, Words src, std::int32_t trips) {
    const std::uint64_t words = s.width / 4, blocks = s.blocks(), stride = s.stride(), rows = s.block_elements() / s.lanes;
    const auto steps = static_cast<std::uint64_t>(trips) * (s.depth / rows);  // blocks that a group reads
    std::vector<std::uint64_t> at_step(blocks), step_of(blocks);              // the way round from block 0, and its inverse
    for (std::uint64_t i = 0, block = 0; i < blocks; ++i, block = (block + stride) % blocks) {
        at_step[i] = block;
        step_of[block] = i;
    }
    // A group's sum is so many whole rounds, and the blocks before its last step less those before its first. Block after
    // block goes by once, all words of a row at a time: this is the slow part of a large region's verification.
    const std::uint64_t row_words = s.lanes * words;
    std::vector<std::uint32_t> sums(s.groups() * row_words), before(row_words);
    std::multimap<std::uint64_t, std::pair<std::uint64_t, std::uint32_t>> at;  // step -> group, times what came before
    for (std::uint64_t g = 0; g < s.groups(); ++g) {
        at.insert({step_of[s.start(g)], {g, ~0u}});
        at.insert({(step_of[s.start(g)] + steps) % blocks, {g, 1}});
    }
    const auto add = [&](std::uint64_t g, std::uint32_t times) {
        for (std::uint64_t k = 0; k < row_words; ++k) sums[g * row_words + k] += times * before[k];
    };
    for (std::uint64_t i = 0; i < blocks; ++i) {
        for (auto [one, end] = at.equal_range(i); one != end; ++one) add(one->second.first, one->second.second);
        const auto* block = &src[at_step[i] * rows * row_words];
        for (std::uint64_t row = 0; row < rows; ++row)
            for (std::uint64_t k = 0; k < row_words; ++k) before[k] += block[row * row_words + k];
    }
    for (std::uint64_t g = 0; g < s.groups(); ++g)
        add(g, static_cast<std::uint32_t>((step_of[s.start(g)] + steps) / blocks));
    return sums;
}

void set_up_stream(const Request& request, const Shape& s, Setup& out) {
    const auto& variant = request.variant.name;
    const auto count = value("count", s.count);
    const auto bytes = static_cast<double>(s.bytes);
    const std::size_t words = s.bytes / 4, words_of_element = s.width / 4;
    if (variant == "write") {
        const auto key = static_cast<std::uint32_t>(mix64(request.seed));
        out.args = {Output{"dst", s.bytes}, count, value("key", key)};
        out.work.bytes = bytes;
        out.check = [=](const Buffers& buffers) {
            return compare(buffers, "dst", words, [&](std::size_t i) { return static_cast<std::uint32_t>(i / words_of_element) * factor ^ key; });
        };
        return;
    }
    const auto src = random_bytes(s.bytes, request.seed);
    if (variant == "read") {
        out.args = {Input{"src", src}, Output{"sums", s.items * s.width}, count};
        out.work.bytes = bytes;
        out.check = [s, src](const Buffers& buffers) { return first_difference(buffers, "sums", read_sums(s, words_of(src))); };
    } else if (variant == "triad") {
        const auto c = random_bytes(s.bytes, request.seed + 1000);
        const auto scale = static_cast<std::uint32_t>(mix64(request.seed)) | 1;
        out.args = {Input{"b", src}, Input{"c", c}, Output{"a", s.bytes}, count, value("factor", scale)};
        out.work.bytes = 3 * bytes;
        out.check = [=](const Buffers& buffers) {
            const auto left = words_of(src), right = words_of(c);
            return compare(buffers, "a", words, [&](std::size_t i) { return left[i] + scale * right[i]; });
        };
    } else {
        out.args = {Input{"src", src}, Output{"dst", s.bytes}, count};
        out.work.bytes = 2 * bytes;
        out.check = [=](const Buffers& buffers) -> std::optional<std::string> {
            if (std::memcmp(buffers.as<std::byte>("dst").data(), src->data(), src->size()) == 0) return std::nullopt;
            const auto from = words_of(src);
            return compare(buffers, "dst", words, [&](std::size_t i) { return from[i]; });
        };
    }
}

void set_up_reread(const Request& request, const Shape& s, Setup& out) {
    const auto src = random_bytes(s.bytes, request.seed);
    out.args = {Input{"src", src}, Output{"sums", s.items * s.width},
                value("blocks", static_cast<std::uint32_t>(s.blocks())), value("stride", static_cast<std::uint32_t>(s.stride())),
                value("trips", std::int32_t{0})};
    out.defines = {"LANES=" + std::to_string(s.lanes), "DEPTH=" + std::to_string(s.depth)};
    const double bytes_per_trip = static_cast<double>(s.items * s.depth * s.width);
    const std::int32_t low = s.runs ? 256 : 64;
    out.slope = is_simulator(request.device) ? Slope{"trips", 1, 2, bytes_per_trip} : Slope{"trips", low, 5 * low, bytes_per_trip};
    out.check = [s, src](const Buffers& buffers) {
        return first_difference(buffers, "sums", reread_sums(s, words_of(src), buffers.trips));
    };
}

/// Elements that the text loads and stores in one go of its loop.
std::vector<Declared> declared(const std::string& variant, const Shape& s) {
    const double at_once = variant == "batch" || variant == "reread" || (variant == "read" && !s.runs) ? 4 : 1;
    const auto bits = static_cast<unsigned>(8 * s.width);
    std::vector<Declared> out;
    if (variant != "write") out.push_back({Declared::What::load, variant == "triad" ? 2 : at_once, bits});
    if (variant != "read" && variant != "reread") out.push_back({Declared::What::store, at_once, bits});
    return out;
}

void validate(const Request& request) {
    if (!request.point.is_auto("width")) require_power(request.point, "width");
}

Setup setup(const Request& request) {
    validate(request);
    if (request.device.is_cpu() && request.variant.name == "batch")
        throw Unsupported("a CPU keeps lines in flight by itself along the run of each work-item: bandwidth_copy is its copy");
    const auto s = shape_of(request);
    Setup out;
    if (is_reread(request)) set_up_reread(request, s, out);
    else set_up_stream(request, s, out);
    out.declared = declared(request.variant.name, s);
    out.global = Extent(s.items);
    out.local = Extent(s.lanes);
    out.defines.push_back("ELEMENT=uint" + (s.width == 4 ? std::string() : std::to_string(s.width / 4)));
    out.defines.push_back(std::string("STREAMED=") + (out.work.bytes > static_cast<double>(request.device.last_level_bytes) ? "1" : "0"));
    out.resolved = {{"size", std::to_string(s.bytes)}, {"width", std::to_string(s.width)}};
    return out;
}

/// Levels that reread found, or its one number.
void conclude_levels(const Curve& curve, std::vector<Finding>& out) {
    const std::string how = "all work-groups walk round one region, elements of " + curve.fixed.text("width") + " byte";
    if (curve.samples.size() < 3) {
        const auto& s = curve.samples.front();
        out.push_back(rate_finding("read bandwidth at " + format_bytes(static_cast<std::uint64_t>(s.x)), "B/s", s, 1, how));
        return;
    }
    PlateauOptions options;
    options.tolerance = tolerance(curve, 0.1);
    const auto found = find_plateaus(xs(curve), steps(curve), options);
    for (std::size_t i = 0; i < found.levels.size(); ++i) {
        const auto& time = found.levels[i].value;
        const auto rate = [&](double seconds) { return 1 / (seconds > 0 ? seconds : time.value); };
        out.push_back({"level " + std::to_string(i + 1) + " read bandwidth", "B/s", rate(time.value), rate(time.high), rate(time.low),
                       how + "; holds to " + format_bytes(static_cast<std::uint64_t>(found.levels[i].capacity.value))});
        const auto& capacity = found.levels[i].capacity;
        if (!found.levels[i].open)
            out.push_back({"level " + std::to_string(i + 1) + " capacity", "byte", capacity.value, capacity.low, capacity.high,
                           "largest region at that bandwidth; high is the next one tried"});
    }
}

std::vector<Finding> conclude(const std::vector<Curve>& curves, const Device&) {
    std::vector<Finding> out;
    // The yardstick alone, in front of another family's run, is no sweep to conclude from.
    if (curves.size() == 1 && curves.front().variant == "copy" && curves.front().samples.size() == 1) return out;
    for (const auto* variant : {"copy", "batch", "read", "write", "triad"}) {
        const Curve::Sample* best = nullptr;
        std::string width;
        for (const auto& curve : curves) {
            if (curve.variant != variant || curve.samples.empty()) continue;
            const auto& largest = curve.samples.back();
            if (best && largest.work.bytes / largest.seconds <= best->work.bytes / best->seconds) continue;
            best = &largest;
            width = curve.fixed.text("width");
        }
        if (best)
            out.push_back({std::string(variant) + " bandwidth", "B/s", best->work.bytes / best->seconds, best->work.bytes / best->high,
                           best->work.bytes / best->low,
                           "largest size, " + format_bytes(static_cast<std::uint64_t>(best->x)) + " a buffer, elements of " + width + " byte"});
    }
    for (const auto& curve : curves) {
        if (curve.variant == "reread" && !curve.samples.empty()) conclude_levels(curve, out);
    }
    return out;
}

}  // namespace

Experiment describe_bandwidth() {
    Experiment out;
    out.family = "bandwidth";
    out.question = "How many bytes a second does memory move when a kernel does nothing else?";
    out.axes = {{"size", "byte", "size of each buffer; auto is twice the last-level cache, and 16 KiB for reread, whose sweep "
                 "begins there, e.g. 16Ki:512Mi:*2", Axis::Kind::integer, {"auto"}, {}, 16, 1e15, true},
                {"width", "byte", "size of an element, a power of two; auto is 16, and 64 for reread on a CPU", Axis::Kind::integer,
                 {"auto"}, {}, 4, 64, true, {"auto", "4:64:*2"}}};
    out.variants = {
        {"copy", "Reads every element of one buffer once and writes it to another; both directions count."},
        {"batch", "The copy with four loads in flight a work-item, neighbours in one block."},
        {"read", "Reads every element of a buffer once and keeps a sum."},
        {"write", "Writes every element of a buffer once."},
        {"triad", "Reads two buffers and writes a third, as STREAM's last loop; all three count."},
        {"reread", "All work-groups walk round one region: the bandwidth of the level that holds it."}};
    out.setup = setup;
    out.validate = validate;
    out.metrics = {{"bandwidth", "B/s", Better::higher, [](const Setup& s, double seconds) { return s.slope ? 1 / seconds : NAN; }}};
    out.curve_over = "size";
    out.conclude = conclude;
    return out;
}

}  // namespace cllab::model

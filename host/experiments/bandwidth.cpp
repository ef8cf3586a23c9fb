// bandwidth: reads, writes, the copy with which every other family is compared, and the cache levels in between.
#include "experiments/lib/family.hpp"
#include "experiments/lib/levels.hpp"

namespace cllab::model::bandwidth_family {

using namespace lib;

using Words = std::span<const std::uint32_t>;

constexpr std::uint32_t factor = 0x9E3779B1u;  // as in bandwidth.cl

Words words_of(const SharedBytes& bytes) { return view<std::uint32_t>(bytes); }

/// Sizes of one cell. `bytes`: of each buffer of a stream, or of the region that all groups of reread go around.
struct Shape {
    std::uint64_t bytes = 0, width = 16, count = 0;  ///< count: elements
    std::size_t items = 1, lanes = 1;
    std::uint64_t depth = 4;  ///< reread: loads per work-item and trip
    bool runs = false;        ///< a work-item has a contiguous run, as on CPUs
    /// Words before the first element; distance of two moved elements, in elements.
    std::uint64_t offset = 0, spacing = 1;

    std::uint64_t words() const { return width / 4; }  ///< of an element
    bool apart() const { return offset > 0 || spacing > 1; }
    bool aligned() const { return offset % words() == 0; }
    std::uint64_t buffer_bytes() const { return 4 * offset + bytes; }
    /// The element that word `at` of a buffer belongs to, and the word's place in it; nullopt if no access reaches the
    /// word.
    std::optional<std::pair<std::uint64_t, std::uint64_t>> element(std::uint64_t at) const {
        if (at < offset) return std::nullopt;
        const auto place = (at - offset) / words();
        if (place % spacing != 0 || place / spacing >= count) return std::nullopt;
        return std::pair{place / spacing, (at - offset) % words()};
    }
    /// Position in a buffer of an element's first word.
    std::uint64_t at(std::uint64_t element) const { return offset + element * spacing * words(); }

    // For reread: on a CPU, all loads of a group in one trip are in one block. On a GPU each load has its own block.
    std::uint64_t block_elements() const { return lanes * (runs ? depth : 1); }
    std::uint64_t blocks() const { return count / block_elements(); }
    std::uint64_t groups() const { return items / lanes; }
    /// Distance from one block of a group to its next, in blocks.
    std::uint64_t stride() const {
        std::uint64_t out = runs ? 1 : groups();
        while (std::gcd(out, blocks()) != 1) ++out;
        return out % blocks();
    }
    std::uint64_t start(std::uint64_t group) const { return runs ? group * blocks() / groups() : group % blocks(); }
};

/// Bytes of one buffer for auto: source and destination together are four times the last-level cache, as far as the
/// device can allocate them.
std::uint64_t automatic_bytes(const Device& device, const std::string& variant, std::uint64_t block) {
    if (variant == "reread") return std::max<std::uint64_t>(16 << 10, block);
    if (is_simulator(device)) return 64 << 10;
    return twice_last_level(device);
}

Shape shape_of(const Device& device, const std::string& variant, Params& params) {
    if (device.is_cpu() && variant == "batch")
        throw Unsupported("a CPU keeps several lines in flight for each work-item; use bandwidth_copy");
    const bool reread = variant == "reread";
    Shape s;
    // 16 bytes per work-item everywhere, except that a CPU's first level shows its width only to whole vectors.
    s.width = params.count("width", reread && device.is_cpu() ? 64 : 16);
    s.runs = device.is_cpu();
    s.lanes = s.runs ? 1 : std::min<std::size_t>(256, device.max_group);
    // One group of reread fills a unit. With two groups, one would find in the unit's cache what the other fetched.
    if (reread && !s.runs && !is_simulator(device)) s.lanes = std::min<std::size_t>(1024, device.max_group_promised);
    // A block of reread on a CPU: 4 KiB per work-item, because loops cost more than loads in flight.
    s.depth = s.runs ? 4096 / s.width : 4;
    const auto block = s.block_elements() * s.width;
    s.bytes = params.count("size", automatic_bytes(device, variant, block));
    if (reread && s.bytes % block != 0)
        throw Unsupported("axis 'size' is ", s.bytes, " bytes; it must be a multiple of ", block,
                          ", the block of bandwidth_reread on this device");
    if (s.bytes % s.width != 0)
        throw Error(Blame::usage, "axis 'size' is ", s.bytes, " bytes; it must be a multiple of ", s.width,
                    ", the element size (axis 'width')");
    if (!reread) {
        s.offset = params.count("offset");
        s.spacing = params.count("stride");
    }
    require_room(device, "src", s.buffer_bytes());
    s.count = (s.bytes / s.width + s.spacing - 1) / s.spacing;
    if (reread)
        s.items = (is_simulator(device) ? 2 : device.compute_units) * s.lanes;
    else if (s.runs)
        s.items = device.compute_units * 4ull;
    // Four accesses per work-item keep enough bytes in flight; fewer work-items when the buffer is small.
    else
        s.items = round_up(std::max<std::uint64_t>(1, (s.count + 3) / 4), s.lanes);
    // The sums that a read stores are traffic, too. With 32 groups per unit they are a few per cent of a large buffer.
    if (variant == "read" && !s.runs)
        s.items = std::min<std::uint64_t>(s.items, device.compute_units * 32ull * s.lanes);
    return s;
}

/// Sums of the elements that each work-item of `read` reads, word by word.
std::vector<std::uint32_t> read_sums(const Shape& s, Words src) {
    const auto words = s.width / 4, run = (s.count + s.items - 1) / s.items;
    std::vector<std::uint32_t> sums(s.items * words);
    const auto add = [&](std::uint64_t item, std::uint64_t element) {
        for (std::uint64_t k = 0; k < words; ++k) sums[item * words + k] += src[s.at(element) + k];
    };
    in_parallel(s.items, 4096, [&](std::size_t begin, std::size_t end) {
        if (s.runs) {
            for (auto i = begin * run; i < std::min<std::uint64_t>(end * run, s.count); ++i) add(i / run, i);
            return;
        }
        for (std::uint64_t row = 0; row < s.count; row += s.items)
            for (auto item = begin; item < std::min<std::uint64_t>(end, s.count - row); ++item) add(item, row + item);
    });
    return sums;
}

/// Sums of the elements that each work-item of reread reads in `trips` trips, word by word.
std::vector<std::uint32_t> reread_sums(const Shape& s, Words src, std::int32_t trips) {
    const std::uint64_t words = s.width / 4, blocks = s.blocks(), stride = s.stride(),
                        rows = s.block_elements() / s.lanes;
    const auto steps = static_cast<std::uint64_t>(trips) * (s.depth / rows);  // blocks that a group reads
    std::vector<std::uint64_t> at_step(blocks), step_of(blocks);              // the path from block 0, and its inverse
    for (std::uint64_t i = 0, block = 0; i < blocks; ++i, block = (block + stride) % blocks) {
        at_step[i] = block;
        step_of[block] = i;
    }
    // A group's sum consists of whole rounds, plus the blocks before its last step, minus those before its first step.
    // The loop visits each block once, all words of a row at a time. This is the slow part of verifying a large region.
    const std::uint64_t row_words = s.lanes * words;
    std::vector<std::uint32_t> sums(s.groups() * row_words), before(row_words);
    std::multimap<std::uint64_t, std::pair<std::uint64_t, std::uint32_t>> at;  // step -> group, factor of `before`
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

/// A word of an output that must stay unwritten.
std::uint32_t untouched_word(const Buffers& buffers, std::uint64_t at) {
    std::array<std::byte, 4> out;
    for (unsigned k = 0; k < out.size(); ++k) out[k] = poison_byte(buffers.poison_seed, 4 * at + k);
    return std::bit_cast<std::uint32_t>(out);
}

/// The first word of `name` that differs from expected(element, index of the word). The words before and between
/// elements must be unwritten.
template <typename Expected>
std::optional<std::string> difference_at(const Shape& s, const Buffers& buffers, const char* name, Expected expected) {
    return first_difference<std::uint32_t>(buffers, name, [&](std::size_t i) {
        const auto at = s.element(i);
        return at ? expected(at->first, i) : untouched_word(buffers, i);
    });
}

void set_up_stream(const Request& request, const Shape& s, Setup& out) {
    const auto& variant = request.variant.name;
    const auto count = value("count", s.count);
    const double bytes = s.count * s.width;
    if (variant == "write") {
        const std::uint32_t key = mix64(request.seed);
        out.args = {Output{"dst", s.buffer_bytes()}, count, value("key", key)};
        out.work.bytes = bytes;
        out.check = [=](const Buffers& buffers) {
            return difference_at(s, buffers, "dst", [&](std::uint64_t element, std::size_t) {
                return static_cast<std::uint32_t>(element) * factor ^ key;
            });
        };
        return;
    }
    const auto src = random_bytes(s.buffer_bytes(), request.seed);
    if (variant == "read") {
        out.args = {Input{"src", src}, Output{"sums", s.items * s.width}, count};
        out.work.bytes = bytes;
        out.check = [s, src](const Buffers& buffers) {
            return first_difference(buffers, "sums", read_sums(s, words_of(src)));
        };
    } else if (variant == "triad") {
        const auto c = random_bytes(s.buffer_bytes(), request.seed + 1000);
        const auto scale = static_cast<std::uint32_t>(mix64(request.seed)) | 1;
        out.args = {Input{"b", src}, Input{"c", c}, Output{"a", s.buffer_bytes()}, count, value("factor", scale)};
        out.work.bytes = 3 * bytes;
        out.check = [=](const Buffers& buffers) {
            const auto left = words_of(src), right = words_of(c);
            return difference_at(s, buffers, "a",
                                 [&](std::uint64_t, std::size_t i) { return left[i] + scale * right[i]; });
        };
    } else {
        out.args = {Input{"src", src}, Output{"dst", s.buffer_bytes()}, count};
        out.work.bytes = 2 * bytes;
        out.check = [=](const Buffers& buffers) -> std::optional<std::string> {
            if (!s.apart() && equal_bytes(buffers.as<std::byte>("dst"), *src)) return std::nullopt;
            const auto from = words_of(src);
            return difference_at(s, buffers, "dst", [&](std::uint64_t, std::size_t i) { return from[i]; });
        };
    }
}

void set_up_reread(const Request& request, const Shape& s, Setup& out) {
    const auto src = random_bytes(s.bytes, request.seed);
    out.args = {Input{"src", src}, Output{"sums", s.items * s.width}, value<std::uint32_t>("blocks", s.blocks()),
                value<std::uint32_t>("stride", s.stride()), trips()};
    out.defines = {concat("LANES=", s.lanes), concat("DEPTH=", s.depth)};
    const double bytes_per_trip = s.items * s.depth * s.width;
    // All groups together go around the region at least once. What a launch does not visit would stay in a nearer level
    // from launch to launch.
    const auto least = s.runs ? std::max<std::uint64_t>(256, s.blocks() / s.groups()) : 64;
    out.slope = slope(request.device, least, least > 256 ? 3 * least : 5 * least, bytes_per_trip);
    out.work.bytes = 1;  // a step is a byte
    out.shared = true;
    out.check = [s, src](const Buffers& buffers) {
        return first_difference(buffers, "sums", reread_sums(s, words_of(src), buffers.trips));
    };
}

/// Elements that the text loads and stores per iteration of its loop.
std::vector<Declared> declared(const std::string& variant, const Shape& s) {
    const double at_once = variant == "batch" || variant == "reread" || (variant == "read" && !s.runs) ? 4 : 1;
    const unsigned bits = 8 * s.width;
    std::vector<Declared> out;
    if (variant != "write") out.push_back({Declared::What::load, variant == "triad" ? 2 : at_once, bits});
    if (variant != "read" && variant != "reread") out.push_back({Declared::What::store, at_once, bits});
    return out;
}

Setup setup(const Request& request, const Shape& s) {
    Setup out;
    if (request.variant.name == "reread")
        set_up_reread(request, s, out);
    else
        set_up_stream(request, s, out);
    // Compilers split unaligned accesses, and gather spaced elements.
    if (!s.apart()) out.declared = declared(request.variant.name, s);
    out.global = Extent(s.items);
    out.local = Extent(s.lanes);
    out.defines.push_back("ELEMENT=uint" + (s.width == 4 ? std::string() : std::to_string(s.width / 4)));
    const bool streamed = out.work.bytes > static_cast<double>(request.device.last_level_bytes);
    for (auto& define : defines({{"WORDS", s.words()},
                                 {"OFFSET", s.offset},
                                 {"STRIDE", s.spacing},
                                 {"APART", s.apart()},
                                 {"STREAMED", streamed}}))
        out.defines.push_back(std::move(define));
    return out;
}

// --- Conclusions from the curves -------------------------------------------------------------------------------------

/// The levels in reread's curve, or its single rate.
void conclude_levels(const Curve& curve, const Device& device, std::vector<Finding>& out) {
    const std::string how = "all work-groups read one region, elements of " + curve.fixed.text("width") + " bytes";
    if (curve.samples.size() < 3) {
        const auto& s = curve.samples.front();
        out.push_back(rate_finding("reread", "read bandwidth at " + bytes_text(s.x), "B/s", s, 1, how));
        return;
    }
    if (device.is_cpu() && !device.host_cache_levels.empty()) return append(out, rates(curve, device, how));
    const auto found = find_plateaus(xs(curve), steps(curve), tolerance(curve, 0.1));
    for (std::size_t i = 0; i < found.levels.size(); ++i) {
        const auto& time = found.levels[i].value;
        const auto& capacity = found.levels[i].capacity;
        const auto number = std::to_string(i + 1), id = "l" + number, name = "level " + number;
        const auto rate = [&](double seconds) { return 1 / (seconds > 0 ? seconds : time.value); };
        out.push_back({id + ".rate", name + " read bandwidth", "B/s", rate(time.value), rate(time.high), rate(time.low),
                       how + "; holds to " + bytes_text(capacity.value)});
        // All units share the last level before memory, and the curve may leave it gradually. Each unit has its own
        // first level, and all leave it at once.
        const bool gradual = i + 2 == found.levels.size() && i > 0 && capacity.high > 1.5 * capacity.low;
        if (const auto whole = gradual ? capacity_of_random_replacement(xs(curve), steps(curve), time.value,
                                                                        found.levels[i + 1].value.value)
                                       : std::nullopt)
            out.push_back(
                figure(id + ".size", name + " capacity", "byte", *whole,
                       how + "; all of " + bytes_text(capacity.value) +
                           " fit, and a level of that size with random replacement explains the larger regions"));
        else if (!found.levels[i].open)
            out.push_back(figure(id + ".size", name + " capacity", "byte", capacity,
                                 "largest region at that bandwidth; high is the next one tried"));
    }
}

/// The effect of the elements' placement on the rate: the lowest rate over the axis's values, divided by the rate at
/// the usual value.
void conclude_places(const std::vector<Curve>& all, const std::string& axis, const std::string& other,
                     std::vector<Finding>& out) {
    std::map<std::string, std::map<std::int64_t, const Curve::Sample*>> sweeps;  // by variant and other axes
    for (const auto& curve : all) {
        if (!curve.fixed.has(axis) || curve.samples.empty() || curve.fixed.integer(other) != (other == "stride"))
            continue;
        const auto& sample = curve.samples.back();
        if (!(sample.seconds > 0) || !(sample.low > 0)) continue;
        sweeps[curve.variant + " " + curve.fixed.text("width") + " " + text_of(sample.x)][curve.fixed.integer(axis)] =
            &sample;
    }
    for (const auto& [key, sweep] : sweeps) {
        const auto usual = sweep.find(axis == "stride");
        if (sweep.size() < 3 || usual == sweep.end()) continue;
        const auto rate = [](const Curve::Sample& s) { return s.work.bytes / s.seconds; };
        const auto least = *std::ranges::min_element(
            sweep, [&](const auto& a, const auto& b) { return rate(*a.second) < rate(*b.second); });
        const auto variant = key.substr(0, key.find(' '));
        const auto &a = *least.second, &b = *usual->second;
        const double part = rate(a) / rate(b);
        out.push_back(
            {axis + "." + variant, "least rate by " + axis + ", " + variant, "", part,
             part * a.seconds / a.high * b.low / b.seconds, part * a.seconds / a.low * b.high / b.seconds,
             concat("bytes of the elements per second at ", axis, " ", least.first, ", of those at ", axis, " ",
                    usual->first, ", ", sweep.size(), " values tried, each in one placement of its buffers")});
    }
}

/// The rate of a stream, with its method.
struct Streamed {
    double bytes = 0;  ///< at the largest size
    Finding found{};
};

/// The rate at the largest size. On a GPU, the difference to a smaller size that no cache holds either, if there is
/// one. Reason: a launch takes time before its first byte and after its last, the same for both sizes. On a fast GPU it
/// is 5 to 20 % of a stream of 100 MiB.
Streamed streamed(const Curve& curve, const Device& device) {
    const auto& large = curve.samples.back();
    const auto size = [](const Curve::Sample& s) { return bytes_text(s.x); };
    const auto elements = " per buffer, elements of " + curve.fixed.text("width") + " bytes";
    Streamed out{
        large.work.bytes,
        {curve.variant, curve.variant + " bandwidth", "B/s", large.work.bytes / large.seconds,
         large.work.bytes / large.high, large.work.bytes / large.low, "largest size, " + size(large) + elements}};
    if (device.is_cpu()) return out;
    const auto small = std::find_if(curve.samples.rbegin(), curve.samples.rend(), [&](const auto& s) {
        return 2 * s.x <= large.x && s.work.bytes >= static_cast<double>(device.last_level_bytes);
    });
    if (small == curve.samples.rend() || !(large.low > small->high)) return out;
    const double bytes = large.work.bytes - small->work.bytes, rate = bytes / (large.seconds - small->seconds);
    constexpr double most = 1.25;  // a larger gain is not the launch's cost
    if (rate < out.found.value || rate > most * out.found.value) return out;
    out.found.value = rate;
    out.found.low = bytes / (large.high - small->low);
    out.found.high = bytes / (large.low - small->high);
    out.found.how = "by the difference of " + size(large) + " and " + size(*small) + elements + ", without the launch";
    return out;
}

bool is_apart(const Curve& curve) {
    return is_fixed_elsewhere(curve, "offset", "0") || is_fixed_elsewhere(curve, "stride", "1");
}

std::vector<Finding> bandwidth_findings(const std::vector<Curve>& all, const Device& device) {
    std::vector<Finding> out, of_places;
    conclude_places(all, "offset", "stride", of_places);
    conclude_places(all, "stride", "offset", of_places);
    auto curves = all;
    std::erase_if(curves, is_apart);
    // The yardstick alone, run before another family, is no sweep.
    if (all.size() == 1 && all.front().variant == "copy" && all.front().samples.size() == 1) return out;
    double most = 0;
    for (const std::string variant : {"copy", "batch", "read", "write", "triad"}) {
        std::optional<Streamed> best;
        for (const auto& curve : curves) {
            if (curve.variant != variant || curve.samples.empty()) continue;
            auto one = streamed(curve, device);
            if (!best || one.found.value > best->found.value) best = std::move(one);
        }
        if (!best) continue;
        most = std::max(most, best->bytes);
        out.push_back(std::move(best->found));
    }
    if (most > 0)
        out.push_back(figure("streamed", "size of these streams", "byte", most,
                             "all buffers of the largest of these streams; a kernel that moves as much is no faster"));
    for (const auto& curve : curves) {
        if (curve.variant == "reread" && !curve.samples.empty()) conclude_levels(curve, device, out);
        if (curve.variant == "copy" && device.is_cpu() && curve.samples.size() > 1)
            append(out, copy_rates(curve, device, "elements of " + curve.fixed.text("width") + " bytes"));
    }
    append(out, std::move(of_places));
    return out;
}

Experiment describe() {
    return family("bandwidth", shape_of, setup,
                  {.metrics = {{"bandwidth", "B/s", Better::higher,
                                [](const Setup& s, double seconds) { return s.slope ? 1 / seconds : NAN; }}},
                   .conclude = bandwidth_findings});
}

}  // namespace cllab::model::bandwidth_family

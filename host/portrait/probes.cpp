#include "portrait/probes.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <ranges>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "model/registry.hpp"

namespace cllab::portrait {
namespace {

using model::Device;

/// Numbers of work-groups around one, two and three full rounds of the reported units, as values of fma's axis `load`
/// (%).
std::string loads_around_units(const Device& device) {
    const double n = device.compute_units;
    std::vector<std::string> out;
    double last = 0;
    for (const double groups :
         {1.0, n / 2, n - 1, n, n + 1, 1.5 * n, 2 * n - 1, 2 * n, 2 * n + 1, 2.5 * n, 3 * n, 3 * n + 1}) {
        const double whole = std::max(1.0, std::floor(groups));
        if (whole <= last) continue;
        last = whole;
        out.push_back(std::to_string(100 * whole / n));
    }
    return join(out, ",");
}

/// Both orders up to the largest footprint; their difference shows the TLB. The footprints are powers of two and the
/// points halfway between, where GPU caches end. One such point is 192 MiB: if the caches may hold 128 MiB, only two
/// powers of two are in memory, but three footprints must agree.
std::vector<Part> chases_of_gpu() {
    return {{"latency_global", {{"order", "paged"}, {"footprint", "4Ki:512Mi:*2,48Ki:192Mi:*2"}}},
            {"latency_global", {{"order", "random"}, {"footprint", "16Ki:512Mi:*2,48Ki:192Mi:*2"}}},
            {"latency_bypass", {{"footprint", "32Ki:128Mi:*4"}}},
            {"latency_scalar", {{"footprint", "1Ki:4Mi:*2"}}},
            {"latency_indexed", {{"footprint", "8Ki"}}},
            {"latency_local"}};
}

std::uint64_t last_level_of(const Device& device) {
    return device.host_cache_levels.empty() ? device.last_level_bytes : device.host_cache_levels.back();
}

/// Footprints of 0.75 and 1.25 times each cache level that the system reports, up to 32 MiB: ",36864,61440".
std::string beside_levels(const Device& device) {
    std::string out;
    for (const auto level : device.host_cache_levels)
        for (const double part : {0.75, 1.25})
            if (const double bytes = part * static_cast<double>(level); bytes < 32 << 20)
                out += "," + whole_pages(bytes);
    return out;
}

/// Both orders and both kinds of pages for footprints that caches may hold; memory itself only in random order, which
/// no prefetcher follows.
std::vector<Part> chases_of_cpu(const Device& device) {
    const auto level = last_level_of(device);
    const auto more_sizes = beside_levels(device);
    std::string staying = "4Ki:64Mi:*2" + more_sizes, scattered = "16Ki:32Mi:*2";
    if (level > 16 << 20 && level < 96 << 20) staying += ",128Mi";
    // Building a chain of this size takes seconds, so only two footprints are measured.
    if (level < 300u << 20)
        scattered += "," + std::to_string(2 * std::max<std::uint64_t>(level, 32 << 20)) + "," +
                     std::to_string(3 * std::max<std::uint64_t>(level, 32 << 20) / 2);
    else if (level < 370u << 20)
        scattered += ",480Mi,512Mi";
    return {{"latency_global", {{"order", "paged"}, {"pages", "huge"}, {"footprint", staying}}},
            {"latency_global", {{"order", "paged"}, {"pages", "small"}, {"footprint", "16Ki:32Mi:*2" + more_sizes}}},
            {"latency_global", {{"order", "random"}, {"pages", "huge"}, {"footprint", scattered}}},
            {"latency_global", {{"order", "random"}, {"pages", "small"}, {"footprint", "128Ki:32Mi:*2"}}},
            {"latency_indexed", {{"footprint", "8Ki"}}},
            {"latency_local"}};
}

/// `points` sizes between `from` and `to`, in geometric steps, without the ends.
std::string between(double from, double to, int points) {
    std::vector<std::string> out;
    for (int i = 1; i <= points; ++i)
        out.push_back(whole_pages(from * std::pow(to / from, static_cast<double>(i) / (points + 1))));
    return join(out, ",");
}

/// `points` sizes of regions within a cache level, which is after one of `below` bytes; empty if no size is clearly of
/// that level.
std::string regions_in(double below, double level, int points) {
    const double from = 2 * below, to = std::min(0.75 * level, 64.0 * (1 << 20));
    return from * 1.2 < to ? between(from, to, points) : "";
}

/// Sizes of regions: two per cache level, and one beyond the last level unless it is too large to create.
std::vector<std::string> regions_of_cpu(const Device& device) {
    if (device.host_cache_levels.empty()) return {"16Ki:256Mi:*2"};
    std::vector<std::string> out;
    double below = 8 << 10;
    for (const auto level : device.host_cache_levels) {
        out.push_back(regions_in(below, static_cast<double>(level), 2));
        below = static_cast<double>(level);
    }
    if (3 * below <= 256 << 20) out.push_back(whole_pages(3 * below));
    std::erase(out, "");
    return out;
}

/// `points` buffer sizes of copies that stay in the last level; empty if it has no room for them.
std::string copies_of_cpu(const Device& device, int points) {
    const auto level = model::copied_in_last_level(device);
    const double to = level ? std::min(level->second, 32.0 * (1 << 20)) : 0;
    return !level || level->first * 1.2 >= to ? "" : between(level->first / 2, to / 2, points);
}

/// Bytes that exceed every core's own caches, and also the last level if such a buffer can be created in time.
std::uint64_t out_of_core_bytes(const Device& device) {
    return std::clamp<std::uint64_t>(2 * last_level_of(device), 16 << 20, 128 << 20);
}

/// Bytes of each buffer of a stream. The total is the same for every stream, because a cache without LRU replacement
/// keeps part of a larger footprint: 64 MiB were read at 68 GB/s, 192 MiB at 33 GB/s (last level of 32 MiB). The total
/// exceeds the last level if it can be created in time: kernels then write past the caches, which is faster. With a
/// last level of 260 MiB, 128 MiB were written at 7 to 8 GB/s, 385 MiB at 39 GB/s (`cllab run bandwidth` on PoCL with
/// two cores).
std::uint64_t stream_bytes(const Device& device, unsigned buffers) {
    constexpr std::uint64_t MiB = 1 << 20, most = 512 * MiB;
    const auto three = 3 * out_of_core_bytes(device), beyond = last_level_of(device) / 10 * 11;
    const auto all = three > last_level_of(device) || beyond > most ? three : beyond;
    return (all / buffers / MiB + (all % (buffers * MiB) > 0)) * MiB;
}

/// Two buffer sizes that no GPU cache holds. The difference of their times contains no launch.
std::string beyond_caches(const Device& device, std::uint64_t times = 1) {
    constexpr std::uint64_t MiB = 1 << 20;
    const auto small = times * std::max<std::uint64_t>(device.last_level_bytes / MiB, 16);
    return std::to_string(small) + "Mi," + std::to_string(2 * small) + "Mi";
}

/// Streams beyond the last level. On a CPU the measured cores also create and check each byte.
std::vector<Part> streams_of(const Device& device) {
    std::vector<Part> out;
    if (device.is_gpu()) {
        const auto sizes = beyond_caches(device);
        for (const auto& [stream, widths] : {std::pair{"bandwidth_copy", "4,16"},
                                             {"bandwidth_batch", "16"},
                                             {"bandwidth_write", "16"},
                                             {"bandwidth_triad", "16"}})
            out.push_back({stream, {{"width", widths}, {"size", sizes}}});
        // A read is the fastest stream and needs more bytes to reach its rate. On an H200 `cllab run bandwidth_read -d
        // gpu --axis size=60Mi:960Mi:*2` shows 3.7 TB/s for the first two sizes, 4.4 TB/s for the last two.
        out.insert(out.begin() + 2, {"bandwidth_read", {{"width", "16"}, {"size", beyond_caches(device, 8)}}});
        out.push_back({"bandwidth_reread", {{"size", "16Ki:128Mi:*2,48Mi,96Mi,256Mi,512Mi"}}});
        return out;
    }
    for (const auto& [stream, buffers] :
         {std::pair{"bandwidth_copy", 2}, {"bandwidth_read", 1}, {"bandwidth_write", 1}, {"bandwidth_triad", 3}})
        out.push_back({stream, {{"size", std::to_string(stream_bytes(device, buffers))}, {"width", "64"}}});
    out.push_back({"bandwidth_reread", {{"size", join(regions_of_cpu(device), ",")}, {"width", "64"}}});
    if (const auto copies = copies_of_cpu(device, 2); !copies.empty())
        out.push_back({"bandwidth_copy", {{"size", copies}, {"width", "64"}}});
    return out;
}

std::vector<Part> multiply_adds(const Device& device) {
    std::vector<Part> out{{"fma_clock"},
                          {"fma_latency"},
                          {"fma_add"},
                          {"fma_multiply"},
                          {"fma_units", {{"load", loads_around_units(device)}}},
                          // A CPU's widest vectors need more chains if a multiplication has a long latency. Narrow
                          // vectors leave registers for these chains.
                          device.is_gpu() ? Part{"fma_peak"} : Part{"fma_peak", {{"width", "4,8,16"}, {"ilp", "8,16"}}},
                          {"fma_ilp"},
                          {"fma_loop"},
                          {"fma_nested"},
                          {"fma_code", {{"code", device.is_gpu() ? "256:16384:*2" : "256:4096:*2"}}}};
    // NVIDIA has half arithmetic for pairs only.
    if (device.is_gpu() && !device.fp16)
        for (const auto* variant : {"fma_peak", "fma_latency"})
            out.push_back({variant, {{"type", "half"}, {"width", "2"}}});
    return out;
}

std::vector<Part> functions(const Device& device) {
    // A latency subtracts the chain without a call (identity). A rate is reported as measured, because the chain's own
    // time is too small to measure. Users' kernels call pow and rsqrt too.
    const model::Settings calls{{"function", "divide,sqrt,exp,log,sin"}},
        more_calls{{"function", "divide,sqrt,rsqrt,exp,log,sin,pow"}},
        with_none{{"function", "identity,divide,sqrt,exp,log,sin"}};
    // For half, NVIDIA has instructions but no functions to call.
    const bool by_instruction = device.compute_capability > 0 && !device.fp16;
    const model::Settings instructions{{"function", "identity,exp2,tanh"}};
    return {{"math_latency", with_none},
            {"math_rate", more_calls},
            {"math_latency_native", with_none},
            {"math_rate_native", calls},
            {"math_latency_double", with_none},
            {"math_rate_double", calls},
            {"math_latency_fp16", by_instruction ? instructions : with_none},
            {"math_rate_fp16", by_instruction ? instructions : calls}};
}

// The cells that determine one figure, to measure only that figure again.

/// The sweeps of one variant among the probes.
std::vector<Part> parts_of_variant(const std::string& id, const Device& device) {
    std::vector<Part> out;
    for (const auto& probe : probes_for(device))
        for (const auto& part : probe.parts)
            if (part.pattern == id || part.pattern + "_" == id.substr(0, part.pattern.size() + 1)) out.push_back(part);
    for (auto& part : out) part.pattern = id;
    return out;
}

/// The begin and end of a figure's cache level, from the operating system; "l2.rate" is of level 2.
std::optional<std::pair<double, double>> level_of(const std::string& figure, const Device& device) {
    if (!device.is_cpu() || figure.size() < 2 || figure[0] != 'l') return std::nullopt;
    const auto level = static_cast<std::size_t>(figure[1] - '1');
    if (level >= device.host_cache_levels.size()) return std::nullopt;
    return std::pair{level > 0 ? static_cast<double>(device.host_cache_levels[level - 1]) : 4096.0,
                     static_cast<double>(device.host_cache_levels[level])};
}

/// Parts for a figure of a cache level. By `id`: its bandwidth, the bandwidth of a copy within it, or its latency.
std::vector<Part> parts_of_level(const std::string& id, const std::string& figure, const Device& device) {
    const auto level = level_of(figure, device);
    const bool is_copy = id.ends_with(".copy");
    if (is_copy || glob_match("bandwidth.l?.rate", id)) {
        const bool is_last = figure.substr(0, 2) == "l" + std::to_string(device.host_cache_levels.size());
        const auto sizes = !level    ? ""
                           : is_copy ? (is_last ? copies_of_cpu(device, 3) : "")
                                     : regions_in(level->first, level->second, 3);
        if (sizes.empty()) return {};
        return {{is_copy ? "bandwidth_copy" : "bandwidth_reread", {{"width", "64"}, {"size", sizes}}}};
    }
    constexpr double near = 1.34;  // footprints with a smaller ratio may be of the same level
    if (!level || level->second > 64 << 20 || near * near * near * level->first > level->second) return {};
    const auto footprints = between(near * level->first, level->second / near, 4);
    return {{"latency_global", {{"order", "paged"}, {"pages", "huge"}, {"footprint", footprints}}},
            {"latency_global", {{"order", "paged"}, {"pages", "small"}, {"footprint", footprints}}}};
}

/// The cell that measures a function's calls per second, for a figure such as "native_sin.medium".
std::vector<Part> rate_of_function(const std::string& figure) {
    auto name = figure.substr(0, figure.find('.'));
    for (const std::string flavour : {"native", "half", "fast", "double", "fp16"})
        if (name.starts_with(flavour + "_"))
            return {{"math_rate_" + flavour, {{"function", name.substr(flavour.size() + 1)}}}};
    return {{"math_rate", {{"function", name}}}};
}

}  // namespace

std::string whole_pages(double bytes) { return std::to_string(static_cast<std::uint64_t>(bytes / 4096) * 4096); }

std::vector<Probe> probes_for(const Device& device) {
    const bool gpu = device.is_gpu();
    const auto either = [&](std::vector<Part> of_gpu, std::vector<Part> of_cpu) {
        return gpu ? std::move(of_gpu) : std::move(of_cpu);
    };
    return {
        {"launch", 3,
         either({{"launch_item"}, {"launch_device"}}, {{"launch_item"}, {"launch_device"}, {"launch_spread"}})},
        {"bandwidth", 8, streams_of(device), false},
        {"issue", 2, {{"issue", {{"chains", "4,8"}}}}, false},
        {"latency", 10, gpu ? chases_of_gpu() : chases_of_cpu(device), false},
        {"fma", 10, multiply_adds(device)},
        {"dispatch", 2, either({{"dispatch"}}, {{"dispatch_1d", {{"side", "1"}, {"times", "1,4"}}}})},
        {"banks", 1.5, {{"banks_word"}, {"banks_rate", {{"stride", "1,2,32"}}}}, false},
        {"barrier", 1.5, {{"barrier_plain"}, {"barrier_none"}}, false},
        {"atomic", 3, {{"atomic"}}, false},
        {"integer", 3, {{"integer"}}},
        {"matrix", 2, {{"matrix"}}},
        {"scatter", 1, {{"scatter"}}, false},
        // A miss fetches the same number of bytes from every level. A CPU needs seconds to fill memory beyond a
        // server's last level.
        {"cacheline", 1,
         either({{"cacheline"}}, {{"cacheline", {{"footprint", std::to_string(out_of_core_bytes(device))}}}}), false},
        {"math", 5, functions(device)},
        {"divergence",
         2,
         {{"divergence_width", {{"fill", "full"}}},
          {"divergence_paths"},
          {"divergence_plain"},
          {"divergence_branch"},
          {"divergence_select"},
          {"divergence_straight"},
          {"divergence_looped"}}},
        {"subgroup", 1, {{"subgroup"}}},
        // A knee is known to within the spacing of the points, so they are closest near the limits of instruction sets.
        {"registers", 2,
         either({{"registers_live", {{"live", "16,32,64,96,112,128,160,192,224,240,248,256,320"}}},
                 {"registers_live", {{"items", "1024"}, {"live", "32,48,56,64,96"}}}},
                {{"registers_live", {{"live", "8,16,24,32,64,128,256"}}}})},
        {"channels", 1,
         either({{"channels", {{"spacing", "64:32768:*2"}}}},
                {{"channels_load", {{"spacing", "64,256,1024,4096,4160,32768"}}}}),
         false},
        {"convert",
         1,
         {{"convert_latency", {{"conversion", "none,float_to_half,half_to_float,float_to_int,int_to_float"}}},
          {"convert_rate"}}}};
}

std::vector<model::Group> plan_of(const std::vector<Part>& parts, bool interleave) {
    std::vector<model::Group> plan;
    for (const auto& part : parts) {
        auto groups = model::make_plan(model::select(model::registry(), {part.pattern}), part.axes);
        if (interleave) groups = grouped(groups | std::views::join, [](const auto& cell) { return cell.id; });
        std::move(groups.begin(), groups.end(), std::back_inserter(plan));
    }
    return plan;
}

std::vector<Part> parts_of_figure(const std::string& id, const Device& device) {
    const auto dot = id.find('.');
    const auto family = id.substr(0, dot), figure = dot == std::string::npos ? "" : id.substr(dot + 1);
    const auto is = [&](const char* pattern) { return glob_match(pattern, id); };
    if (is("fma.peak.*") || is("fma.latency.*") || is("fma.add.*") || is("fma.multiply.*")) {
        const auto variant = figure.substr(0, figure.find('.')), rest = figure.substr(variant.size() + 1);
        auto out = parts_of_variant(family + "_" + variant, device);
        for (auto& part : out) part.axes.emplace_back("type", rest.substr(0, rest.find('.')));
        return out;
    }
    if (is("bandwidth.l?.rate") || is("bandwidth.l?.copy") || is("latency.l?.latency"))
        return parts_of_level(id, figure, device);
    if (is("bandwidth.copy") || is("bandwidth.batch") || is("bandwidth.read") || is("bandwidth.write") ||
        is("bandwidth.triad")) {
        auto out = parts_of_variant(family + "_" + figure, device);
        if (out.size() > 1) out.resize(1);  // the others are copies within the caches
        // A copy alone would count as the yardstick of another family.
        if (figure == "copy" && !out.empty()) {
            out.push_back(out.front());
            out.back().pattern = "bandwidth_read";
        }
        return out;
    }
    if (is("dispatch.group.time") && device.is_cpu()) return parts_of_variant("dispatch_1d", device);
    if (is("banks.rate")) return parts_of_variant("banks_rate", device);
    if (is("atomic.*.one")) return {{"atomic_" + figure.substr(0, figure.find('.')), {{"counters", "1"}}}};
    if (is("atomic.*.*")) return {{"atomic_" + figure.substr(0, figure.find('.'))}};
    if (is("integer.rate.*.*"))
        return {
            {"integer_" + figure.substr(5, figure.rfind('.') - 5), {{"bits", figure.substr(figure.rfind('.') + 1)}}}};
    if (is("math.rate.*.medium")) return rate_of_function(figure.substr(figure.find('.') + 1));
    const std::pair<const char*, std::vector<Part>> others[]{
        {"latency.l1.indexed", {{"latency_indexed", {{"footprint", "8Ki"}}}}},
        {"latency.local.latency", {{"latency_local"}}},
        {"issue.rate", {{"issue_mixed", {{"chains", "8"}}}, {"issue_vector", {{"chains", "8"}}}}},
        {"launch.*.item", {{"launch_item"}}},
        {"launch.*.device", {{"launch_device"}}},
        {"launch.spread", {{"launch_spread"}}},
        {"atomic.latency", {{"atomic_chain"}}},
        {"barrier.*", {{"barrier_plain"}, {"barrier_none"}}}};
    for (const auto& [pattern, parts] : others)
        if (is(pattern)) return parts;
    return {};
}

}  // namespace cllab::portrait

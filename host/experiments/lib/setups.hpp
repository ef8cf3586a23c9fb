// Parts of setups: sizes, data, launches.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/grouped.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "core/units.hpp"
#include "model/experiment.hpp"
#include "model/params.hpp"

namespace cllab::model::lib {

// --- Sizes by the properties of a device: the work that fills it, and its limits.

/// A simulator takes about a microsecond per instruction, so it gets the smallest work that shows anything.
inline bool is_simulator(const Device& device) { return device.implementation == Implementation::oclgrind; }

/// One of three values: for a simulator, for a GPU (which must be filled), and for everything else.
template <typename T>
T by_scale(const Device& device, T simulated, T cpu, T gpu) {
    return is_simulator(device) ? simulated : device.is_gpu() ? gpu : cpu;
}

inline std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }
inline std::size_t divide_up(std::size_t n, std::size_t step) { return (n + step - 1) / step; }

/// Work-items that issue together: as the driver reports, else the vendor's usual number. 1 on a CPU, where a work-item
/// is an iteration of a loop.
inline std::uint32_t wave_width(const Device& device) {
    if (!device.is_gpu()) return 1;
    if (device.preferred_multiple > 0) return device.preferred_multiple;
    return device.implementation == Implementation::amd ? 64 : 32;
}

/// Bytes that no cache holds. A CPU's last level is known; a GPU's is an upper bound, already twice too large.
inline std::uint64_t beyond_caches(const Device& device) { return (device.is_gpu() ? 2 : 4) * device.last_level_bytes; }

/// The largest one-dimensional work-group of at most `wanted` work-items.
inline std::size_t group_of(const Device& device, std::size_t wanted) {
    return std::max<std::size_t>(1, std::min({wanted, device.max_group, device.max_items[0]}));
}

/// 256 work-items, or the largest power of two that the device accepts.
inline std::uint32_t even_group(const Device& device) {
    return static_cast<std::uint32_t>(std::bit_floor(std::min<std::size_t>(256, device.max_group)));
}

/// Throws Unsupported if a work-group of `items` work-items is too large.
inline void require_group(std::size_t items, std::size_t most) {
    if (items > most)
        throw Unsupported("a work-group of ", items, " work-items is too large; at most ", most, " are possible here");
}
/// The same for a setup whose launches share one local size. The executor makes its kernels promise that size.
inline void require_group(const Device& device, std::size_t items) { require_group(items, device.max_group_promised); }

/// The one-dimensional work-group of axis `local`: as the point requests, else at most `automatic` work-items.
inline std::size_t group(Params& params, const Device& device, std::size_t automatic) {
    const auto items = params.count("local", group_of(device, automatic));
    require_group(items, std::min(device.max_group_promised, device.max_items[0]));
    return items;
}

/// Throws Unsupported if the device cannot allocate one buffer of `bytes`.
inline void require_room(const Device& device, const std::string& buffer, std::uint64_t bytes) {
    if (device.max_alloc_bytes > 0 && bytes > device.max_alloc_bytes)
        throw Unsupported("buffer '", buffer, "' needs ", format_bytes(bytes), "; the device allocates at most ",
                          format_bytes(device.max_alloc_bytes), " at once");
}

/// `wanted` bytes, but at most one buffer, in whole blocks of 4 KiB.
inline std::uint64_t whole_pages(const Device& device, std::uint64_t wanted) {
    return (device.max_alloc_bytes > 0 ? std::min(wanted, device.max_alloc_bytes) : wanted) / 4096 * 4096;
}

/// Twice the last-level cache, at least 16 MiB, but at most one buffer.
inline std::uint64_t twice_last_level(const Device& device) {
    return whole_pages(device, std::max<std::uint64_t>(2 * device.last_level_bytes, 16ull << 20));
}

/// Throws Unsupported if the language has no sub-groups and no known instructions replace them.
inline void require_sub_groups(const Device& device) {
    if (device.implementation != Implementation::nvidia && !device.has("cl_khr_subgroups") &&
        !device.has("cl_intel_subgroups"))
        throw Unsupported("the device has no sub-groups");
}
/// The extension that the text then uses, for Setup::extensions.
inline std::vector<std::string> sub_group_extensions(const Device& device) {
    if (device.implementation == Implementation::nvidia) return {};
    return {device.has("cl_khr_subgroups") ? "cl_khr_subgroups" : "cl_intel_subgroups"};
}
/// The language version with sub-groups: 2.0, or 3.0 on a device of 3.0, which may lack 2.0 (PoCL 5). NVIDIA's language
/// has none.
inline std::vector<std::string> sub_group_options(const Device& device) {
    if (device.implementation == Implementation::nvidia) return {};
    return {device.device_version.starts_with("OpenCL 3") ? "-cl-std=CL3.0" : "-cl-std=CL2.0"};
}
/// The product of the factors. Throws Unsupported with the name `what` if it exceeds `most`, the limit of the kernels'
/// indices.
inline std::uint64_t product(const std::string& what, std::initializer_list<std::uint64_t> factors,
                             std::uint64_t most) {
    unsigned __int128 out = 1;
    std::string shown;
    for (const auto factor : factors) {
        out *= factor;
        shown += concat(shown.empty() ? "" : " x ", factor);
        if (out > most) throw Unsupported(what, " is ", shown, " or more; the kernels take at most ", most);
    }
    return static_cast<std::uint64_t>(out);
}

/// True if an address of local memory has four bytes. Elsewhere it is a whole pointer.
inline bool short_local_address(const Device& device) {
    return device.implementation == Implementation::nvidia || device.implementation == Implementation::amd;
}

/// Two trip counts for the kernel's argument `trips`. A simulator runs some million instructions per second, so it gets
/// 1 and 2.
inline Slope slope(const Device& device, std::int64_t low, std::int64_t high, double steps_per_trip) {
    if (is_simulator(device)) return {"trips", 1, 2, steps_per_trip};
    return {"trips", static_cast<std::int32_t>(low), static_cast<std::int32_t>(high), steps_per_trip};
}

// --- Random data that cannot be compressed, and sharing it between variants.

inline SharedBytes random_bytes(std::uint64_t size, std::uint64_t seed) {
    return {size, [size, seed] {
                Bytes out(size);
                fill_random(out, seed);
                return out;
            }};
}

/// `count` values of T. `fill` writes them when they are first used.
template <typename T, typename Fill>
SharedBytes filled(std::size_t count, Fill fill) {
    return {count * sizeof(T), [count, fill] {
                Bytes out(count * sizeof(T));
                fill(std::span(reinterpret_cast<T*>(out.data()), count));
                return out;
            }};
}

/// Element i becomes value(i). Several threads call `value`.
template <typename T, typename Value>
void fill_each(std::span<T> out, Value value) {
    in_parallel(out.size(), parallel_piece, [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) out[i] = value(i);
    });
}

/// `count` values of the four-byte type T. `make` converts a random 32-bit word; several threads call it.
template <typename T, typename Make>
SharedBytes random_values(std::size_t count, std::uint64_t seed, Make make) {
    static_assert(sizeof(T) == 4);
    return filled<T>(count, [seed, make](std::span<T> out) {
        in_parallel(out.size(), parallel_piece, [&](std::size_t begin, std::size_t end) {
            Random random(seed);
            random.skip(begin / 2);
            // The data of fill_random: two values per word, the low half first. A piece begins with a low half.
            for (std::size_t i = begin; i < end; i += 2) {
                const auto words = random();
                out[i] = make(static_cast<std::uint32_t>(words));
                if (i + 1 < end) out[i + 1] = make(static_cast<std::uint32_t>(words >> 32));
            }
        });
    });
}

/// Uniform floats in [low, high) with full mantissas.
inline SharedBytes random_floats(std::size_t count, std::uint64_t seed, float low, float high) {
    const float step = (high - low) * 0x1p-24f;
    return random_values<float>(count, seed, [=](std::uint32_t w) { return low + step * static_cast<float>(w >> 8); });
}

/// The bytes, viewed as values of T.
template <typename T>
std::span<const T> view(const SharedBytes& bytes) {
    return {reinterpret_cast<const T*>(bytes->data()), bytes->size() / sizeof(T)};
}

/// The result of make(), kept for the other variants of the point if the request has a memo. `name`: the family's.
template <typename Key, typename Make>
auto cached(const Request& request, const std::string& name, const Key& key, const Make& make) {
    using Value = std::invoke_result_t<const Make&>;
    return request.memo ? request.memo->get(name, key, make) : std::make_shared<Value>(make());
}

// --- Launches, build options, spaced rows, chases.

/// A step named `part` that launches kernel `entry`; empty: the variant's own kernel.
inline Launch launch(std::string part, std::string entry, const Extent& global, const Extent& local,
                     std::vector<std::string> args, unsigned queue = 0) {
    return {std::move(entry), global, local, std::move(args), {}, std::move(part), queue};
}

/// "NAME=number" for each pair, for -D. `suffix` follows the number, as in "NAME=7u".
inline std::vector<std::string> defines(std::initializer_list<std::pair<const char*, std::uint64_t>> numbers,
                                        const char* suffix = "") {
    return mapped(numbers, [&](const auto& n) { return concat(n.first, "=", n.second, suffix); });
}

/// The rate of a probe with one `unit` per step.
inline Metric rate_metric(const char* name, const char* unit) {
    return {name, unit, Better::higher, [](const Setup&, double seconds) { return 1 / seconds; }};
}

/// `amount` of the declared work per second.
inline Metric rate_metric(const char* name, const char* unit, double Work::*amount) {
    return {name, unit, Better::higher, [=](const Setup& s, double seconds) { return s.work.*amount / seconds; }};
}

/// The argument that a Slope sets.
inline Value trips() { return value("trips", std::int32_t{0}); }

/// `groups` work-groups of `items` work-items.
inline void launch_groups(Setup& out, std::size_t groups, std::size_t items) {
    out.local = Extent(items);
    out.global = Extent(items * groups);
}

/// `items` work-items in groups of `local`. The last group may exceed the end.
inline void launch_items(Setup& out, std::size_t items, std::size_t local) {
    launch_groups(out, divide_up(items, local), local);
}

/// The word between spaced rows: a quiet NaN, which shows in the result of a kernel that uses it.
inline constexpr std::uint32_t gap_word = 0x7FC0DEAD;

/// A matrix of floats with rows of `row` >= `columns` words, after `start` words. Returns the matrix itself if that is
/// already its layout.
inline SharedBytes rows_apart(const SharedBytes& matrix, std::size_t columns, std::size_t row, std::size_t start = 0) {
    if (row == columns && start == 0) return matrix;
    const std::size_t rows = matrix.size() / sizeof(float) / columns;
    return filled<float>(start + rows * row, [=](std::span<float> out) {
        const auto from = view<float>(matrix);
        std::fill_n(out.begin(), start, std::bit_cast<float>(gap_word));
        in_parallel(rows, 256, [&](std::size_t begin, std::size_t end) {
            for (auto r = begin; r < end; ++r) {
                const auto to = std::copy_n(from.data() + r * columns, columns, out.data() + start + r * row);
                std::fill_n(to, row - columns, std::bit_cast<float>(gap_word));
            }
        });
    });
}

/// A chase of one work-item from place to place, with `visits` per trip. The next launch continues it. `slot`: the
/// places of all visits in order, each of `unit` bytes; a visit reads `offset` bytes into its place.
struct Chase {
    std::vector<std::uint32_t> slot;
    std::uint64_t unit = 8, offset = 0;
    std::int32_t visits = 1;
    const char* visit = "loads";  ///< their name in a check

    /// The chase must be where that many visits from the first place lead.
    Check check() const {
        return [chase = *this](const Buffers& buffers) -> std::optional<std::string> {
            const auto done = static_cast<std::uint64_t>(buffers.trips) * static_cast<std::uint64_t>(chase.visits) *
                              buffers.operations;
            const std::uint64_t expected = chase.slot[done % chase.slot.size()] * chase.unit + chase.offset,
                                got = buffers.as<std::uint64_t>("state")[0];
            if (got == expected) return std::nullopt;
            return concat("after ", done, " ", chase.visit, " the chase stands at byte ", got, ", expected ", expected);
        };
    }
    /// Through global memory. `entry` first links a chain of `bytes` bytes.
    void set_up(Setup& out, const char* entry, std::uint64_t bytes, const Device& device) const {
        out.args = {Input{"slot", share(slot)}, Scratch{"chain", bytes},
                    InOut{"state", share(std::vector<std::uint64_t>{slot[0] * unit + offset, 0})},
                    value<std::uint32_t>("count", slot.size()), trips()};
        out.steps = {
            launch("link", entry, Extent(is_simulator(device) ? 64 : 4096), {}, {"slot", "chain", "state", "count"}),
            launch("chase", "", Extent(1), Extent(1), {"chain", "state", "trips"})};
        out.accumulates = true;
        out.check = check();
    }
};

// Differences between a kernel's output and the expected output, in words.
/// A value with enough digits to distinguish it from its neighbors.
template <typename T>
std::string shown(const T& v) {
    if constexpr (std::is_integral_v<T>)
        return std::to_string(v);
    else
        return format_general(static_cast<double>(v), sizeof(T) > 4 ? 17 : 9);
}

/// "dst[17] is 3, expected 4"
template <typename T>
std::string difference(const std::string& buffer, std::size_t i, const T& found, const T& expected) {
    return concat(buffer, "[", i, "] is ", shown(found), ", expected ", shown(expected));
}

/// Applies `look(begin, end)` to pieces of 0 .. count in several threads, as in_parallel() does. `look` describes the
/// first fault in its piece; returns the first of these descriptions.
template <typename Look>
std::optional<std::string> first_of_pieces(std::size_t count, std::size_t least_piece, Look look) {
    std::map<std::size_t, std::string> found;
    std::mutex adding;
    in_parallel(count, least_piece, [&](std::size_t begin, std::size_t end) {
        if (auto wrong = look(begin, end)) {
            const std::lock_guard lock(adding);
            found.emplace(begin, std::move(*wrong));
        }
    });
    return found.empty() ? std::nullopt : std::optional(found.begin()->second);
}

/// The first element of the buffer whose bits differ from `expected(i)`, which several threads call. With a tolerance,
/// the first floating-point number outside it.
template <typename T, typename Expected>
std::optional<std::string> first_difference(const Buffers& buffers, const std::string& buffer, Expected expected) {
    const auto found = buffers.as<T>(buffer);
    std::mutex merging;
    return first_of_pieces(
        found.size(), parallel_piece, [&](std::size_t begin, std::size_t end) -> std::optional<std::string> {
            Errors errors(buffers.errors ? buffers.errors->allowed() : Tolerance{});
            std::array<T, 1024> wanted;  // in batches: a loop that only computes, then one comparison
            for (std::size_t at = begin; at < end; at += wanted.size()) {
                const auto count = std::min(wanted.size(), end - at);
                for (std::size_t k = 0; k < count; ++k) wanted[k] = expected(at + k);
                if (std::memcmp(&found[at], wanted.data(), count * sizeof(T)) == 0) continue;
                for (std::size_t k = 0; k < count; ++k) {
                    const auto i = at + k;
                    if (std::memcmp(&found[i], &wanted[k], sizeof(T)) == 0) continue;
                    if constexpr (std::is_floating_point_v<T>)
                        if (buffers.errors && errors.tolerates(found[i], wanted[k])) continue;
                    return difference(buffer, i, found[i], wanted[k]);
                }
            }
            if (!buffers.errors) return std::nullopt;
            const std::lock_guard lock(merging);
            buffers.errors->merge(errors);
            return std::nullopt;
        });
}

/// The first result of `wrong(i)` for i in 0 .. count that is not nullopt. Several threads call `wrong`.
template <typename Wrong>
std::optional<std::string> first_wrong(std::size_t count, Wrong wrong) {
    return first_of_pieces(count, parallel_piece, [&](std::size_t i, std::size_t end) -> std::optional<std::string> {
        for (; i < end; ++i)
            if (auto found = wrong(i)) return found;
        return std::nullopt;
    });
}

/// The same for expected words that are all in memory.
inline std::optional<std::string> first_difference(const Buffers& buffers, const std::string& buffer,
                                                   std::span<const std::uint32_t> expected) {
    if (const auto size = buffers.as<std::uint32_t>(buffer).size(); size != expected.size())
        return concat(buffer, " has ", size, " words, expected ", expected.size());
    return first_difference<std::uint32_t>(buffers, buffer, [&](std::size_t i) { return expected[i]; });
}

/// The first word of "out" that differs from expected(number). Its number is its index times `every`, and its name is
/// `who`.
template <typename Expected>
std::optional<std::string> first_left(const Buffers& buffers, const char* who, std::uint32_t every, Expected expected) {
    const auto found = buffers.as<std::uint32_t>("out");
    return first_wrong(found.size(), [&](std::size_t i) -> std::optional<std::string> {
        const auto number = static_cast<std::uint32_t>(i) * every;
        if (found[i] == expected(number)) return std::nullopt;
        return concat(who, number, " left ", found[i], ", expected ", expected(number));
    });
}

/// The expected words of an output that must stay unwritten.
inline std::vector<std::uint32_t> poisoned_words(const Buffers& buffers, const std::string& buffer) {
    std::vector<std::uint32_t> out(buffers.as<std::uint32_t>(buffer).size());
    poison(std::as_writable_bytes(std::span(out)), buffers.poison_seed);
    return out;
}

}  // namespace cllab::model::lib

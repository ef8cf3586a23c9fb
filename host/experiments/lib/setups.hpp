// What set-ups are put together from: sizes, data, launches.
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

// --- Sizes from the facts of a device: how much work fills it, and what it cannot hold.

/// A simulator takes about a microsecond per instruction and gets the least work that shows anything.
inline bool is_simulator(const Device& device) { return device.implementation == Implementation::oclgrind; }

/// One of three values: for a simulator, for a GPU, which must be filled, and for everything else.
template <typename T>
T by_scale(const Device& device, T simulated, T cpu, T gpu) {
    return is_simulator(device) ? simulated : device.is_gpu() ? gpu : cpu;
}

inline std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }
inline std::size_t divide_up(std::size_t n, std::size_t step) { return (n + step - 1) / step; }

/// Work-items that issue together: what the driver says, else the vendor's usual number; 1 on a CPU, where a work-item
/// is one iteration of a loop.
inline std::uint32_t wave_width(const Device& device) {
    if (!device.is_gpu()) return 1;
    if (device.preferred_multiple > 0) return device.preferred_multiple;
    return device.implementation == Implementation::amd ? 64 : 32;
}

/// Bytes that no cache holds. A CPU's last level is known; a GPU's is an upper guess that is already twice too large.
inline std::uint64_t beyond_caches(const Device& device) { return (device.is_gpu() ? 2 : 4) * device.last_level_bytes; }

/// The largest one-dimensional work-group of at most `wanted` work-items.
inline std::size_t group_of(const Device& device, std::size_t wanted) {
    return std::max<std::size_t>(1, std::min({wanted, device.max_group, device.max_items[0]}));
}

/// 256 work-items, or the most that the device takes, as a power of two.
inline std::uint32_t even_group(const Device& device) {
    return static_cast<std::uint32_t>(std::bit_floor(std::min<std::size_t>(256, device.max_group)));
}

/// Throws Unsupported when a work-group of `items` work-items is too large.
inline void require_group(std::size_t items, std::size_t most) {
    if (items > most)
        throw Unsupported("a work-group of ", items, " work-items is too large; at most ", most, " are possible here");
}
/// The same for a set-up whose launches share one local size: the executor then makes its kernels promise it.
inline void require_group(const Device& device, std::size_t items) { require_group(items, device.max_group_promised); }

/// The one-dimensional work-group of axis `local`: what the point asks for, else at most `automatic` work-items.
inline std::size_t group(Params& params, const Device& device, std::size_t automatic) {
    const auto items = params.count("local", group_of(device, automatic));
    require_group(items, std::min(device.max_group_promised, device.max_items[0]));
    return items;
}

/// Throws Unsupported when the device cannot allocate one buffer of `bytes`.
inline void require_room(const Device& device, const std::string& buffer, std::uint64_t bytes) {
    if (device.max_alloc_bytes > 0 && bytes > device.max_alloc_bytes)
        throw Unsupported("buffer '", buffer, "' needs ", format_bytes(bytes), "; the device allocates at most ",
                          format_bytes(device.max_alloc_bytes), " at once");
}

/// `wanted` bytes, or as much of it as one buffer can have, in whole blocks of 4 KiB.
inline std::uint64_t whole_pages(const Device& device, std::uint64_t wanted) {
    return (device.max_alloc_bytes > 0 ? std::min(wanted, device.max_alloc_bytes) : wanted) / 4096 * 4096;
}

/// Twice the last-level cache and 16 MiB at the least, as far as one buffer can have it.
inline std::uint64_t twice_last_level(const Device& device) {
    return whole_pages(device, std::max<std::uint64_t>(2 * device.last_level_bytes, 16ull << 20));
}

/// Throws Unsupported where the language has no sub-groups and the instructions of others are not known either.
inline void require_sub_groups(const Device& device) {
    if (device.implementation != Implementation::nvidia && !device.has("cl_khr_subgroups") &&
        !device.has("cl_intel_subgroups"))
        throw Unsupported("the device has no sub-groups");
}
/// What the text then uses, for Setup::extensions.
inline std::vector<std::string> sub_group_extensions(const Device& device) {
    if (device.implementation == Implementation::nvidia) return {};
    return {device.has("cl_khr_subgroups") ? "cl_khr_subgroups" : "cl_intel_subgroups"};
}
/// The language that has them: 2.0, or 3.0, as a device of 3.0 may leave 2.0 out (PoCL 5). NVIDIA's has none.
inline std::vector<std::string> sub_group_options(const Device& device) {
    if (device.implementation == Implementation::nvidia) return {};
    return {device.device_version.starts_with("OpenCL 3") ? "-cl-std=CL3.0" : "-cl-std=CL2.0"};
}
/// The language in which PoCL reads images: 7.2 declares read_imageui in 3.0 alone, and 3.1 to 7.1 do so there, too.
inline std::vector<std::string> image_options(const Device& device) {
    if (device.implementation != Implementation::pocl || !device.device_version.starts_with("OpenCL 3")) return {};
    return {"-cl-std=CL3.0"};
}

/// a * b * …; throws Unsupported naming `what` when it passes `most`, the limit of the kernels' indices.
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

/// True when an address of local memory has four bytes; elsewhere it is a whole pointer.
inline bool short_local_address(const Device& device) {
    return device.implementation == Implementation::nvidia || device.implementation == Implementation::amd;
}

/// Two trip counts for the kernel's argument `trips`. A simulator runs some million instructions per second and gets 1
/// and 2.
inline Slope slope(const Device& device, std::int64_t low, std::int64_t high, double steps_per_trip) {
    if (is_simulator(device)) return {"trips", 1, 2, steps_per_trip};
    return {"trips", static_cast<std::int32_t>(low), static_cast<std::int32_t>(high), steps_per_trip};
}

// --- Random data that nothing compresses, and keeping it for the variants that share it.

inline SharedBytes random_bytes(std::uint64_t size, std::uint64_t seed) {
    return {size, [size, seed] {
                Bytes out(size);
                fill_random(out, seed);
                return out;
            }};
}

/// `count` values of T, which `fill` writes when they are wanted.
template <typename T, typename Fill>
SharedBytes filled(std::size_t count, Fill fill) {
    return {count * sizeof(T), [count, fill] {
                Bytes out(count * sizeof(T));
                fill(std::span(reinterpret_cast<T*>(out.data()), count));
                return out;
            }};
}

/// Element i becomes value(i), which is called from several threads.
template <typename T, typename Value>
void fill_each(std::span<T> out, Value value) {
    in_parallel(out.size(), parallel_piece, [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) out[i] = value(i);
    });
}

/// `count` values of the four-byte type T; `make` turns a random 32-bit word into one, and is called from several
/// threads.
template <typename T, typename Make>
SharedBytes random_values(std::size_t count, std::uint64_t seed, Make make) {
    static_assert(sizeof(T) == 4);
    return filled<T>(count, [seed, make](std::span<T> out) {
        in_parallel(out.size(), parallel_piece, [&](std::size_t begin, std::size_t end) {
            Random random(seed);
            random.skip(begin / 2);
            // The data of fill_random: two values to a word, the low half first. A piece begins with the low half.
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

/// The bytes as values of T.
template <typename T>
std::span<const T> view(const SharedBytes& bytes) {
    return {reinterpret_cast<const T*>(bytes->data()), bytes->size() / sizeof(T)};
}

/// What make() returns, kept for the other variants of the point where the request has a memo. `name`: the family's.
template <typename Key, typename Make>
auto kept(const Request& request, const std::string& name, const Key& key, const Make& make) {
    using Value = std::invoke_result_t<const Make&>;
    return request.memo ? request.memo->get(name, key, make) : std::make_shared<Value>(make());
}

// --- Launches, build options, rows that lie apart, chases.

/// A step named `part` that launches kernel `entry`, the variant's own when that is empty.
inline Launch launch(std::string part, std::string entry, const Extent& global, const Extent& local,
                     std::vector<std::string> args, unsigned queue = 0) {
    return {std::move(entry), global, local, std::move(args), {}, std::move(part), queue};
}

/// "NAME=number" each, for -D; `suffix` stands behind the number, as in "NAME=7u".
inline std::vector<std::string> defines(std::initializer_list<std::pair<const char*, std::uint64_t>> numbers,
                                        const char* suffix = "") {
    return mapped(numbers, [&](const auto& n) { return concat(n.first, "=", n.second, suffix); });
}

/// What a probe whose step is one of `unit` makes in a second.
inline Metric rate_metric(const char* name, const char* unit) {
    return {name, unit, Better::higher, [](const Setup&, double seconds) { return 1 / seconds; }};
}

/// So much of the declared work in a second.
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

/// `items` work-items in groups of `local`; what does not fill the last group stands beyond the end.
inline void launch_items(Setup& out, std::size_t items, std::size_t local) {
    launch_groups(out, divide_up(items, local), local);
}

/// What lies between rows that are apart: a quiet NaN that shows in the result of a kernel that uses it.
inline constexpr std::uint32_t gap_word = 0x7FC0DEAD;

/// A matrix of floats with rows of `row` >= `columns` words behind `start` words; the matrix itself when that is what
/// it is.
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

/// A chase of one work-item from place to place, `visits` in a trip, that the next launch goes on with. `entry` links
/// `slot`, the places of all visits in their order, `unit` bytes each and `offset` bytes into it.
struct Chase {
    std::vector<std::uint32_t> slot;
    std::uint64_t unit = 8, offset = 0;
    std::int32_t visits = 1;
    const char* visit = "loads";  ///< what a check calls them

    /// The chase must stand where so many visits from the first lead to.
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
    /// Through global memory: `entry` links `bytes` of a chain first.
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

// What a kernel left behind against what it should be, in words.
/// A value with the digits that tell it from its neighbours.
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

/// What `look(begin, end)` says of the first piece of 0 .. count of which it says something; called from several
/// threads as in_parallel() does. It says what is wrong with the first of its piece.
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

/// The first element of the buffer whose bits are not those of `expected(i)`, which is called from several threads;
/// with a tolerance, the first floating-point number that is not near enough.
template <typename T, typename Expected>
std::optional<std::string> first_difference(const Buffers& buffers, const std::string& buffer, Expected expected) {
    const auto found = buffers.as<T>(buffer);
    std::mutex merging;
    return first_of_pieces(
        found.size(), parallel_piece, [&](std::size_t begin, std::size_t end) -> std::optional<std::string> {
            Errors errors(buffers.errors ? buffers.errors->allowed() : Tolerance{});
            std::array<T, 1024> wanted;  // many at once: a loop that only computes, and one comparison of them all
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

/// What `wrong(i)` says of the first of 0 .. count of which it says something; called from several threads.
template <typename Wrong>
std::optional<std::string> first_wrong(std::size_t count, Wrong wrong) {
    return first_of_pieces(count, parallel_piece, [&](std::size_t i, std::size_t end) -> std::optional<std::string> {
        for (; i < end; ++i)
            if (auto found = wrong(i)) return found;
        return std::nullopt;
    });
}

/// The same as first_difference for expected words that are all there.
inline std::optional<std::string> first_difference(const Buffers& buffers, const std::string& buffer,
                                                   std::span<const std::uint32_t> expected) {
    if (const auto size = buffers.as<std::uint32_t>(buffer).size(); size != expected.size())
        return concat(buffer, " has ", size, " words, expected ", expected.size());
    return first_difference<std::uint32_t>(buffers, buffer, [&](std::size_t i) { return expected[i]; });
}

/// What the first of `who`, numbered in steps of `every`, left in "out" that is not expected(number).
template <typename Expected>
std::optional<std::string> first_left(const Buffers& buffers, const char* who, std::uint32_t every, Expected expected) {
    const auto found = buffers.as<std::uint32_t>("out");
    return first_wrong(found.size(), [&](std::size_t i) -> std::optional<std::string> {
        const auto number = static_cast<std::uint32_t>(i) * every;
        if (found[i] == expected(number)) return std::nullopt;
        return concat(who, number, " left ", found[i], ", expected ", expected(number));
    });
}

/// What the words of an output are that nobody may write.
inline std::vector<std::uint32_t> poisoned_words(const Buffers& buffers, const std::string& buffer) {
    std::vector<std::uint32_t> out(buffers.as<std::uint32_t>(buffer).size());
    poison(std::as_writable_bytes(std::span(out)), buffers.poison_seed);
    return out;
}

}  // namespace cllab::model::lib

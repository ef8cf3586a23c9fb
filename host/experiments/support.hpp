// What the study families share: sizes that suit the device, random data, comparisons in words. No OpenCL.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/random.hpp"
#include "model/experiment.hpp"

namespace cllab::model::support {

/// How large an "auto" size may be: a simulator takes a microsecond an instruction, a GPU must be filled.
enum class Scale { simulated, cpu, gpu };
inline Scale scale_of(const Device& device) {
    if (device.implementation == Implementation::oclgrind) return Scale::simulated;
    return device.is_gpu() ? Scale::gpu : Scale::cpu;
}

template <typename T>
T by_scale(const Device& device, T simulated, T cpu, T gpu) {
    const auto scale = scale_of(device);
    return scale == Scale::simulated ? simulated : scale == Scale::cpu ? cpu : gpu;
}

inline std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }
inline std::size_t divide_up(std::size_t n, std::size_t step) { return (n + step - 1) / step; }

/// A one-dimensional work-group of at most `wanted` work-items that the device can have.
inline std::size_t group_of(const Device& device, std::size_t wanted) {
    return std::max<std::size_t>(1, std::min({wanted, device.max_group, device.max_items[0]}));
}

/// The axis `name`, or `automatic` where the point leaves it to the device.
inline std::int64_t integer_or(const Point& point, const char* name, std::int64_t automatic) {
    return point.is_auto(name) ? automatic : point.integer(name);
}

/// a * b * …, or Error(usage) naming `what` when it passes `most`.
inline std::uint64_t product(const std::string& what, std::initializer_list<std::int64_t> factors, std::uint64_t most) {
    unsigned __int128 out = 1;
    std::string shown;
    for (const auto factor : factors) {
        out *= static_cast<std::uint64_t>(factor);
        shown += (shown.empty() ? "" : " x ") + std::to_string(factor);
        if (out > most)
            throw Error(Blame::usage, what + " is " + shown + " or more; at most " + std::to_string(most) + " is possible");
    }
    return static_cast<std::uint64_t>(out);
}

/// Throws Error(usage) when one buffer of `bytes` is more than the device allocates at once.
inline void require_room(const Device& device, const std::string& buffer, std::uint64_t bytes) {
    if (device.max_alloc_bytes > 0 && bytes > device.max_alloc_bytes)
        throw Error(Blame::usage, "buffer '" + buffer + "' would have " + std::to_string(bytes) + " byte; device '" +
                                      device.name + "' allocates at most " + std::to_string(device.max_alloc_bytes) +
                                      " byte at once");
}

/// `count` values of T made from random words; `make` takes a 32-bit word.
template <typename T, typename Make>
SharedBytes random_values(std::size_t count, std::uint64_t seed, Make make) {
    static_assert(sizeof(T) == 4);
    auto out = std::make_shared<Bytes>(count * sizeof(T));
    fill_random(*out, seed);
    for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t word;
        std::memcpy(&word, out->data() + i * sizeof(T), sizeof word);
        const T v = make(word);
        std::memcpy(out->data() + i * sizeof(T), &v, sizeof v);
    }
    return out;
}

/// Uniform floats in [low, high), with full mantissas so that nothing compresses.
inline SharedBytes random_floats(std::size_t count, std::uint64_t seed, float low, float high) {
    const float step = (high - low) * 0x1p-24f;
    return random_values<float>(count, seed, [=](std::uint32_t w) { return low + step * static_cast<float>(w >> 8); });
}

template <typename T>
std::span<const T> view(const SharedBytes& bytes) {
    return {reinterpret_cast<const T*>(bytes->data()), bytes->size() / sizeof(T)};
}

inline std::string shown(float v) {
    char out[32];
    std::snprintf(out, sizeof out, "%.9g", static_cast<double>(v));
    return out;
}
inline std::string shown(std::uint32_t v) { return std::to_string(v); }
inline std::string shown(std::int32_t v) { return std::to_string(v); }

template <typename T>
std::string difference(const std::string& buffer, std::size_t i, T found, T expected) {
    return buffer + "[" + std::to_string(i) + "] is " + shown(found) + ", expected " + shown(expected);
}

/// The first element of `found` that is not exactly `expected(i)`.
template <typename T, typename Expected>
std::optional<std::string> first_difference(const std::string& buffer, std::span<const T> found, Expected expected) {
    for (std::size_t i = 0; i < found.size(); ++i) {
        const T e = expected(i);
        if (!(found[i] == e)) return difference(buffer, i, found[i], e);
    }
    return std::nullopt;
}

/// Keeps what was made last: the variants of a point share inputs and references, for each of a verification's two
/// seeds. Older entries are dropped before a new one is made, for each may be gigabytes.
template <typename Key, typename Value>
class Recent {
public:
    template <typename Make>
    std::shared_ptr<const Value> get(const Key& key, Make make) {
        for (const auto& [k, v] : kept_) {
            if (k == key) return v;
        }
        if (kept_.size() == 2) kept_.pop_front();
        auto made = std::make_shared<const Value>(make());
        kept_.emplace_back(key, made);
        return made;
    }

private:
    std::deque<std::pair<Key, std::shared_ptr<const Value>>> kept_;
};

}  // namespace cllab::model::support

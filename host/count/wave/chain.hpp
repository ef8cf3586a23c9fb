// Chains of dependent operations: each operation needs the result of the previous one. Every value carries the longest
// chain that led to it, also through memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cllab::count {

// A hash map with integer keys for millions of lookups per second: open addressing, and clear() in constant time.
template <class V>
class FlatMap {
public:
    V& operator[](std::uint64_t key) {
        if (2 * (size_ + 1) > entries_.size()) grow();
        auto& entry = slot(key);
        if (entry.generation != generation_) {
            entry = {key, generation_, V{}};
            ++size_;
        }
        return entry.value;
    }
    const V* find(std::uint64_t key) const {
        if (size_ == 0) return nullptr;
        const auto& entry = const_cast<FlatMap*>(this)->slot(key);
        return entry.generation == generation_ ? &entry.value : nullptr;
    }
    void clear() {
        size_ = 0;
        ++generation_;
    }
    std::size_t size() const { return size_; }

private:
    struct Entry {
        std::uint64_t key = 0;
        std::uint32_t generation = 0;  ///< an entry of an older generation is free
        V value{};
    };

    Entry& slot(std::uint64_t key) {
        const std::size_t mask = entries_.size() - 1;
        std::size_t at = static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ull) >> 20) & mask;
        while (entries_[at].generation == generation_ && entries_[at].key != key) at = (at + 1) & mask;
        return entries_[at];
    }
    void grow() {
        auto old = std::exchange(entries_, std::vector<Entry>(entries_.empty() ? 64 : 2 * entries_.size()));
        for (auto& entry : old)
            if (entry.generation == generation_) slot(entry.key) = std::move(entry);
    }

    std::vector<Entry> entries_;
    std::size_t size_ = 0;
    std::uint32_t generation_ = 1;
};

enum class Link : std::uint8_t { load, local_load, arithmetic, atomic, none };
inline constexpr std::size_t links = 4;

/// Cost of each link in a path: its latency on GPUs, relative to arithmetic, roughly to a power of ten.
inline constexpr std::array<std::uint32_t, links> link_cost{100, 8, 1, 100};

struct Depth {
    std::array<std::uint32_t, links> longest{};  ///< of each kind of link, along any path
    std::array<std::uint32_t, links> path{};     ///< along the path of the highest cost
    std::uint32_t cost = 0;                      ///< of that path
    bool by_place = false;                       ///< depends on the work-item's place in the launch
    bool any = false;                            ///< may be any number: does not grow with the place

    bool by_data() const {
        constexpr auto load = static_cast<std::size_t>(Link::load), atomic = static_cast<std::size_t>(Link::atomic);
        return longest[load] > 0 || longest[atomic] > 0;
    }
    void join(const Depth& other) {
        for (std::size_t i = 0; i < links; ++i) longest[i] = std::max(longest[i], other.longest[i]);
        by_place = by_place || other.by_place;
        any = any || other.any;
        if (other.cost <= cost) return;
        cost = other.cost;
        path = other.path;
    }
    void add(Link link) {
        if (link == Link::none) return;
        const auto i = static_cast<std::size_t>(link);
        ++longest[i];
        ++path[i];
        cost += link_cost[i];
    }
};

/// Depths of the values stored in an address space, per word of four bytes.
class StoredDepths {
public:
    /// A store by `item`, after its group passed `barriers` barriers.
    void store(std::uint64_t address, std::uint64_t bytes, const Depth& depth, std::uint32_t item,
               std::uint32_t barriers) {
        for_words(address, bytes, [&](std::uint64_t word) { words_[word] = {depth, item, barriers}; });
    }
    /// Joins the depths found there. Ignores stores by other work-items since the last barrier: the order in which a
    /// simulator runs work-items is no dependency.
    void load(std::uint64_t address, std::uint64_t bytes, Depth& depth, std::uint32_t item,
              std::uint32_t barriers) const {
        if (words_.size() == 0) return;
        for_words(address, bytes, [&](std::uint64_t word) {
            const auto* found = words_.find(word);
            if (found && (found->item == item || found->barriers < barriers)) depth.join(found->depth);
        });
    }
    void clear() { words_.clear(); }

private:
    struct Stored {
        Depth depth;
        std::uint32_t item = 0, barriers = 0;
    };
    template <class Visit>
    static void for_words(std::uint64_t address, std::uint64_t bytes, Visit visit) {
        constexpr std::uint64_t most_words = 64;  // per access; a copy of a large struct may have more
        const auto first = address / 4, last = (address + std::max<std::uint64_t>(bytes, 1) - 1) / 4;
        for (auto word = first; word <= std::min(last, first + most_words); ++word) visit(word);
    }

    FlatMap<Stored> words_;
};

}  // namespace cllab::count

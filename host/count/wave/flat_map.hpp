// A hash map from numbers for what is looked up millions of times a second: open addressing, and clear() costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cllab::count {

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
        std::uint32_t generation = 0;  ///< an entry of an older one is free
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

}  // namespace cllab::count

// Bytes of large data. The system provides the memory zeroed, page by page, in huge pages if it can. A vector would
// write the zeros itself on one core: for 1 GiB that takes longer than several threads take to fill it.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <type_traits>

namespace cllab {

/// Like a vector of bytes. Bytes without a given value are zero. Throws std::bad_alloc if memory is exhausted.
class Bytes {
public:
    using value_type = std::byte;
    using size_type = std::size_t;
    using iterator = std::byte*;
    using const_iterator = const std::byte*;

    Bytes() = default;
    explicit Bytes(std::size_t size);
    Bytes(std::size_t size, std::byte value);
    template <std::forward_iterator It>
    Bytes(It first, It last) : Bytes(static_cast<std::size_t>(std::distance(first, last))) {
        if constexpr (std::contiguous_iterator<It> && std::is_same_v<std::iter_value_t<It>, std::byte>) {
            if (size_ > 0) put(std::to_address(first));
        } else {
            for (auto* at = begin(); first != last; ++first) *at++ = *first;
        }
    }
    Bytes(std::initializer_list<std::byte> values) : Bytes(values.begin(), values.end()) {}
    Bytes(const Bytes& other) : Bytes(other.begin(), other.end()) {}
    Bytes(Bytes&& other) noexcept { swap(other); }
    Bytes& operator=(Bytes other) noexcept {
        swap(other);
        return *this;
    }
    ~Bytes();

    std::byte* data() { return data_; }
    const std::byte* data() const { return data_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    std::byte* begin() { return data_; }
    std::byte* end() { return data_ + size_; }
    const std::byte* begin() const { return data_; }
    const std::byte* end() const { return data_ + size_; }
    std::byte& operator[](std::size_t i) { return data_[i]; }
    const std::byte& operator[](std::size_t i) const { return data_[i]; }
    std::byte& front() { return data_[0]; }
    std::byte& back() { return data_[size_ - 1]; }
    const std::byte& front() const { return data_[0]; }
    const std::byte& back() const { return data_[size_ - 1]; }

    /// Keeps the first bytes. A size beyond the capacity moves them to new memory.
    void resize(std::size_t size);
    void clear() { resize(0); }
    void swap(Bytes& other) noexcept;
    friend bool operator==(const Bytes& a, const Bytes& b);

private:
    void put(const std::byte* from);

    std::byte* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace cllab

#include "core/bytes.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "core/parallel.hpp"

namespace cllab {
namespace {

constexpr std::size_t large_bytes = 4 << 20, huge_page = 2 << 20;

std::size_t whole_pages(std::size_t bytes) { return (bytes + huge_page - 1) / huge_page * huge_page; }

std::byte* allocate(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    if (bytes > SIZE_MAX / 4) throw std::bad_alloc();
    if (bytes < large_bytes) {
        auto* out = static_cast<std::byte*>(std::calloc(bytes, 1));
        return out ? out : throw std::bad_alloc();
    }
    // A huge page begins at a multiple of its size. So map that much more, and give the rest back.
    const std::size_t whole = whole_pages(bytes);
    void* mapped = mmap(nullptr, whole + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    auto* const begin = static_cast<std::byte*>(mapped);
    const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(begin) % huge_page) % huge_page;
    if (before > 0) munmap(begin, before);
    munmap(begin + before + whole, huge_page - before);
    madvise(begin + before, whole, MADV_HUGEPAGE);  // a system without this advice provides small pages
    return begin + before;
}

void release(std::byte* memory, std::size_t bytes) {
    if (bytes < large_bytes)
        std::free(memory);
    else
        munmap(memory, whole_pages(bytes));
}

}  // namespace

Bytes::Bytes(std::size_t size) : data_(allocate(size)), size_(size), capacity_(size) {}

Bytes::Bytes(std::size_t size, std::byte value) : Bytes(size) { std::fill(begin(), end(), value); }

Bytes::~Bytes() { release(data_, capacity_); }

void Bytes::put(const std::byte* from) { copy_bytes({data_, size_}, {from, size_}); }

void Bytes::resize(std::size_t size) {
    if (size > capacity_) {
        Bytes larger(std::max(
            size,
            capacity_ + capacity_ / 2));  // so repeated appending copies each byte a few times, not once per call
        if (size_ > 0) std::memcpy(larger.data_, data_, size_);
        larger.size_ = size;
        swap(larger);
        return;
    }
    if (size > size_) std::memset(data_ + size_, 0, size - size_);
    size_ = size;
}

void Bytes::swap(Bytes& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
}

bool operator==(const Bytes& a, const Bytes& b) { return equal_bytes({a.data_, a.size_}, {b.data_, b.size_}); }

}  // namespace cllab

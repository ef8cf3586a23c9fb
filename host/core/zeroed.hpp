// Memory for much data. A vector that zeroes what is written over at once touches each page twice, the first time on one core: for a
// buffer of 1 GiB that takes longer than the threads that fill it.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace cllab {

/// `bytes` of zeros, aligned for any type. Large ones come from the system, in huge pages where it gives them, and a page costs nothing
/// until somebody touches it. Throws std::bad_alloc.
void* zeroed_memory(std::size_t bytes);
void free_zeroed_memory(void* memory, std::size_t bytes);

/// For vectors of bytes and numbers: an element without a value keeps the zero that the memory came with. One that resize() brings back
/// within the capacity is what it was.
template <typename T>
struct Zeroed {
    using value_type = T;
    Zeroed() = default;
    template <typename U>
    Zeroed(const Zeroed<U>&) {}

    T* allocate(std::size_t n) { return static_cast<T*>(zeroed_memory(n * sizeof(T))); }
    void deallocate(T* memory, std::size_t n) { free_zeroed_memory(memory, n * sizeof(T)); }
    template <typename U>
    void construct(U*) {}
    template <typename U, typename... Args>
    void construct(U* at, Args&&... args) { ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...); }
    friend bool operator==(const Zeroed&, const Zeroed&) { return true; }
};

}  // namespace cllab

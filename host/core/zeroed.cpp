#include "core/zeroed.hpp"

#include <cstdint>
#include <cstdlib>
#include <new>

#include <sys/mman.h>

namespace cllab {
namespace {

constexpr std::size_t large_bytes = 4 << 20, huge_page = 2 << 20;

}  // namespace

void* zeroed_memory(std::size_t bytes) {
    if (bytes < large_bytes) {
        void* out = std::calloc(bytes > 0 ? bytes : 1, 1);
        if (!out) throw std::bad_alloc();
        return out;
    }
    if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
    // A huge page begins at a multiple of its size: as much more is asked for, and the rest given back.
    const std::size_t whole = (bytes + huge_page - 1) / huge_page * huge_page;
    void* mapped = mmap(nullptr, whole + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    auto* const begin = static_cast<std::byte*>(mapped);
    const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(begin) % huge_page) % huge_page;
    if (before > 0) munmap(begin, before);
    munmap(begin + before + whole, huge_page - before);
    madvise(begin + before, whole, MADV_HUGEPAGE);  // a system that does not know it gives small pages
    return begin + before;
}

void free_zeroed_memory(void* memory, std::size_t bytes) {
    if (bytes < large_bytes) std::free(memory);
    else munmap(memory, (bytes + huge_page - 1) / huge_page * huge_page);
}

}  // namespace cllab

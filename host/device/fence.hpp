// Memory between protected pages: an access outside a buffer faults at once, even far outside.
#pragma once

#include <cstddef>
#include <string>

namespace cllab::device {

/// The end of a buffer that meets protected pages.
enum class Fence { none, end, start };

/// Zeroed memory for a buffer in whole pages, at one end of them. A gibibyte of protected address space before and
/// after the pages uses no memory. An access to it ends the process.
class FencedPages {
public:
    /// `align`: alignment of the buffer's first byte. It may leave some bytes between the buffer's end and the fence.
    /// Throws std::bad_alloc, also if there are too many fenced buffers to tell apart.
    /// `element_bytes`: 0 if unknown.
    FencedPages(std::size_t bytes, std::size_t align, Fence fence, const std::string& name, std::size_t element_bytes);
    ~FencedPages();
    FencedPages(const FencedPages&) = delete;
    FencedPages& operator=(const FencedPages&) = delete;

    std::byte* pages() const { return pages_; }
    std::size_t pages_bytes() const { return pages_bytes_; }
    std::size_t offset() const { return offset_; }  ///< of the buffer in pages()

private:
    std::byte *mapped_ = nullptr, *pages_ = nullptr;
    std::size_t pages_bytes_ = 0, offset_ = 0, slot_ = 0;
};

inline constexpr std::size_t fault_text_bytes = 192;

/// Appends "of dst[8], 1 element past its end of 8 elements". If the size of an element is unknown, "4 bytes past the
/// end of 'dst'". May be called by a signal handler. `offset`: of the accessed byte in the buffer.
char* append_outside(char* to, char* end, const char* name, std::ptrdiff_t offset, std::size_t bytes,
                     std::size_t element_bytes);

/// From now on, a fault in a fence writes "a write " and append_outside() to `to`. `to`: fault_text_bytes of memory
/// that outlives the process. The fault then ends the process as usual.
void report_faults_to(char* to);
/// True if another process reads the faults. Fences are useful only then.
bool faults_are_reported();

}  // namespace cllab::device

// Memory between pages that may not be touched: whoever leaves it is stopped in the act, however far outside.
#pragma once

#include <cstddef>
#include <string>

namespace cllab::device {

/// Which end of a buffer lies at such pages.
enum class Fence { none, end, start };

/// Zeros for a buffer, at one end of whole pages with a gibibyte of address space before and behind them that takes no
/// memory. What touches that ends the process.
class FencedPages {
public:
    /// `align`: of the buffer's first byte, so that the rest may lie between the buffer's end and the fence. Throws
    /// std::bad_alloc, also where more buffers are fenced than can be told apart.
    FencedPages(std::size_t bytes, std::size_t align, Fence fence, const std::string& name);
    ~FencedPages();
    FencedPages(const FencedPages&) = delete;
    FencedPages& operator=(const FencedPages&) = delete;

    std::byte* pages() const { return pages_; }
    std::size_t pages_bytes() const { return pages_bytes_; }
    std::size_t offset() const { return offset_; }  ///< of the buffer in them

private:
    std::byte *mapped_ = nullptr, *pages_ = nullptr;
    std::size_t pages_bytes_ = 0, offset_ = 0, slot_ = 0;
};

inline constexpr std::size_t fault_text_bytes = 192;

/// From now on a fault in a fence leaves "a write 4 bytes past the end of 'dst'" at `to`, fault_text_bytes that outlive
/// the process, before it ends the process as it would have.
void report_faults_to(char* to);
/// Whether somebody reads them, and so whether fences are of use.
bool faults_are_reported();

}  // namespace cllab::device

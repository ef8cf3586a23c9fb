#include "device/fence.hpp"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <new>

namespace cllab::device {
namespace {

constexpr std::size_t fence_bytes = std::size_t{1} << 30;

/// Data for the signal handler, in fixed memory. An entry is valid while `begin` is set.
struct Fenced {
    std::atomic<std::uintptr_t> begin{0};  ///< of the buffer; 0: unused
    std::uintptr_t mapped = 0, mapped_end = 0;
    std::size_t bytes = 0, element_bytes = 0;
    char name[64] = {};
};
std::array<Fenced, 256> fenced;
char* report = nullptr;

char* append(char* to, const char* end, const char* text) {
    while (to < end && *text != '\0') *to++ = *text++;
    return to;
}

const char* access_of([[maybe_unused]] const void* context) {
#ifdef __x86_64__
    constexpr unsigned long long write_bit = 2;  // in a page fault's error code
    const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
    return static_cast<unsigned long long>(registers[REG_ERR]) & write_bit ? "a write " : "a read ";
#else
    return "an access ";
#endif
}

void on_fault(int signal, siginfo_t* info, void* context) {
    const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
    for (const auto& one : fenced) {
        const auto begin = one.begin.load();
        if (begin == 0 || at < one.mapped || at >= one.mapped_end) continue;
        char* const end = report + fault_text_bytes - 1;
        *append_outside(append(report, end, access_of(context)), end, one.name, static_cast<std::ptrdiff_t>(at - begin),
                        one.bytes, one.element_bytes) = '\0';
        break;
    }
    std::raise(signal);  // SA_RESETHAND restored the default action
}

/// Call for each buffer, because LLVM inside a driver replaces the handlers when it compiles.
void catch_faults() {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGSEGV, SIGBUS}) sigaction(signal, &action, nullptr);
}

}  // namespace

char* append_outside(char* to, char* end, const char* name, std::ptrdiff_t offset, std::size_t bytes,
                     std::size_t element_bytes) {
    const bool before = offset < 0, by_bytes = element_bytes == 0;
    const auto unit = static_cast<std::ptrdiff_t>(by_bytes ? 1 : element_bytes);
    const auto index = before ? -((unit - 1 - offset) / unit) : offset / unit;
    const auto count = static_cast<std::ptrdiff_t>(bytes) / unit;
    const auto distance = before ? -index : index - count + 1;
    if (!by_bytes) {
        to = append(append(append(to, end, "of "), end, name), end, "[");
        to = append(std::to_chars(to, end, index).ptr, end, "], ");
    }
    to = append(std::to_chars(to, end, distance).ptr, end, by_bytes ? " byte" : " element");
    to = append(to, end, distance == 1 ? "" : "s");
    if (by_bytes) {
        to = append(to, end, before ? " before the start of '" : " past the end of '");
        return append(append(to, end, name), end, "'");
    }
    if (before) return append(to, end, " before its start");
    to = append(to, end, " past its end of ");
    return append(std::to_chars(to, end, count).ptr, end, count == 1 ? " element" : " elements");
}

FencedPages::FencedPages(std::size_t bytes, std::size_t align, Fence fence, const std::string& name,
                         std::size_t element_bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const auto round_up = [](std::size_t n, std::size_t step) { return (n + step - 1) / step * step; };
    pages_bytes_ = round_up(bytes, page);
    offset_ = fence == Fence::end ? pages_bytes_ - round_up(bytes, align) : 0;
    while (slot_ < fenced.size() && fenced[slot_].mapped != 0) ++slot_;
    if (slot_ == fenced.size()) throw std::bad_alloc();
    void* const mapped =
        mmap(nullptr, pages_bytes_ + 2 * fence_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    mapped_ = static_cast<std::byte*>(mapped);
    pages_ = mapped_ + fence_bytes;
    if (mprotect(pages_, pages_bytes_, PROT_READ | PROT_WRITE) != 0) {
        munmap(mapped_, pages_bytes_ + 2 * fence_bytes);
        throw std::bad_alloc();
    }
    auto& own = fenced[slot_];
    own.mapped = reinterpret_cast<std::uintptr_t>(mapped_);
    own.mapped_end = own.mapped + pages_bytes_ + 2 * fence_bytes;
    const auto begin = reinterpret_cast<std::uintptr_t>(pages_ + offset_);
    own.bytes = bytes, own.element_bytes = element_bytes;
    std::memset(own.name, 0, sizeof own.name);
    std::memcpy(own.name, name.data(), std::min(name.size(), sizeof own.name - 1));
    own.begin = begin;
    if (report) catch_faults();
}

FencedPages::~FencedPages() {
    fenced[slot_].begin = 0;
    fenced[slot_].mapped = 0;
    munmap(mapped_, pages_bytes_ + 2 * fence_bytes);
}

void report_faults_to(char* to) { report = to; }
bool faults_are_reported() { return report != nullptr; }

}  // namespace cllab::device

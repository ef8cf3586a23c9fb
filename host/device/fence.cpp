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
    std::uintptr_t end = 0, mapped = 0, mapped_end = 0;
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
        const bool before = at < begin;
        const auto distance = before ? begin - at : at - one.end + 1;
        char* const end = report + fault_text_bytes - 1;
        char* to = append(report, end, access_of(context));
        to = std::to_chars(to, end, distance).ptr;
        to = append(to, end, distance == 1 ? " byte " : " bytes ");
        to = append(to, end, before ? "before the start of '" : "past the end of '");
        to = append(append(to, end, one.name), end, "'");
        *to = '\0';
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

FencedPages::FencedPages(std::size_t bytes, std::size_t align, Fence fence, const std::string& name) {
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
    own.end = begin + bytes;
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

// What the layer in a program's processes tells `cllab capture`: a file of fixed size that all of them map. What is
// counted there outlives a crash, and its blocks are allotted before the program starts: a full disk takes nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cllab::capture {

/// Commands of a kind; `timed` of them said how long they took.
struct Tally {
    std::atomic<std::uint64_t> count, timed, ns, bytes;
    double seconds() const { return static_cast<double>(ns) * 1e-9; }
};

template <std::size_t most>
struct Text {
    std::array<char, most> bytes;
    void set(std::string_view text) { bytes[text.copy(bytes.data(), most - 1)] = '\0'; }
    std::string get() const { return {bytes.data(), ::strnlen(bytes.data(), most)}; }
};

/// Up to three; zeros stand for none.
using Sizes = std::array<std::uint64_t, 3>;

/// Launches of one kernel with the same sizes on one device, in one process.
struct LaunchRow {
    Text<256> kernel;
    Text<96> device;
    std::uint64_t program;  ///< a hash of its text
    Sizes global, local;    ///< local: none where the driver chose
    Tally launches;
};

/// A launch that was kept, as a kernel file.
struct KeptRow {
    Text<256> kernel;
    Text<288> file;
    std::uint64_t launch, ns;
    bool changed, has_text;
    std::atomic<bool> written;
};

inline constexpr std::array<const char*, 5> copy_names{"write", "read", "copy", "fill", "map"};
enum class Copy : std::size_t { write, read, copy, fill, map };

/// Zeros are its beginning.
struct Board {
    std::atomic<std::uint32_t> processes;  ///< that loaded the layer: its mark
    std::atomic<std::uint32_t> queues_with_times_added, launch_rows, kept_rows, notes;
    Text<512> loader;
    Tally builds;
    std::array<Tally, copy_names.size()> copies;
    std::array<LaunchRow, 4096> launch;
    std::array<KeptRow, 512> kept;
    std::array<Text<400>, 128> note;
};

/// A place in a list of the board; nothing once it is full.
template <class List>
typename List::value_type* claim(std::atomic<std::uint32_t>& used, List& list) {
    const auto at = used.fetch_add(1);
    return at < list.size() ? &list[at] : nullptr;
}

/// Maps the file, which it makes where `is_new`. Nothing, with errno, where that fails.
Board* map_board(const std::filesystem::path& path, bool is_new);

/// A kernel of one text on one device.
struct KernelSeen {
    std::string kernel, device;
    std::uint64_t launches = 0;
    double seconds = 0;
    std::vector<const LaunchRow*> rows{};  ///< by sizes; the one that took most time first
};

/// Its kernels by the time they took. Reads whatever bytes the board holds.
std::vector<KernelSeen> kernels_on(const Board& board);
std::vector<const KeptRow*> kept_on(const Board& board);
std::vector<std::string> notes_on(const Board& board);

}  // namespace cllab::capture

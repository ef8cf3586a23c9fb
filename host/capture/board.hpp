// The shared memory of `cllab capture` and the layer in the program's processes: a file of fixed size that all of them
// map. It outlives a crash. Its blocks are allocated before the program starts, so a full disk loses nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cllab::capture {

using Json = nlohmann::ordered_json;

/// The options of `cllab capture`.
struct AskedFor {
    bool times = true;
    std::vector<std::string> kernels{};  ///< globs; none: no launch is kept
    std::uint64_t launch = 0;            ///< a number from 1; 0: the longest
    std::string folder{}, timeline{};    ///< folder of the kernel files; file of the trace, or empty
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(AskedFor, times, kernels, launch, folder, timeline)
};

/// Events of one kind; `timed` of them reported how long they took.
struct Tally {
    std::atomic<std::uint64_t> count, timed, ns, bytes;
};

/// A new board is all zeros.
struct Board {
    std::atomic<std::uint32_t> processes;  ///< that loaded the layer
    std::atomic<std::uint32_t> rows;       ///< number of used `tallies`
    std::atomic<std::uint64_t> used;       ///< bytes used of `lines`
    std::array<Tally, 4096> tallies;
    std::array<char, 4 << 20> lines;  ///< JSON lines, in the order of say()

    void say(const Json& line);
};

/// Maps the file; creates it if `is_new`. Returns nullptr and sets errno on failure.
Board* map_board(const std::filesystem::path& path, bool is_new);

std::string text_of(const Json& json);

/// The JSON objects on the board that have this key. Skips lines that are not JSON. Keys: "asked" (the options for the
/// layer), "file" (a kernel file; a later line replaces an earlier one of the same file), "note", "loader" (texts).
std::vector<Json> said_on(const Board& board, const char* key);

/// The rows with this key that counted something, with "count", "timed", "seconds" and "bytes". Key "kernel": launches
/// of one process with equal sizes on one device; key "what": copies, builds and other commands.
std::vector<Json> rows_on(const Board& board, const char* key);

/// Groups rows by kernel, program text and device. Sorts groups, and the rows of a group, by time, longest first.
std::vector<std::vector<Json>> by_kernel(const std::vector<Json>& rows);

/// The sum of the values of this key over all rows.
double sum_of(const std::vector<Json>& rows, const char* key);

}  // namespace cllab::capture

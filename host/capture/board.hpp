// What `cllab capture` and the layer in a program's processes tell each other: a file of fixed size that all of them
// map. What is there outlives a crash, and its blocks are allotted before the program starts: a full disk takes none.
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

/// Events of a kind; `timed` of them said how long they took.
struct Tally {
    std::atomic<std::uint64_t> count, timed, ns, bytes;
};

/// Zeros are its beginning.
struct Board {
    std::atomic<std::uint32_t> processes;  ///< that loaded the layer: its mark
    std::atomic<std::uint32_t> rows;       ///< used of `tallies`
    std::atomic<std::uint64_t> used;       ///< of `lines`
    std::array<Tally, 4096> tallies;
    std::array<char, 4 << 20> lines;  ///< of JSON, in the order in which they were said

    void say(const Json& line);
};

/// Maps the file, which it makes where `is_new`. Nothing, with errno, where that fails.
Board* map_board(const std::filesystem::path& path, bool is_new);

std::string text_of(const Json& json);

/// The objects among the lines that have this key, whatever bytes the board holds: "asked" is what the layer shall do,
/// "file" is a kernel file, of which a later line takes the place of an earlier one, "note" and "loader" are texts.
std::vector<Json> said_on(const Board& board, const char* key);

/// The lines about tallies that counted something, with "count", "timed", "seconds" and "bytes". The key "kernel" is of
/// launches with the same sizes on one device, in one process, "what" of all else.
std::vector<Json> rows_on(const Board& board, const char* key);

/// The rows of each kernel of one text on one device. Rows, and kernels, that took most time are the first.
std::vector<std::vector<Json>> by_kernel(const std::vector<Json>& rows);

/// Of all rows, the sum of a number.
double sum_of(const std::vector<Json>& rows, const char* key);

}  // namespace cllab::capture

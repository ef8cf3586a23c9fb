#include "capture/board.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <span>
#include <tuple>

namespace cllab::capture {
namespace {

template <class List>
auto used(const std::atomic<std::uint32_t>& count, const List& list) {
    return std::span(list).first(std::min<std::size_t>(count, list.size()));
}

}  // namespace

Board* map_board(const std::filesystem::path& path, bool is_new) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | (is_new ? O_CREAT | O_EXCL : 0), 0600);
    if (file < 0) return nullptr;
    void* at = MAP_FAILED;
    const int fault = is_new ? ::posix_fallocate(file, 0, sizeof(Board)) : 0;
    if (fault == 0) at = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (fault) errno = fault;
    return at == MAP_FAILED ? nullptr : static_cast<Board*>(at);
}

std::vector<KernelSeen> kernels_on(const Board& board) {
    std::map<std::tuple<std::string, std::uint64_t, std::string>, KernelSeen> found;
    for (const auto& row : used(board.launch_rows, board.launch)) {
        if (row.launches.count == 0) continue;
        auto& kernel = found[{row.kernel.get(), row.program, row.device.get()}];
        kernel.kernel = row.kernel.get(), kernel.device = row.device.get();
        kernel.launches += row.launches.count, kernel.seconds += row.launches.seconds();
        kernel.rows.push_back(&row);
    }
    std::vector<KernelSeen> out;
    for (auto& [key, kernel] : found) {
        std::ranges::stable_sort(kernel.rows, std::ranges::greater{},
                                 [](const auto* row) { return std::pair(row->launches.ns.load(), row->launches.count.load()); });
        out.push_back(std::move(kernel));
    }
    std::ranges::stable_sort(out, std::ranges::greater{},
                             [](const auto& one) { return std::pair(one.seconds, one.launches); });
    return out;
}

std::vector<const KeptRow*> kept_on(const Board& board) {
    std::vector<const KeptRow*> out;
    for (const auto& row : used(board.kept_rows, board.kept))
        if (row.written) out.push_back(&row);
    return out;
}

std::vector<std::string> notes_on(const Board& board) {
    std::vector<std::string> out;
    for (const auto& note : used(board.notes, board.note))
        if (const auto text = note.get(); !text.empty() && std::ranges::find(out, text) == out.end())
            out.push_back(text);
    return out;
}

}  // namespace cllab::capture

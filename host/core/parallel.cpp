#include "core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <thread>
#include <vector>

namespace cllab {

void in_parallel(std::size_t count, std::size_t least_piece,
                 const std::function<void(std::size_t, std::size_t)>& work) {
    constexpr std::size_t most_threads = 32;
    // Ask once: the library opens a system file for it, and all threads of a machine queue for that.
    static const std::size_t cores = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, most_threads);
    const std::size_t units = (count + least_piece - 1) / least_piece,
                      pieces = std::clamp<std::size_t>(units, 1, cores);
    if (pieces == 1) return work(0, count);
    std::vector<std::exception_ptr> thrown(pieces);
    const auto piece = [&](std::size_t i) {
        const auto begin = units * i / pieces * least_piece,
                   end = std::min(units * (i + 1) / pieces * least_piece, count);
        try {
            work(begin, end);
        } catch (...) {
            thrown[i] = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 1; i < pieces; ++i) threads.emplace_back(piece, i);
        piece(0);
    }
    for (const auto& e : thrown)
        if (e) std::rethrow_exception(e);
}

void each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next{0};
    in_parallel(count, 1, [&](std::size_t, std::size_t) {
        try {
            for (std::size_t i = next++; i < count; i = next++) work(i);
        } catch (...) {
            next = count;
            throw;
        }
    });
}

void copy_bytes(std::span<std::byte> to, std::span<const std::byte> from) {
    in_parallel(std::min(to.size(), from.size()), 64 * parallel_piece, [=](std::size_t begin, std::size_t end) {
        if (begin < end) std::memcpy(to.data() + begin, from.data() + begin, end - begin);
    });
}

bool equal_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
    if (a.size() != b.size()) return false;
    std::atomic<bool> equal{true};
    in_parallel(a.size(), 8 * parallel_piece, [&](std::size_t begin, std::size_t end) {
        if (begin < end && std::memcmp(a.data() + begin, b.data() + begin, end - begin) != 0) equal = false;
    });
    return equal;
}

}  // namespace cllab

// Spreads work on large data over the host's cores. The result does not depend on their number.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

namespace cllab {

/// Calls work(begin, end) for pieces of 0 .. count, in several threads including this one, and returns when all are
/// done. Each piece has at least `least_piece` elements, except the last; begins are multiples of least_piece. Rethrows
/// the exception of the first piece that threw.
void in_parallel(std::size_t count, std::size_t least_piece,
                 const std::function<void(std::size_t begin, std::size_t end)>& work);

/// Calls work(i) for 0 .. count-1 likewise, but each thread takes the next i that is free: for work of unequal length.
/// Begins no more work once one call has thrown.
void each_in_parallel(std::size_t count, const std::function<void(std::size_t i)>& work);

inline constexpr std::size_t parallel_piece = 1 << 16;  ///< below this, a thread costs more than it gains

/// For spans of equal length that do not overlap.
void copy_bytes(std::span<std::byte> to, std::span<const std::byte> from);
bool equal_bytes(std::span<const std::byte> a, std::span<const std::byte> b);

// A value that is made when it is first used.
template <typename T>
class Lazy {
public:
    /// `make` is called at the first use, by one thread. If it throws, the next use calls it again. After success it is
    /// destroyed, with what it holds.
    explicit Lazy(std::function<T()> make) : make_(std::move(make)) {}

    const T& operator*() const {
        std::call_once(made_, [this] {
            value_ = make_();
            make_ = nullptr;
        });
        return *value_;
    }

private:
    mutable std::once_flag made_;
    mutable std::function<T()> make_;
    mutable std::optional<T> value_;
};

}  // namespace cllab

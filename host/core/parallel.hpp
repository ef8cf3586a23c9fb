// Spreads work on large data over the host's cores. The result does not depend on their number.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

namespace cllab {

/// Calls work(begin, end) for pieces that make up 0 .. count, each of at least `least_piece` but for the last, at the
/// same time and from several threads, this one included; returns when all are done. Begins are multiples of
/// least_piece. Rethrows the exception of the first piece that threw.
void in_parallel(std::size_t count, std::size_t least_piece,
                 const std::function<void(std::size_t begin, std::size_t end)>& work);

/// Calls work(i) for 0 .. count-1 likewise, each thread for the next that none has begun: for work of unequal length.
/// Begins no more of it when one has thrown.
void each_in_parallel(std::size_t count, const std::function<void(std::size_t i)>& work);

inline constexpr std::size_t parallel_piece = 1 << 16;  ///< elements below which a thread costs more than it gains

/// For spans of equal length that do not overlap.
void copy_bytes(std::span<std::byte> to, std::span<const std::byte> from);
bool equal_bytes(std::span<const std::byte> a, std::span<const std::byte> b);

// A value that is made when somebody first looks at it.
template <typename T>
class Lazy {
public:
    /// `make` is called by the first who looks, of several threads by one. When it throws, the next who looks calls it
    /// again; afterwards it is let go with what it holds.
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

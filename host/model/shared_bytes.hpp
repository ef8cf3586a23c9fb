// The data of a cell: shared by the variants of one point, and made when somebody first looks at it. Who only wants a
// cell's code, work or size makes none.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <memory>

#include "core/bytes.hpp"

namespace cllab::model {

using cllab::Bytes;

/// Copies share the bytes, and are equal; two that were made apart are not, whatever they hold. May be used by several
/// threads.
class SharedBytes {
public:
    SharedBytes() = default;  ///< nothing, which is false and must not be looked at
    SharedBytes(std::nullptr_t) {}
    SharedBytes(std::shared_ptr<const Bytes> bytes);
    SharedBytes(std::shared_ptr<Bytes> bytes) : SharedBytes(std::shared_ptr<const Bytes>(std::move(bytes))) {}
    /// `make` gives `size` bytes. It is called once, by whoever looks first, or never.
    SharedBytes(std::size_t size, std::function<Bytes()> make);

    std::size_t size() const;  ///< makes nothing
    const Bytes& operator*() const;
    const Bytes* operator->() const { return &**this; }
    /// Equal for copies, and expired when the last of them is gone.
    std::weak_ptr<const void> identity() const { return state_; }
    explicit operator bool() const { return state_ != nullptr; }
    friend bool operator==(const SharedBytes&, const SharedBytes&) = default;
    friend std::strong_ordering operator<=>(const SharedBytes&, const SharedBytes&) = default;

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace cllab::model

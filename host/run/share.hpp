// A request that several processes work on at the same time: which part of it is this one's next, and for what there is
// memory.
#pragma once

#include <cstddef>
#include <optional>

namespace cllab::run {

/// Cells `first` .. `last` - 1 of a comparison.
struct Part {
    std::size_t comparison = 0, first = 0, last = 0;
    bool operator==(const Part&) const = default;
};

/// Bytes that a cell takes while it is worked on.
struct Room {
    double device = 0, host = 0;
};

class Share {
public:
    virtual ~Share() = default;
    /// A part that no other process does; nothing when all are given out.
    virtual std::optional<Part> next() = 0;
    /// False: too much is taken for now. Who holds nothing gets what he asks for as soon as no other process holds
    /// anything.
    virtual bool take(const Room& room) = 0;
    virtual void give_back(const Room& room) = 0;
};

}  // namespace cllab::run

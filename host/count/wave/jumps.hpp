// Accesses that come to a place which nothing has brought near: no access shortly before was there or beside it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "count/wave/flat_map.hpp"

namespace cllab::count {

/// Of a core, which runs one access after the other.
class Jumps {
public:
    struct Number {
        std::uint64_t loads = 0, stores = 0;
    };

    /// Counts it where its line was not among the last ones and its page not among the last ones either. A line of one
    /// of these pages may have been prefetched, and its translation is at hand.
    void see(std::uint64_t address, std::uint32_t bytes, bool stores) {
        const auto end = address + std::max(bytes, 1u) - 1;
        for (auto line = address / line_bytes; line <= end / line_bytes; ++line) {
            if (line == last_) continue;
            last_ = line;
            const bool line_is_new = lines_.is_new(line), page_is_new = pages_.is_new(line / lines_of_page);
            if (!line_is_new || !page_is_new) continue;
            ++(stores ? of_group.stores : of_group.loads);
            auto& buffer = buffers_.try_emplace(line >> buffer_bit, Buffer{line, line}).first->second;
            buffer.first = std::min(buffer.first, line), buffer.last = std::max(buffer.last, line);
            ++buffer.of_group;
        }
    }
    /// `follows`: what was before the group is known, so that its jumps are what others of the launch do.
    void end_group(bool follows) {
        for (auto& [number, buffer] : buffers_) {
            if (follows) buffer.jumps += buffer.of_group;
            buffer.of_group = 0;
        }
        of_group = {};
    }
    /// Bytes from the first to the last of all groups in each buffer that such groups jump about in, added up. One that
    /// has less than a tenth of their jumps is gone through page by page.
    std::uint64_t span() const {
        std::uint64_t lines = 0, all = 0;
        for (const auto& [number, buffer] : buffers_) all += buffer.jumps;
        for (const auto& [number, buffer] : buffers_)
            if (buffer.jumps > 0 && 10 * buffer.jumps >= all) lines += buffer.last - buffer.first + 1;
        return lines * line_bytes;
    }

    Number of_group;

private:
    struct Buffer {
        std::uint64_t first = 0, last = 0;      ///< lines
        std::uint64_t of_group = 0, jumps = 0;  ///< of this group, and of those that follow another
    };

    static constexpr std::uint64_t line_bytes = 64, lines_of_page = 4096 / line_bytes;
    static constexpr unsigned buffer_bit = 48 - 6;  ///< of a line's number: what is above says which buffer

    /// Whether something was used lately: fewer than `most` others have come since.
    class Recent {
    public:
        explicit Recent(std::uint64_t most) : most_(most) {}
        bool is_new(std::uint64_t key) {
            auto& seen = seen_[key];
            const bool out = seen == 0 || come_ - seen >= most_;
            seen = out ? ++come_ : come_;
            return out;
        }

    private:
        FlatMap<std::uint64_t> seen_;
        std::uint64_t most_, come_ = 0;
    };

    // Lines of the smallest first level of today's cores, 32 KiB. Pages that the smallest first TLB of such a core has
    // entries for, and more than a prefetcher follows (32 by Intel's manual).
    Recent lines_{512}, pages_{64};
    std::uint64_t last_ = ~std::uint64_t{0};
    std::map<std::uint64_t, Buffer> buffers_;
};

}  // namespace cllab::count

// Parts of a request and memory, given out to several processes: each takes the next part as it comes to it, so that
// long cells hold up one of them and not the run.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "app/processes/child.hpp"
#include "run/share.hpp"

namespace cllab::app {

/// Made before the processes are; each of them then has the same.
class SharedWork {
public:
    /// `memory`: what the cells that are worked on at the same time may take together.
    SharedWork(std::vector<run::Part> parts, const run::Room& memory);

    static constexpr std::size_t most_lanes = 64;
    /// For lane `number`, below most_lanes: what a process of its own does. A process made after another one of the
    /// lane has died begins with the parts that that one had taken. Lives no longer than this.
    std::unique_ptr<run::Share> of_lane(std::size_t number);
    /// What the last process of the lane held is free again; when it has ended.
    void release(std::size_t lane);

private:
    class Lane;
    friend class Lane;
    using Owner = std::atomic<std::int32_t>;  ///< of a part: the lane, or nobody
    static constexpr std::int32_t nobody = -1;

    struct Ledger {
        std::atomic<pid_t> writer{0};
        std::array<run::Room, most_lanes> held{};
    };
    /// While it lives nobody else looks at the ledger. A process that died in there is out.
    class Writing {
    public:
        explicit Writing(Ledger& ledger);
        ~Writing() { ledger_.writer = 0; }
        Writing(const Writing&) = delete;
        Writing& operator=(const Writing&) = delete;

    private:
        Ledger& ledger_;
    };
    struct Owners : SharedMemory {
        explicit Owners(std::size_t count);
        Owner& operator[](std::size_t part) { return static_cast<Owner*>(page_)[part]; }
    };

    std::vector<run::Part> parts_;
    run::Room memory_;
    SharedPage<Ledger> ledger_;
    Owners owners_;
};

}  // namespace cllab::app

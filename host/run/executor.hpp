// VERIFY -> MEASURE -> DUMP, cell by cell and round by round. Reports events; never prints.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "device/session.hpp"
#include "run/cell/cell_sampling.hpp"
#include "run/instruments.hpp"
#include "run/request.hpp"

namespace cllab::run {

/// A cell of a request: the number of its comparison, and its place in it.
using CellNumber = std::pair<std::size_t, std::size_t>;

/// Callbacks of a run. The two numbers are the cell's comparison and its place in it. `picture` and `cancelled` are
/// called only in the process that calls OpenCL.
struct Events {
    /// A cell enters a phase ("build", "verify", "warm up", "sample", "dump"). The record names the cell and device.
    std::function<void(std::size_t, std::size_t, const model::Record&, const char*)> begin = [](auto&&...) {};
    std::function<void(std::size_t, std::size_t, const model::Record&)> done = [](auto&&...) {};
    /// Receives the picture that --output writes to the file `path`.
    std::function<void(const std::string& path, std::size_t width, std::size_t height, const model::Bytes& grey)>
        picture = [](auto&&...) {};
    /// Called between samples and cells; true ends the run with Interrupted.
    std::function<bool()> cancelled = [] { return false; };
};

struct Interrupted {};

/// Runs the request on one device, except the cells in `finished`. A failing cell does not end the run; an Error of
/// Blame::usage or ::environment does. `results`: for reuse in later runs on the session.
void execute(device::Session& session, const RunRequest& request, const Events& events,
             const std::set<CellNumber>& finished = {}, Kept* results = nullptr);

/// Builds the cell's program, so that a later run with `results` finds it. Throws as the driver and the cell's family
/// do.
void build_in_advance(device::Session& session, const Settings& settings, const model::Cell& cell, Kept& results);

const model::HostInfo& this_host();
/// The device as records describe it, without the last-level cache, which the run adds.
model::DeviceInfo device_info(const model::Device& device);
std::uint64_t host_memory_bytes();

/// The folder of a cell's dump below `root`: <device>/<family_variant>[/<varying axes>]. Creates the device's folder:
/// see inspect::claim_device_folder.
std::filesystem::path dump_folder(const std::filesystem::path& root, const model::Device& device,
                                  const model::Cell& cell);

// The cells of a run. The cells of one comparison take samples in turns, so that drift affects them alike. A measured
// cell then waits until it is finished.

struct CellRun {
    std::size_t index = 0;  ///< in its comparison
    std::unique_ptr<CellState> state;
    std::unique_ptr<Sampling> sampling{};
    bool prepared = false;
};
using Cells = std::vector<CellRun>;

/// Measured cells in the order of the run. If the host can work while the device does, they wait here until another
/// thread has read their code. Meanwhile the next cells are built and measured.
class FinishQueue {
public:
    /// `device_bytes`: what comparisons may use. The cells that wait here may use an eighth of that in addition.
    FinishQueue(bool wait, double device_bytes) : wait_(wait), most_of_device_(device_bytes / 8) {}

    void add(CellRun cell, std::function<void(CellRun&)> end) {
        count(cell, 1);
        waiting_.push_back({std::move(cell), std::move(end)});
        while (!waiting_.empty() && (!wait_ || is_full() || is_read(waiting_.front().cell))) end_first();
    }
    /// Ends all cells, even if ending one of them throws. Then throws the first such exception.
    void end_all() {
        std::exception_ptr trouble;
        while (!waiting_.empty()) {
            try {
                end_first();
            } catch (...) {
                if (!trouble) trouble = std::current_exception();
            }
        }
        if (trouble) std::rethrow_exception(trouble);
    }

private:
    struct Waiting {
        CellRun cell;
        std::function<void(CellRun&)> end;
    };
    static constexpr std::size_t most = 16;

    void count(const CellRun& cell, double sign) {
        if (!cell.prepared) return;
        on_host_ += sign * data_bytes(cell.state->setup);
        on_device_ += sign * cell.state->device_bytes;
    }
    bool is_full() const { return waiting_.size() > most || on_host_ > most_of_host_ || on_device_ > most_of_device_; }
    static bool is_read(const CellRun& cell) {
        if (!cell.state) return false;
        const auto& code = cell.state->code;
        return !code.valid() || code.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    }
    void end_first() {
        auto first = std::move(waiting_.front());
        waiting_.pop_front();
        count(first.cell, -1);
        first.end(first.cell);
    }

    bool wait_;
    double most_of_device_, most_of_host_ = std::min(static_cast<double>(host_memory_bytes()) / 32, 2.0 * (1 << 30));
    std::deque<Waiting> waiting_;
    double on_host_ = 0, on_device_ = 0;
};

}  // namespace cllab::run

// VERIFY -> MEASURE -> DUMP, cell by cell and round by round. Tells of its events; never prints.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "device/session.hpp"
#include "run/instruments.hpp"
#include "run/request.hpp"

namespace cllab::run {

/// A cell of a request: its comparison, and its place there.
using CellNumber = std::pair<std::size_t, std::size_t>;

/// Who is told of a run: of each cell, by its comparison and its place there. In the process that calls OpenCL he is
/// also asked and told what follows `done`.
struct Events {
    /// A cell enters a phase ("build", "verify", "warm up", "sample", "dump"). The record names the cell and device.
    std::function<void(std::size_t, std::size_t, const model::Record&, const char*)> begin = [](auto&&...) {};
    std::function<void(std::size_t, std::size_t, const model::Record&)> done = [](auto&&...) {};
    /// The picture that --output writes to the file `path`.
    std::function<void(const std::string& path, std::size_t width, std::size_t height, const model::Bytes& grey)>
        picture = [](auto&&...) {};
    /// Asked between samples and cells; true ends the run with Interrupted.
    std::function<bool()> cancelled = [] { return false; };
};

struct Interrupted {};

/// Runs the request on one device, without the cells in `finished`. A cell fails alone; an Error of Blame::usage or
/// ::environment passes through. `kept`: results to reuse when the caller has more runs on the session.
void execute(device::Session& session, const RunRequest& request, const Events& events,
             const std::set<CellNumber>& finished = {}, Kept* kept = nullptr);

/// Builds what the cell will be built from, so that a run which is given `kept` finds it. Throws as the driver and the
/// cell's family do.
void build_in_advance(device::Session& session, const Settings& settings, const model::Cell& cell, Kept& kept);

const model::HostInfo& this_host();
/// What records say of the device, without the cache that a run takes for its last level.
model::DeviceInfo device_info(const model::Device& device);
std::uint64_t host_memory_bytes();

/// The folder of a cell's dump below `root`: <device>/<family_variant>[/<varying axes>]. That of the device is made:
/// see inspect::claim_device_folder.
std::filesystem::path dump_folder(const std::filesystem::path& root, const model::Device& device,
                                  const model::Cell& cell);

}  // namespace cllab::run

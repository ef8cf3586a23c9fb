// One operation of a cell: its memory, the arguments of its kernels, and its commands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/cell/command_list.hpp"

namespace cllab::run {

class Operation {
public:
    using Contents = DeviceMemory::Contents;
    using Views = DeviceMemory::Views;
    using Marked = CommandList::Marked;

    /// Creates kernels, buffers and images. Throws Unsupported if the kernel or device does not support the local size,
    /// local memory or image, and cl::Error if the driver fails. `donor`: another operation, loaded with the same data.
    /// This one uses its buffers where they suit. `fence`: the end of each buffer that borders on protected pages.
    Operation(device::Session& session, const device::Built& built, const model::Setup& setup, const std::string& entry,
              const Operation* donor = nullptr, device::Fence fence = device::Fence::none);
    bool shares_memory() const { return memory_.is_shared(); }  ///< all buffers are buffers of `donor`
    bool is_filled() const { return memory_.is_filled(); }      ///< like the next function, that of DeviceMemory
    void repeat_contents() { memory_.repeat_contents(); }
    void lends_memory() { memory_.lend(); }  ///< load() then fills all memory, because other cells write to it

    /// Uploads inputs and poisons outputs of `setup` (same shape as the constructor's, other data) and arms the guards.
    void load(const model::Setup& setup, std::uint64_t seed);
    void enqueue() { enqueue(nullptr, {}); }
    /// Enqueues one operation. Appends the events of the marked commands to `events`.
    void enqueue(std::vector<cl::Event>* events, Marked marked);
    /// The value of Slope::argument for the next operations.
    void set_trips(std::int32_t trips);
    /// Reads every output back and checks the guards. The spans stay valid until the next call.
    std::optional<std::string> read_back(model::Buffers& buffers);
    /// Invalidates the spans of read_back(). The session reuses their host memory.
    void forget_read_back() { memory_.forget_read_back(); }
    /// Says what was written outside a buffer; nullopt if nothing was.
    std::optional<std::string> guard_damage() { return memory_.guard_damage(); }
    /// For fenced buffers: whether the device works in the given memory itself. Call it after read_back().
    bool lies_in_place() const { return memory_.lies_in_place(); }
    /// Fills the outputs as load() does: with poison, or an InOut with its data.
    void poison();
    /// Restores all memory that an operation may have written, as load() filled it. Operations are then counted from 0.
    void restore();
    /// The contents that poison() writes to the outputs, for overwrite(). Launches timed after poison and after other
    /// contents then find the caches in the same state.
    Contents poison_contents() const { return memory_.poison_contents(); }
    /// The contents of all memory that an operation may write, except images that are only outputs.
    Contents contents();
    /// Writes `contents` to the memory of these arguments, and undoes all Swaps.
    void overwrite(const Views& contents);
    bool rewritten() const { return rewritten_; }  ///< an operation has run since load(), restore() or overwrite()
    bool works_in_place() const { return arguments_.works_in_place(); }
    bool goes_in(std::string_view argument) const { return arguments_.goes_in(argument); }
    /// Operations since the memory was last filled, by all Operations that use it.
    std::uint64_t operations_on_data() const { return memory_.operations_on_data(); }

    const std::vector<CommandList::Command>& commands() const { return commands_.commands(); }
    /// Share of the largest buffer that is in huge pages; nullopt if the setup requests no kind of pages.
    std::optional<double> huge_share() const { return memory_.huge_share(); }
    unsigned queues() const { return commands_.queues(); }
    bool is_native() const { return commands_.is_native(); }
    std::size_t launches_in_operation() const { return commands_.launches(); }
    bool single_launch() const { return commands_.is_single_launch(); }
    const cl::Kernel& kernel() const { return commands_.kernel(); }
    model::Extent local() const { return commands_.local(); }
    model::Extent global() const { return commands_.global(); }
    /// Seconds of one upload of all inputs and one download of all outputs, by the host clock.
    double time_upload(const model::Setup& setup) { return memory_.time_upload(setup.args); }
    double time_download() { return memory_.time_download(); }

private:
    void start_over();  ///< before the memory is filled: undoes Swaps, resets rewritten()
    void put_back();    ///< restores the data of the arguments in Setup::reset
    /// Says what was written of a buffer outside the parts that kernels use; nullopt if nothing was. `left`: the buffer
    /// as read back.
    std::optional<std::string> written_beside_parts(const ArgumentMemory& memory,
                                                    std::span<const std::byte> left) const;

    device::Session& session_;
    CommandList commands_;  ///< declared first, so that an unsupported launch allocates no memory
    DeviceMemory memory_;
    Arguments arguments_;
    std::vector<std::string> reset_;
    std::uint64_t seed_ = 0, operations_ = 0;  ///< operations_: since load() or restore()
    bool rewritten_ = false;
};

}  // namespace cllab::run

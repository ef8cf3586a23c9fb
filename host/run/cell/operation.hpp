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

    /// Makes kernels, buffers and images. Throws Unsupported when the kernel or device cannot do the local size, local
    /// memory or image; cl::Error when the driver refuses.
    /// `donor`: another operation, loaded with the same data. This one uses its buffers where both need the same.
    /// `fence`: this end of each buffer lies at pages that may not be touched.
    Operation(device::Session& session, const device::Built& built, const model::Setup& setup, const std::string& entry,
              const Operation* donor = nullptr, device::Fence fence = device::Fence::none);
    bool shares_memory() const { return memory_.is_shared(); }  ///< every buffer is one of `donor`
    bool is_filled() const { return memory_.is_filled(); }  ///< as DeviceMemory's, as the next
    void repeat_contents() { memory_.repeat_contents(); }
    void lends_memory() { memory_.lend(); }                     ///< others write its memory, so load() fills all of it

    /// Uploads inputs and poisons outputs of `setup` (same shape as the constructor's, other data), arms the guards.
    void load(const model::Setup& setup, std::uint64_t seed);
    void enqueue() { enqueue(nullptr, {}); }
    /// Enqueues one operation. `events` gets those that `marked` asks for.
    void enqueue(std::vector<cl::Event>* events, Marked marked);
    /// The value of Slope::argument for the next operations.
    void set_trips(std::int32_t trips);
    /// Reads every output back and checks the guards. The spans stay valid until the next call.
    std::optional<std::string> read_back(model::Buffers& buffers);
    /// Ends the use of the spans of read_back(); the session reuses the host's memory for them.
    void forget_read_back() { memory_.forget_read_back(); }
    /// What was written outside of a buffer, or nothing.
    std::optional<std::string> guard_damage() { return memory_.guard_damage(); }
    /// Of fenced buffers: whether the device works in the memory that it was given. Call it after read_back().
    bool lies_in_place() const { return memory_.lies_in_place(); }
    /// Fills the outputs as load() does: poison, and an InOut's own data.
    void poison();
    /// Puts back all that an operation may have written, as load() left it; the next one is the first on its data.
    void restore();
    /// What poison() puts into the outputs, for overwrite(): launches timed after poison and after other contents then
    /// find the caches in the same state.
    Contents poison_contents() const { return memory_.poison_contents(); }
    /// The contents of all memory that an operation may write, except images that are only outputs.
    Contents contents();
    /// Puts `contents` into the memory of these arguments, and undoes all Swaps.
    void overwrite(const Views& contents);
    bool rewritten() const { return rewritten_; }  ///< an operation has run since load(), restore() or overwrite()
    bool works_in_place() const { return arguments_.works_in_place(); }
    bool goes_in(std::string_view argument) const { return arguments_.goes_in(argument); }
    /// Operations since the memory was last filled, of every Operation that uses it.
    std::uint64_t operations_on_data() const { return memory_.operations_on_data(); }

    const std::vector<CommandList::Command>& commands() const { return commands_.commands(); }
    /// Part of the largest buffer that lies in huge pages; nothing where the setup asks for no kind of pages.
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
    void put_back();    ///< the data of what Setup::reset names
    /// What was written of a buffer, as read back, outside of the parts that kernels have of it; or nothing.
    std::optional<std::string> written_beside_parts(const ArgumentMemory& memory,
                                                    std::span<const std::byte> left) const;

    device::Session& session_;
    CommandList commands_;  ///< first: a launch that cannot be done takes no memory
    DeviceMemory memory_;
    Arguments arguments_;
    std::vector<std::string> reset_;
    std::uint64_t seed_ = 0, operations_ = 0;  ///< operations_: since load() or restore()
    bool rewritten_ = false;
};

}  // namespace cllab::run

// One operation of a cell, ready to be enqueued: kernels with bound arguments, buffers between guards, images.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/program.hpp"
#include "device/session.hpp"
#include "model/experiment.hpp"

namespace cllab::run {

/// data_bytes: size of the setup's buffers and images. device_bytes: what they take on the device, with guards and with
/// the copies for Reset steps.
double data_bytes(const model::Setup& setup);
double device_bytes(const model::Setup& setup);

class Operation {
public:
    using Contents = std::map<std::string, model::Bytes, std::less<>>;  ///< by argument

    /// Makes kernels, buffers and images. Throws model-level Unsupported if the kernel or device does not support the
    /// local size, local memory or image; cl::Error if the driver fails. `beside`: a loaded operation with the same
    /// data, whose buffers are reused if they are alike. `fence`: the end of each buffer that meets a protected page.
    Operation(device::Session& session, const device::Built& built, const model::Setup& setup, const std::string& entry,
              const Operation* beside = nullptr, device::Fence fence = device::Fence::none);
    ~Operation();
    bool shares_memory() const { return shares_memory_; }  ///< there is a buffer, and all are `beside`'s
    void lends_memory() { lends_memory_ = true; }          ///< load() then fills all memory; others may write to it

    /// Uploads the inputs and poisons the outputs of `setup`, whose shape equals the constructor's, and arms the
    /// guards.
    void load(const model::Setup& setup, std::uint64_t seed);
    /// Which commands of an operation get an event. Events can delay launches: on an H100 (580.159), each of 200
    /// launches of 60.3 us took 66.1 us with an event per launch. With events only for the first and the last launch it
    /// took 60.3 us.
    struct Marked {
        bool first = false, last = false;  ///< per queue
        bool every = false;
    };
    void enqueue() { enqueue(nullptr, {}); }
    /// Enqueues one operation; adds the events requested by `marked` to `events`.
    void enqueue(std::vector<cl::Event>* events, Marked marked);
    /// Sets the value of Slope::argument for the next operations.
    void set_trips(std::int32_t trips);
    /// Reads every output back and checks the guards. The spans stay valid until the next call. Returns the damage, or
    /// nullopt.
    std::optional<std::string> read_back(model::Buffers& buffers);
    /// Invalidates the spans of read_back() and returns their host memory to the session.
    void forget_read_back();
    /// The first write outside a buffer in words, or nullopt.
    std::optional<std::string> guard_damage();
    /// For fenced buffers: true if the device works in the host memory that it was given. Call after read_back().
    bool lies_in_place() const;
    /// Fills the outputs as load() does: poison, or the data of an InOut.
    void poison();
    /// Resets all memory that an operation may have written to what load() put there. The next operation is then the
    /// first one on its data.
    void restore();
    /// The contents that poison() gives the outputs, for overwrite(). Operations timed after overwriting with these or
    /// with other contents find the caches in the same state.
    Contents poison_contents() const;
    /// Contents of all memory that an operation may write, except output-only images.
    Contents contents();
    using Views = std::map<std::string, std::span<const std::byte>, std::less<>>;
    /// Undoes all Swaps, then writes `contents` to the memory of these arguments.
    void overwrite(const Views& contents);
    std::uint64_t operations() const { return operations_; }  ///< since load() or restore()
    bool rewritten() const { return rewritten_; }  ///< an operation has run since load(), restore() or overwrite()
    /// True if a kernel reads data that the previous operation left in an argument, and no step of its own writes that
    /// data first.
    bool works_in_place() const;
    bool goes_in(std::string_view argument) const;  ///< the previous operation's data in it is read
    /// Operations since the memory was last filled, by all Operations that share it.
    std::uint64_t operations_on_data() const { return *on_data_; }

    /// A command of an operation, with the name that --steps shows ("up", "sweep").
    struct Command {
        std::string part;
        unsigned queue = 0;
        bool first = false, last = true;  ///< within its queue
    };
    const std::vector<Command>& commands() const { return commands_; }

    /// Share of the largest buffer that is in huge pages; nullopt if the setup requests no kind of pages.
    std::optional<double> huge_share() const;
    unsigned queues() const { return queues_; }
    bool is_native() const { return native_; }  ///< this process does the work, without events
    std::size_t launches_in_operation() const { return launches_; }
    bool single_launch() const { return steps_.size() == 1 && launches_ == 1; }
    const cl::Kernel& kernel() const { return kernels_.front(); }
    model::Extent local() const { return local_; }  ///< first launch of the cell's own kernel
    model::Extent global() const { return global_; }
    /// Seconds by the host clock of uploading all inputs and of downloading all outputs, each once.
    double time_upload(const model::Setup& setup);
    double time_download();

private:
    struct Memory {
        std::string name;
        std::size_t size_bytes = 0, guard = 0;  ///< guard: bytes on each side
        bool is_image = false, read_back = false, poisoned = false;
        /// An operation may read what the previous one left here, such as the position in a pointer chase. It is useful
        /// only with the same data in all other buffers.
        bool keeps = false;
        bool svm = false;
        model::ByStep by_step = model::ByStep::none;
        model::SharedBytes data{};  ///< only inputs have it before load()
        device::GuardedBuffer buffer{};
        cl::Image2D image{};  ///< of any dimensions
        cl::Buffer pixels{};  ///< of an image made of a buffer; not part of another buffer, which PoCL 3.1 rejects
        std::size_t width = 0, height = 0, depth = 1;
        model::Bytes host{};  ///< staging memory for reading back
        cl::Buffer pinned{};  ///< Transfer::pinned: host memory of the transfer steps, mapped at pinned_at
        std::byte* pinned_at = nullptr;
        bool sent_back = false;                     ///< an Upload step sends what a Download step brought
        cl::Event arrival{};                        ///< event of that Download
        cl::Buffer original{};                      ///< holds the data that a Reset step restores
        std::map<std::string, cl::Buffer> parts{};  ///< sub-buffers, by name
        model::SharedBytes loaded{};                ///< what the device's memory was last filled with
    };
    struct BoundStep {
        model::Step step;
        std::size_t kernel = 0;  ///< Launch only
        std::vector<std::string> arg_names{};
    };

    void make_memory(const model::Setup& setup, const Operation* beside);
    device::GuardedBuffer new_buffer(const Memory& m, model::Pages pages);
    /// Adds the buffer `m`. Returns true if it reuses `beside`'s. An input is reused only if its data is equal; load()
    /// fills every other buffer anyway.
    bool make_buffer(Memory m, const Operation* beside, bool all_alike, model::Pages pages);
    void make_image_memory(const model::Image& image);
    /// True if the arguments have the same sizes and the inputs the same data.
    bool is_alike(const model::Setup& setup) const;
    void make_steps(const device::Built& built, const model::Setup& setup, const std::string& entry);
    void name_commands();
    void bind(const BoundStep& step);
    void fill(Memory& m, std::span<const std::byte> from);
    void fill(Memory& m, const model::SharedBytes& data);
    void fill_with_poison(Memory& m);
    void refill(Memory& m);  ///< as load() does
    void put_back();         ///< restores the arguments named in Setup::reset
    void get(Memory& m, std::span<std::byte> to);
    void forget_swaps();
    void pin(Memory& m);
    /// Prepares host memory before operations: the data for Upload steps, or poison where a Download step will write.
    void prepare_host(Memory& m);
    std::span<std::byte> host_side(Memory& m);
    void make_host(Memory& m);  ///< makes room for all bytes, without defined contents
    void start(const model::Launch& launch, const cl::Kernel& kernel, cl::Event* event);
    void up(const model::Upload& step, const std::function<cl::Event*()>& slot);
    void down(const model::Download& step, const std::function<cl::Event*()>& slot);
    void check_launch(const cl::Kernel& kernel, const model::Launch& launch,
                      const std::vector<std::string>& arguments) const;
    Memory& memory(const std::string& name);
    const cl::Buffer& sub_buffer(Memory& m, const model::Part& part);
    model::Bytes first_contents(const Memory& m) const;  ///< as the first operation finds it
    /// If kernels get only parts of `m`: the first byte written outside all parts, in words. Else nullopt.
    std::optional<std::string> written_beside_parts(const Memory& m) const;
    void hold();  ///< maps all buffers for a native loop, until release()
    void release();
    void name_held();

    device::Session& session_;
    std::vector<model::Argument> args_;
    std::vector<std::string> reset_;
    std::vector<model::Part> parts_;
    std::map<std::string, Memory> memories_;  ///< by argument
    std::map<std::string, cl::Sampler> samplers_;
    std::map<std::string, std::string> alias_;  ///< argument -> the memory it holds now (Swap)
    std::vector<cl::Kernel> kernels_;
    std::vector<BoundStep> steps_;
    std::vector<Command> commands_;
    std::map<std::string, void*> held_;  ///< mapped memory, by argument
    model::HostMemory host_memory_;
    std::size_t launches_ = 0;
    unsigned queues_ = 1;
    model::Transfer transfer_ = model::Transfer::copied;
    bool swaps_ = false, native_ = false, blocking_ = false, rewritten_ = false, shares_memory_ = false,
         lends_memory_ = false;
    std::optional<model::Slope> slope_;
    device::Fence fence_;
    std::int32_t trips_ = 0;
    model::Extent local_, global_;
    std::uint64_t seed_ = 0, operations_ = 0;
    std::shared_ptr<std::uint64_t> on_data_;
};

}  // namespace cllab::run

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

/// Bytes of a setup's buffers and images, and what they take on the device, guards included.
double data_bytes(const model::Setup& setup);
double device_bytes(const model::Setup& setup);

class Operation {
public:
    using Contents = std::map<std::string, model::Bytes, std::less<>>;  ///< of outputs, by argument

    /// Makes kernels, buffers and images. Throws model-level Unsupported when the kernel or device cannot do the
    /// local size, local memory or image; cl::Error when the driver refuses.
    /// `beside`: another operation, loaded and with the same data, whose buffers are used where they are alike.
    /// `fence`: its buffers lie at pages that may not be touched.
    Operation(device::Session& session, const device::Built& built, const model::Setup& setup, const std::string& entry,
              const Operation* beside = nullptr, device::Fence fence = device::Fence::none);
    ~Operation();
    bool shares_memory() const { return shares_memory_; }  ///< every buffer is `beside`'s, and there is one
    void lends_memory() { lends_memory_ = true; }          ///< load() fills all of it: others may have written there

    /// Uploads inputs and poisons outputs of `setup` (same shape as the constructor's, other data), arms the guards.
    void load(const model::Setup& setup, std::uint64_t seed);
    /// Which of an operation's commands get an event. Events can keep launches apart: on an H100 (580.159) 200 launches
    /// of 60.3 us took 66.1 us each with an event each, and 60.3 with one for the first and one for the last.
    struct Marked {
        bool first = false, last = false;  ///< of each queue
        bool every = false;
    };
    /// Enqueues one operation.
    void enqueue() { enqueue(nullptr, {}); }
    /// The same; `events` gets those that `marked` asks for.
    void enqueue(std::vector<cl::Event>* events, Marked marked);
    /// Value of Slope::argument for the next operations.
    void set_trips(std::int32_t trips);
    /// Reads every output back and looks at the guards. The spans stay valid until the next call.
    std::optional<std::string> read_back(model::Buffers& buffers);
    /// The spans of read_back() are not valid any more, and the host's memory for them is the session's.
    void forget_read_back();
    /// What was written outside of a buffer, or nothing.
    std::optional<std::string> guard_damage();
    /// Of fenced buffers: whether the device works in the memory that it was given. Asked after read_back().
    bool lies_in_place() const;
    /// Puts into the outputs what load() does: poison, and an InOut's own data.
    void poison();
    /// Puts back all that an operation may have written, as load() left it; the next one is the first on its data.
    void restore();
    /// What poison() puts into the outputs, for overwrite(): what is timed after one and after other contents finds
    /// caches in the same state.
    Contents poison_contents() const;
    /// What all memory holds that an operation may write, but for images that only come out.
    Contents contents();
    using Views = std::map<std::string, std::span<const std::byte>, std::less<>>;
    /// Puts `contents` into the memory of these arguments, which is again where it was before any Swap.
    void overwrite(const Views& contents);
    std::uint64_t operations() const { return operations_; }  ///< since load() or restore()
    bool rewritten() const { return rewritten_; }  ///< an operation has run since load(), restore() or overwrite()
    /// Whether a kernel reads data in an argument that the previous operation left, rather than a step of its own.
    bool works_in_place() const;
    bool goes_in(std::string_view argument) const;  ///< it is such an argument
    /// Since the memory was last filled, of every operation that uses it.
    std::uint64_t operations_on_data() const { return *on_data_; }

    /// A command of an operation: what --steps calls it ("up", "sweep"), and its queue.
    struct Command {
        std::string part;
        unsigned queue = 0;
        bool first = false, last = true;  ///< in its queue
    };
    const std::vector<Command>& commands() const { return commands_; }

    /// Part of the largest buffer that lies in huge pages; nothing where the setup asks for no kind of pages.
    std::optional<double> huge_share() const;
    unsigned queues() const { return queues_; }
    bool is_native() const { return native_; }  ///< it is done by this process, and makes no event
    std::size_t launches_in_operation() const { return launches_; }
    bool single_launch() const { return steps_.size() == 1 && launches_ == 1; }
    const cl::Kernel& kernel() const { return kernels_.front(); }
    model::Extent local() const { return local_; }  ///< of the first launch of the cell's own kernel
    model::Extent global() const { return global_; }
    /// Seconds of one upload of all inputs and one download of all outputs, by the host clock.
    double time_upload(const model::Setup& setup);
    double time_download();

private:
    struct Memory {
        std::string name;
        std::size_t size_bytes = 0, guard = 0;  ///< guard: on each side
        bool is_image = false, read_back = false, poisoned = false;
        /// What an operation leaves there may be what the next one begins with, as a chase's place in its chain, and
        /// means nothing beside other data.
        bool keeps = false;
        bool svm = false;
        model::ByStep by_step = model::ByStep::none;
        model::SharedBytes data{};  ///< at first only of what no kernel may write
        device::GuardedBuffer buffer{};
        cl::Image2D image{};  ///< of any dimensions
        cl::Buffer pixels{};  ///< that it is made of, if it is; no part of another buffer, which PoCL 3.1 does not take
        std::size_t width = 0, height = 0, depth = 1;
        model::Bytes host{};  ///< staging of what comes back
        cl::Buffer pinned{};  ///< Transfer::pinned: the host's side of its transfer steps, mapped at
        std::byte* pinned_at = nullptr;
        bool sent_back = false;                     ///< an Upload step sends what a Download step brings
        cl::Event arrival{};                        ///< of that one
        cl::Buffer original{};                      ///< with the data, where a Reset step puts it back
        std::map<std::string, cl::Buffer> parts{};  ///< by name
        model::SharedBytes loaded{};                ///< what the device's memory was last filled with
    };
    struct BoundStep {
        model::Step step;
        std::size_t kernel = 0;  ///< Launch only
        std::vector<std::string> arg_names{};
    };

    void make_memory(const model::Setup& setup, const Operation* beside);
    device::GuardedBuffer new_buffer(const Memory& m, model::Pages pages);
    /// Whether the buffer is one of `beside`: what no kernel may write must be the same for both that share it;
    /// anything else is written by each.
    bool make_buffer(Memory m, const Operation* beside, bool all_alike, model::Pages pages);
    void make_image_memory(const model::Image& image);
    /// Its arguments are of the same sizes, and what is only read is the same.
    bool is_alike(const model::Setup& setup) const;
    void make_steps(const device::Built& built, const model::Setup& setup, const std::string& entry);
    void name_commands();
    void bind(const BoundStep& step);
    void fill(Memory& m, std::span<const std::byte> from);
    void fill(Memory& m, const model::SharedBytes& data);
    void fill_with_poison(Memory& m);
    void refill(Memory& m);  ///< as load() does
    void put_back();         ///< the data of what Setup::reset names
    void get(Memory& m, std::span<std::byte> to);
    void forget_swaps();
    void pin(Memory& m);
    /// Before operations: what is to come from there, or poison where something is to arrive.
    void prepare_host(Memory& m);
    std::span<std::byte> host_side(Memory& m);
    void make_host(Memory& m);  ///< room for all of its bytes, whatever they are
    void start(const model::Launch& launch, const cl::Kernel& kernel, cl::Event* event);
    void up(const model::Upload& step, const std::function<cl::Event*()>& slot);
    void down(const model::Download& step, const std::function<cl::Event*()>& slot);
    void check_launch(const cl::Kernel& kernel, const model::Launch& launch,
                      const std::vector<std::string>& arguments) const;
    Memory& memory(const std::string& name);
    const cl::Buffer& sub_buffer(Memory& m, const model::Part& part);
    model::Bytes first_contents(const Memory& m) const;  ///< what the first operation finds
    /// What was written of a buffer, as read back, that kernels only have parts of and in none of them; or nothing.
    std::optional<std::string> written_beside_parts(const Memory& m) const;
    void hold();     ///< maps all buffers, for a native loop; they stay so until
    void release();  ///< somebody else wants them
    void name_held();

    device::Session& session_;
    std::vector<model::Argument> args_;
    std::vector<std::string> reset_;
    std::vector<model::Part> parts_;
    std::map<std::string, Memory> memories_;  ///< by argument name
    std::map<std::string, cl::Sampler> samplers_;
    std::map<std::string, std::string> alias_;  ///< argument name -> memory it holds now (Swap)
    std::vector<cl::Kernel> kernels_;
    std::vector<BoundStep> steps_;
    std::vector<Command> commands_;
    std::map<std::string, void*> held_;  ///< by memory, while they are mapped
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

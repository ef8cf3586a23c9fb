// The commands of an operation: its kernels and its other steps, in order, and how they are enqueued.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "device/program.hpp"
#include "run/cell/arguments.hpp"

namespace cllab::run {

class CommandList {
public:
    /// A command's name in --steps ("up", "sweep"), and its queue.
    struct Command {
        std::string part;
        unsigned queue = 0;
        bool first = false, last = true;  ///< in its queue
    };
    /// The commands that get an event. Events can keep launches apart: on an H100 (580.159) 200 launches of 60.3 us
    /// took 66.1 us each with an event each, and 60.3 with one for the first and one for the last.
    struct Marked {
        bool first = false, last = false;  ///< of each queue
        bool every = false;
    };

    /// Creates the kernels. Throws Unsupported if a kernel or the device does not support a launch.
    CommandList(device::Session& session, const device::Built& built, const model::Setup& setup,
                const std::string& entry);
    /// Call this once before enqueue(): names the commands and binds the kernels.
    void prepare(Arguments& arguments);
    void bind(Arguments& arguments);
    /// Enqueues the commands of one operation. Appends the events of the marked commands to `events`.
    void enqueue(Arguments& arguments, std::vector<cl::Event>* events, Marked marked);

    const std::vector<Command>& commands() const { return commands_; }
    unsigned queues() const { return queues_; }
    bool is_native() const { return native_; }  ///< a native loop: this process does the operation, without events
    std::size_t launches() const { return kernels_.size(); }
    bool is_single_launch() const { return steps_.size() == 1 && kernels_.size() == 1; }
    bool takes(const std::string& argument) const;  ///< a launch has the whole argument, not a part of it
    const cl::Kernel& kernel() const { return kernels_.front(); }
    model::Extent local() const { return local_; }  ///< of the first launch of the cell's own kernel
    model::Extent global() const { return global_; }

private:
    using Slot = std::function<cl::Event*()>;  ///< returns the next command's event, or nullptr
    void add_kernel(const device::Built& built, const model::Setup& setup, const std::string& entry,
                    model::Launch& launch);
    void launch(const model::Launch& step, const cl::Kernel& kernel, cl::Event* event);
    void upload(const model::Upload& step, ArgumentMemory& memory, const Slot& slot);
    void download(const model::Download& step, ArgumentMemory& memory, const Slot& slot);

    device::Session& session_;
    bool blocking_, in_place_;
    std::vector<model::Step> steps_;
    bool native_;
    std::vector<cl::Kernel> kernels_;  ///< of the launches, in order
    std::vector<Command> commands_;
    unsigned queues_ = 1;
    model::Extent local_, global_;
};

}  // namespace cllab::run

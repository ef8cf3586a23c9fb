#include "run/cell/command_list.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/overloaded.hpp"
#include "core/phases.hpp"
#include "device/quirks.hpp"
#include "model/work.hpp"
#include "run/kernel_source.hpp"

namespace cllab::run {
namespace {

using namespace model;

/// Throws Unsupported if the device does not support the launch.
void check_launch(const device::Session& session, const cl::Kernel& kernel, const Setup& setup, const Launch& launch) {
    const auto& facts = session.facts();
    for (unsigned d = 0; d < launch.offset.dims && device::has_quirk(facts, "nvidia-offset-32"); ++d) {
        const auto last = launch.offset.size[d] + launch.global.size[d] - 1;
        if (last > std::numeric_limits<std::uint32_t>::max())
            throw Unsupported("the last global ID in dimension " + std::to_string(d) + " is " + std::to_string(last) +
                              "; this driver uses 32 bits for global IDs (quirk 'nvidia-offset-32')");
    }
    if (launch.local.dims == 0) return;
    // NVIDIA's driver reports 256 even for a kernel that promises a larger group (lab.h, LAB_GROUP_X). Only the launch
    // shows whether that group runs.
    const bool promised = launch.local.count() > facts.max_group && launch.local.count() <= facts.max_group_promised;
    const bool asked =
        !promised && !device::has_quirk(facts, "rusticl-group-32") && launch.local.count() > session.largest_group();
    const auto ask = [&](cl_kernel_work_group_info what, auto out) {
        const auto code = clGetKernelWorkGroupInfo(kernel(), session.device()(), what, sizeof out, &out, nullptr);
        return code == CL_SUCCESS ? out : decltype(out){};
    };
    const auto most = asked ? ask(CL_KERNEL_WORK_GROUP_SIZE, std::size_t{0}) : 0;
    if (most > 0 && launch.local.count() > most)
        throw Unsupported("a work-group of " + launch.local.text() + " is too large for this kernel; at most " +
                          std::to_string(most) + " work-items are possible here");
    for (unsigned d = 0; d < launch.local.dims; ++d) {
        if (launch.local.size[d] > facts.max_items[d])
            throw Unsupported("a work-group of " + launch.local.text() + " is too large; the device takes at most " +
                              std::to_string(facts.max_items[d]) + " work-items in dimension " + std::to_string(d));
        if (launch.local.size[d] == 0 || launch.global.size[d] % launch.local.size[d] != 0)
            throw Error(Blame::result, "the global size " + launch.global.text() +
                                           " is not a multiple of the local size " + launch.local.text());
    }
    require_local_memory(facts, ask(CL_KERNEL_LOCAL_MEM_SIZE, cl_ulong{0}),
                         static_cast<std::uint64_t>(local_bytes_of(setup, launch.args)));
}

template <typename Kind>
bool has(const std::vector<Step>& steps) {
    return std::ranges::any_of(steps, [](const auto& step) { return std::holds_alternative<Kind>(step); });
}

}  // namespace

CommandList::CommandList(device::Session& session, const device::Built& built, const Setup& setup,
                         const std::string& entry)
    : session_(session),
      blocking_(setup.blocking),
      in_place_(is_in_place(setup.transfer)),
      steps_(steps_of(setup)),
      native_(has<HostLoop>(steps_)) {
    const InPhase phase(Phase::buffers);
    for (auto& step : steps_)
        std::visit(
            [&](auto& s) {
                if constexpr (std::is_same_v<decltype(s), Launch&>) add_kernel(built, setup, entry, s);
                if constexpr (requires { s.queue; }) queues_ = std::max(queues_, s.queue + 1);
            },
            step);
    if (queues_ > 1 && device::has_quirk(session_.facts(), "rusticl-queues"))
        throw Unsupported("this driver gives wrong results with several queues at once (quirk 'rusticl-queues')");
}

void CommandList::add_kernel(const device::Built& built, const Setup& setup, const std::string& entry, Launch& launch) {
    const auto& name = launch.entry.empty() ? entry : launch.entry;
    try {
        kernels_.emplace_back(built.program, device::kernel_name(session_, built, name).c_str());
    } catch (const cl::Error& e) {
        throw Error(Blame::result,
                    device::has_quirk(session_.facts(), "oclgrind-kernels")
                        ? "the simulator cannot create kernel '" + name + "', which may call a function that it lacks"
                        : "kernel '" + name + "' is not in the program: " + device::error_name(e.err()));
    }
    if (launch.args.empty())
        for (const auto& argument : setup.args) launch.args.push_back(name_of(argument));
    if (name == entry && global_.dims == 0) {
        local_ = launch.local;
        global_ = launch.global;
    }
    check_launch(session_, kernels_.back(), setup, launch);
}

void CommandList::prepare(Arguments& arguments) {
    const InPhase phase(Phase::buffers);
    const auto add = [&](const std::string& part, unsigned queue, std::size_t count) {
        commands_.insert(commands_.end(), count, {part, queue});
    };
    const std::size_t each = in_place_ ? 2 : 1;  // commands per transfer: map and unmap, or one copy
    const bool swaps = has<Swap>(steps_);
    auto kernel = kernels_.begin();
    for (const auto& step : steps_) {
        if (const auto* launch = std::get_if<Launch>(&step)) {
            const auto own = (kernel++)->getInfo<CL_KERNEL_FUNCTION_NAME>();
            add(launch->part.empty() ? own : launch->part, launch->queue, 1);
        } else if (const auto* up = std::get_if<Upload>(&step)) {
            auto& uploaded = arguments.memory(up->buffer);
            const auto bytes = uploaded.form().size_bytes;
            add("up", up->queue, each * (up->piece_bytes > 0 ? (bytes + up->piece_bytes - 1) / up->piece_bytes : 1));
            // A Swap changes which memory the step uploads.
            for (const auto& [name, memory] : arguments.memories())
                if (swaps || memory == &uploaded) memory->send_back();
        } else if (const auto* down = std::get_if<Download>(&step)) {
            add("down", down->queue, each);
        } else if (std::holds_alternative<Reset>(step)) {
            add("reset", 0, 1);
        }
    }
    std::vector<Command*> latest(queues_, nullptr);
    for (auto& command : commands_) {
        auto& before = latest.at(command.queue);
        command.first = !before;
        if (before) before->last = false;
        before = &command;
    }
    bind(arguments);
}

void CommandList::bind(Arguments& arguments) {
    auto kernel = kernels_.begin();
    for (const auto& step : steps_)
        if (const auto* launch = std::get_if<Launch>(&step)) arguments.bind(*kernel++, launch->args);
}

bool CommandList::takes(const std::string& argument) const {
    return std::ranges::any_of(steps_, [&](const auto& step) {
        const auto* launch = std::get_if<Launch>(&step);
        return launch && std::ranges::count(launch->args, argument) > 0;
    });
}

void CommandList::enqueue(Arguments& arguments, std::vector<cl::Event>* events, Marked marked) {
    auto command = commands_.begin();
    auto kernel = kernels_.begin();
    const auto slot = [&]() -> cl::Event* {
        const auto& c = *command++;
        if (!events || !(marked.every || (marked.first && c.first) || (marked.last && c.last))) return nullptr;
        return &events->emplace_back();
    };
    for (const auto& step : steps_)
        std::visit(Overloaded{[&](const Launch& s) { launch(s, *kernel++, slot()); },
                              [&](const Upload& s) { upload(s, arguments.memory(s.buffer), slot); },
                              [&](const Download& s) { download(s, arguments.memory(s.buffer), slot); },
                              [&](const Swap& s) {
                                  arguments.swap(s);
                                  bind(arguments);
                              },
                              [&](const Reset& s) {
                                  const auto& from = arguments.own_memory(s.data);
                                  session_.queue().enqueueCopyBuffer(from.original(),
                                                                     arguments.memory(s.buffer).buffer().buffer(), 0, 0,
                                                                     from.form().size_bytes, nullptr, slot());
                              },
                              [&](const HostLoop& s) {
                                  arguments.hold();
                                  s.run(arguments.held());
                              }},
                   step);
    // Waiting for one queue does not start the others.
    for (unsigned n = 0; n < queues_ && queues_ > 1; ++n) session_.queue(n).flush();
}

void CommandList::launch(const Launch& step, const cl::Kernel& kernel, cl::Event* event) {
    const auto& queue = session_.queue(step.queue);
    try {
        queue.enqueueNDRangeKernel(kernel, device::nd_range(step.offset), device::nd_range(step.global),
                                   device::nd_range(step.local), nullptr, event);
    } catch (const cl::Error& e) {
        const auto offset = step.offset.dims == 0 ? std::string() : ", offset " + step.offset.text();
        throw Error(Blame::result, "the launch of '" + kernel.getInfo<CL_KERNEL_FUNCTION_NAME>() +
                                       "' with global size " + step.global.text() + ", local size " +
                                       step.local.text() + offset + " returned " + device::error_name(e.err()));
    }
    // The kernel must start while the host copies into another buffer or enqueues in another queue.
    if (queues_ > 1) queue.flush();
    if (blocking_) queue.finish();
}

void CommandList::upload(const Upload& step, ArgumentMemory& memory, const Slot& slot) {
    const auto& queue = session_.queue(step.queue);
    const auto& buffer = memory.buffer().buffer();
    const auto source = memory.upload_source();
    const auto most = step.piece_bytes > 0 ? step.piece_bytes : source.size();
    for (std::size_t at = 0; at < source.size(); at += most) {
        const auto piece = source.subspan(at, std::min(most, source.size() - at));
        if (in_place_) {
            void* to = queue.enqueueMapBuffer(buffer, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, at, piece.size(),
                                              nullptr, slot());
            std::memcpy(to, piece.data(), piece.size());
            queue.enqueueUnmapMemObject(buffer, to, nullptr, slot());
            if (blocking_) queue.finish();
        } else {
            queue.enqueueWriteBuffer(buffer, blocking_, at, piece.size(), piece.data(), nullptr, slot());
        }
    }
}

void CommandList::download(const Download& step, ArgumentMemory& memory, const Slot& slot) {
    const auto& queue = session_.queue(step.queue);
    const auto& buffer = memory.buffer().buffer();
    const auto to = memory.download_target();
    if (in_place_) {
        void* from = queue.enqueueMapBuffer(buffer, CL_TRUE, CL_MAP_READ, 0, to.size(), nullptr, slot());
        std::memcpy(to.data(), from, to.size());
        queue.enqueueUnmapMemObject(buffer, from, nullptr, slot());
        if (blocking_) queue.finish();
        return;
    }
    auto* event = slot();
    auto* arrival = memory.arrival();
    queue.enqueueReadBuffer(buffer, blocking_, 0, to.size(), to.data(), nullptr, arrival ? arrival : event);
    if (arrival && event) *event = *arrival;
}

}  // namespace cllab::run

#include "run/cell/operation.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/overloaded.hpp"
#include "core/phases.hpp"
#include "device/quirks.hpp"
#include "model/work.hpp"
#include "run/kernel_source.hpp"

// The steps of an operation: its kernels, their arguments and their order. Its memory is made in operation_memory.cpp.
namespace cllab::run {
namespace {

using namespace model;

void set_pointer(const cl::Kernel& kernel, cl_uint index, const void* pointer) {
    const auto code = clSetKernelArgSVMPointer(kernel(), index, pointer);
    if (code != CL_SUCCESS) throw cl::Error(code, "clSetKernelArgSVMPointer");
}

}  // namespace

Operation::Operation(device::Session& session, const device::Built& built, const Setup& setup, const std::string& entry,
                     const Operation* beside, device::Fence fence)
    : session_(session),
      args_(setup.args),
      reset_(setup.reset),
      parts_(setup.parts),
      transfer_(setup.transfer),
      blocking_(setup.blocking),
      slope_(setup.slope),
      fence_(fence) {
    const InPhase phase(Phase::buffers);
    make_steps(built, setup, entry);
    if (queues_ > 1 && device::has_quirk(session_.facts(), "rusticl-queues"))
        throw Unsupported("this driver gives wrong results with several queues at once (quirk 'rusticl-queues')");
    make_memory(setup, beside);
    name_commands();
    if (slope_) trips_ = slope_->low;
    for (const auto& step : steps_) bind(step);
}

void Operation::make_steps(const device::Built& built, const Setup& setup, const std::string& entry) {
    for (const auto& step : model::steps_of(setup)) {
        BoundStep bound{step, 0, {}};
        if (auto* launch = std::get_if<Launch>(&bound.step)) {
            const auto& name = launch->entry.empty() ? entry : launch->entry;
            try {
                kernels_.emplace_back(built.program, device::kernel_name(session_, built, name).c_str());
            } catch (const cl::Error& e) {
                throw Error(
                    Blame::result,
                    device::has_quirk(session_.facts(), "oclgrind-kernels")
                        ? "the simulator cannot create kernel '" + name + "', which may call a function that it lacks"
                        : "kernel '" + name + "' is not in the program: " + device::error_name(e.err()));
            }
            bound.kernel = kernels_.size() - 1;
            bound.arg_names = launch->args;
            if (bound.arg_names.empty()) {
                for (const auto& argument : setup.args) bound.arg_names.push_back(name_of(argument));
            }
            if (name == entry && global_.dims == 0) local_ = launch->local, global_ = launch->global;
            ++launches_;
            check_launch(kernels_.back(), *launch, bound.arg_names);
        } else if (std::holds_alternative<Swap>(step)) {
            swaps_ = true;
        } else if (std::holds_alternative<HostLoop>(step)) {
            native_ = true;
        }
        std::visit(Overloaded{[](const Swap&) {}, [](const Reset&) {}, [](const HostLoop&) {},
                              [&](const auto& s) { queues_ = std::max(queues_, s.queue + 1); }},
                   step);
        steps_.push_back(std::move(bound));
    }
}

void Operation::check_launch(const cl::Kernel& kernel, const Launch& launch,
                             const std::vector<std::string>& arguments) const {
    const auto& facts = session_.facts();
    for (unsigned d = 0; d < launch.offset.dims && device::has_quirk(facts, "nvidia-offset-32"); ++d) {
        const auto last = launch.offset.size[d] + launch.global.size[d] - 1;
        if (last > std::numeric_limits<std::uint32_t>::max())
            throw Unsupported("the last global ID in dimension " + std::to_string(d) + " is " + std::to_string(last) +
                              "; this driver uses 32 bits for global IDs (quirk 'nvidia-offset-32')");
    }
    if (launch.local.dims == 0) return;
    // For a kernel that promises its work-group size (lab.h, LAB_GROUP_X), NVIDIA's driver still reports 256. The
    // launch itself decides.
    const bool promised = launch.local.count() > facts.max_group && launch.local.count() <= facts.max_group_promised;
    const bool asked =
        !promised && !device::has_quirk(facts, "rusticl-group-32") && launch.local.count() > session_.largest_group();
    std::size_t most = 0;
    if (asked &&
        clGetKernelWorkGroupInfo(kernel(), session_.device()(), CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most,
                                 nullptr) == CL_SUCCESS &&
        most > 0 && launch.local.count() > most)
        throw Unsupported("a work-group of " + launch.local.text() + " is larger than the " + std::to_string(most) +
                          " work-items this kernel can have here");
    for (unsigned d = 0; d < launch.local.dims; ++d) {
        if (launch.local.size[d] > facts.max_items[d])
            throw Unsupported("a work-group of " + launch.local.text() + " exceeds the device's " +
                              std::to_string(facts.max_items[d]) + " work-items in dimension " + std::to_string(d));
        if (launch.local.size[d] == 0 || launch.global.size[d] % launch.local.size[d] != 0)
            throw Error(Blame::result, "the global size " + launch.global.text() +
                                           " is not a multiple of the local size " + launch.local.text());
    }
    cl_ulong local_memory = 0;
    if (clGetKernelWorkGroupInfo(kernel(), session_.device()(), CL_KERNEL_LOCAL_MEM_SIZE, sizeof local_memory,
                                 &local_memory, nullptr) != CL_SUCCESS)
        local_memory = 0;
    std::uint64_t of_arguments = 0;
    for (const auto& argument : args_) {
        const auto* local = std::get_if<Local>(&argument);
        if (local && std::ranges::find(arguments, local->name) != arguments.end()) of_arguments += local->size_bytes;
    }
    require_local_memory(facts, local_memory, of_arguments);
}

Operation::Memory& Operation::memory(const std::string& name) {
    const auto alias = alias_.find(name);
    if (alias == alias_.end())
        throw Error(Blame::result, "a step names '" + name + "', which is not a buffer argument");
    return memories_.at(alias->second);
}

const cl::Buffer& Operation::sub_buffer(Memory& m, const model::Part& part) {
    auto& out = m.parts[part.name];
    if (!out()) out = m.buffer.part(part.origin_bytes, part.size_bytes);
    return out;
}

void Operation::bind(const BoundStep& step) {
    const auto* launch = std::get_if<Launch>(&step.step);
    if (!launch) return;
    auto& kernel = kernels_[step.kernel];
    cl_uint index = 0;
    for (const auto& name : step.arg_names) {
        const auto part = std::ranges::find(parts_, name, &model::Part::name);
        const bool is_part = part != parts_.end();
        const auto& own = is_part ? part->of : name;
        const auto found = std::ranges::find_if(args_, [&](const auto& a) { return name_of(a) == own; });
        if (found == args_.end()) throw Error(Blame::result, "a step names the unknown argument '" + name + "'");
        if (const auto* local = std::get_if<Local>(&*found)) {
            kernel.setArg(index, local->size_bytes, nullptr);
        } else if (const auto* scalar = std::get_if<Value>(&*found)) {
            if (slope_ && slope_->argument == name)
                kernel.setArg(index, cl_int{trips_});
            else
                kernel.setArg(index, scalar->data.size(), scalar->data.data());
        } else if (const auto* sampler = std::get_if<Sampler>(&*found)) {
            kernel.setArg(index, samplers_.at(sampler->name));
        } else {
            auto& m = memory(own);
            if (m.is_image)
                kernel.setArg(index, m.image);
            else if (auto* pointer = m.buffer.svm())
                set_pointer(kernel, index, pointer + (is_part ? part->origin_bytes : 0));
            else
                kernel.setArg(index, is_part ? sub_buffer(m, *part) : m.buffer.buffer());
        }
        ++index;
    }
}

void Operation::set_trips(std::int32_t trips) {
    if (trips == trips_) return;
    trips_ = trips;
    for (const auto& step : steps_) bind(step);
}

void Operation::enqueue(std::vector<cl::Event>* events, Marked marked) {
    if (rewritten_) put_back();
    ++operations_;
    ++*on_data_;
    // The first queue filled the buffers, and no other queue waits for the first.
    if (queues_ > 1 && !rewritten_) session_.queue().finish();
    rewritten_ = true;
    std::size_t number = 0;
    const auto slot = [&]() -> cl::Event* {
        const auto& command = commands_.at(number++);
        if (!events || !(marked.every || (marked.first && command.first) || (marked.last && command.last)))
            return nullptr;
        events->emplace_back();
        return &events->back();
    };
    for (const auto& bound : steps_) {
        std::visit(Overloaded{[&](const Launch& launch) {
                                  const auto& queue = session_.queue(launch.queue);
                                  start(launch, kernels_[bound.kernel], slot());
                                  // Start now, while the host copies into another buffer or uses another queue.
                                  if (queues_ > 1) queue.flush();
                                  if (blocking_) queue.finish();
                              },
                              [&](const Upload& u) { up(u, slot); }, [&](const Download& d) { down(d, slot); },
                              [&](const Swap& swap) {
                                  std::swap(alias_.at(swap.a), alias_.at(swap.b));
                                  for (const auto& other : steps_) bind(other);
                                  if (!held_.empty()) name_held();
                              },
                              [&](const Reset& reset) {
                                  const auto& from = memories_.at(reset.data);
                                  session_.queue().enqueueCopyBuffer(from.original,
                                                                     memory(reset.buffer).buffer.buffer(), 0, 0,
                                                                     from.size_bytes, nullptr, slot());
                              },
                              [&](const HostLoop& loop) {
                                  hold();
                                  loop.run(host_memory_);
                              }},
                   bound.step);
    }
    // Waiting for one queue starts nothing in another queue.
    for (unsigned n = 0; n < queues_ && queues_ > 1; ++n) session_.queue(n).flush();
}

void Operation::start(const Launch& launch, const cl::Kernel& kernel, cl::Event* event) {
    try {
        session_.queue(launch.queue)
            .enqueueNDRangeKernel(kernel, device::nd_range(launch.offset), device::nd_range(launch.global),
                                  device::nd_range(launch.local), nullptr, event);
    } catch (const cl::Error& e) {
        const auto offset = launch.offset.dims == 0 ? std::string() : ", offset " + launch.offset.text() + ",";
        throw Error(Blame::result, "the launch of '" + kernel.getInfo<CL_KERNEL_FUNCTION_NAME>() + "' over " +
                                       launch.global.text() + " in groups of " + launch.local.text() + offset +
                                       " gives " + device::error_name(e.err()));
    }
}

void Operation::up(const Upload& step, const std::function<cl::Event*()>& slot) {
    auto& m = memory(step.buffer);
    const auto& queue = session_.queue(step.queue);
    // Wait even in an in-order queue. NVIDIA's driver (580.159 on an H200) reads small host memory when the write is
    // enqueued, and misses data that is still on its way there.
    if (m.arrival()) m.arrival.wait();
    if (m.host.size() != m.size_bytes && !m.data) {  // the device made the poison itself
        m.host.resize(m.size_bytes);
        model::poison(m.host, seed_);
    }
    const auto* from = m.pinned_at ? m.pinned_at : m.data && !m.arrival() ? m.data->data() : m.host.data();
    const auto piece = step.piece_bytes > 0 ? step.piece_bytes : m.size_bytes;
    for (std::size_t at = 0; at < m.size_bytes; at += piece) {
        const auto bytes = std::min(piece, m.size_bytes - at);
        if (is_in_place(transfer_)) {
            void* to = queue.enqueueMapBuffer(m.buffer.buffer(), CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, at, bytes,
                                              nullptr, slot());
            std::memcpy(to, from + at, bytes);
            queue.enqueueUnmapMemObject(m.buffer.buffer(), to, nullptr, slot());
            if (blocking_) queue.finish();
        } else {
            queue.enqueueWriteBuffer(m.buffer.buffer(), blocking_, at, bytes, from + at, nullptr, slot());
        }
    }
}

void Operation::down(const Download& step, const std::function<cl::Event*()>& slot) {
    auto& m = memory(step.buffer);
    const auto& queue = session_.queue(step.queue);
    const auto to = host_side(m);
    if (is_in_place(transfer_)) {
        void* from = queue.enqueueMapBuffer(m.buffer.buffer(), CL_TRUE, CL_MAP_READ, 0, m.size_bytes, nullptr, slot());
        std::memcpy(to.data(), from, m.size_bytes);
        queue.enqueueUnmapMemObject(m.buffer.buffer(), from, nullptr, slot());
        if (blocking_) queue.finish();
        return;
    }
    auto* event = slot();
    queue.enqueueReadBuffer(m.buffer.buffer(), blocking_, 0, m.size_bytes, to.data(), nullptr,
                            m.sent_back ? &m.arrival : event);
    if (m.sent_back && event) *event = m.arrival;
}

void Operation::name_commands() {
    const std::size_t each = is_in_place(transfer_) ? 2 : 1;  // commands per transfer: map and unmap, or one
    for (const auto& bound : steps_) {
        const auto add = [&](const auto& step, const std::string& part, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) commands_.push_back({part, step.queue});
        };
        std::visit(Overloaded{[&](const Launch& launch) {
                                  add(launch,
                                      !launch.part.empty() ? launch.part
                                                           : kernels_[bound.kernel].getInfo<CL_KERNEL_FUNCTION_NAME>(),
                                      1);
                              },
                              [&](const Upload& u) {
                                  const auto bytes = memory(u.buffer).size_bytes;
                                  add(u, "up",
                                      each * (u.piece_bytes > 0 ? (bytes + u.piece_bytes - 1) / u.piece_bytes : 1));
                              },
                              [&](const Download& d) { add(d, "down", each); }, [](const Swap&) {},
                              [&](const Reset&) { commands_.push_back({"reset"}); }, [](const HostLoop&) {}},
                   bound.step);
    }
    for (const auto& bound : steps_) {
        // A Swap changes which memory a name stands for.
        const auto* upload = std::get_if<Upload>(&bound.step);
        for (auto& [name, m] : memories_)
            m.sent_back = m.sent_back || (upload && (swaps_ || &m == &memory(upload->buffer)));
    }
    std::vector<Command*> latest(queues_, nullptr);
    for (auto& command : commands_) {
        auto& before = latest.at(command.queue);
        command.first = !before;
        if (before) before->last = false;
        before = &command;
    }
}

}  // namespace cllab::run

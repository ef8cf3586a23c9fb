#include "run/cell/arguments.hpp"

#include <algorithm>

#include "core/overloaded.hpp"
#include "core/phases.hpp"
#include "model/work.hpp"

namespace cllab::run {
namespace {

using namespace model;

void set_pointer(const cl::Kernel& kernel, cl_uint index, const void* pointer) {
    const auto code = clSetKernelArgSVMPointer(kernel(), index, pointer);
    if (code != CL_SUCCESS) throw cl::Error(code, "clSetKernelArgSVMPointer");
}

void set_memory(cl::Kernel& kernel, cl_uint index, ArgumentMemory& memory, const Part* part) {
    if (const auto* image = memory.image())
        kernel.setArg(index, *image);
    else if (auto* pointer = memory.buffer().svm())
        set_pointer(kernel, index, pointer + (part ? part->origin_bytes : 0));
    else
        kernel.setArg(index, part ? memory.part(*part) : memory.buffer().buffer());
}

}  // namespace

Arguments::Arguments(device::Session& session, DeviceMemory& memory, const Setup& setup)
    : memory_(memory), values_(setup.args), parts_(setup.parts), slope_(setup.slope) {
    const InPhase phase(Phase::buffers);
    for (auto& [name, own] : memory_.arguments()) memories_[name] = &own;
    for (const auto& argument : setup.args)
        if (const auto* sampler = std::get_if<Sampler>(&argument))
            samplers_.emplace(sampler->name, make_sampler(session, *sampler));
    if (slope_) trips_ = slope_->low;
}

ArgumentMemory& Arguments::memory(const std::string& name) {
    const auto found = memories_.find(name);
    if (found == memories_.end())
        throw Error(Blame::result, "a step names '" + name + "', which is not a buffer argument");
    return *found->second;
}

void Arguments::bind(cl::Kernel& kernel, const std::vector<std::string>& names) {
    cl_uint index = 0;
    for (const auto& name : names) {
        const auto named = std::ranges::find(parts_, name, &Part::name);
        const auto* part = named == parts_.end() ? nullptr : &*named;
        const auto value = std::ranges::find(values_, part ? part->of : name, name_of);
        if (value == values_.end()) throw Error(Blame::result, "a step names the unknown argument '" + name + "'");
        std::visit(Overloaded{[&](const Local& a) { kernel.setArg(index, a.size_bytes, nullptr); },
                              [&](const Value& a) {
                                  if (slope_ && slope_->argument == name)
                                      kernel.setArg(index, cl_int{trips_});
                                  else
                                      kernel.setArg(index, a.data.size(), a.data.data());
                              },
                              [&](const Sampler& a) { kernel.setArg(index, samplers_.at(a.name)); },
                              [&](const auto& a) { set_memory(kernel, index, memory(a.name), part); }},
                   *value);
        ++index;
    }
}

void Arguments::swap(const Swap& swap) {
    std::swap(memories_.at(swap.a), memories_.at(swap.b));
    if (!memory_.held().empty()) name_held();
}

bool Arguments::forget_swaps() {
    bool swapped = false;
    for (auto& [name, memory] : memories_) {
        auto& own = own_memory(name);
        swapped = swapped || memory != &own;
        memory = &own;
    }
    return swapped;
}

bool Arguments::set_trips(std::int32_t trips) {
    if (trips == trips_) return false;
    trips_ = trips;
    return true;
}

bool Arguments::goes_in(std::string_view name) const {
    return std::ranges::any_of(values_, [&](const auto& a) { return name_of(a) == name && goes_in_and_out(a); });
}

bool Arguments::works_in_place() const { return std::ranges::any_of(values_, goes_in_and_out); }

void Arguments::hold() {
    if (memory_.hold()) name_held();
}

void Arguments::name_held() {
    for (auto& argument : values_)
        if (auto* value = std::get_if<Value>(&argument)) held_.data[value->name] = value->data;
    for (const auto& [name, memory] : memories_) held_.data[name] = memory_.held().at(memory->form().name);
}

}  // namespace cllab::run

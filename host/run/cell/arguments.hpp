// The arguments of an operation's kernels, and the current memory of each argument.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/cell/device_memory.hpp"

namespace cllab::run {

class Arguments {
public:
    /// `memory`: the memory of the same setup. It must outlive this object.
    Arguments(device::Session& session, DeviceMemory& memory, const model::Setup& setup);

    /// The argument's memory after all Swaps. Throws Error(result) for an argument without memory.
    ArgumentMemory& memory(const std::string& name);
    /// The argument's memory before any Swap.
    ArgumentMemory& own_memory(const std::string& name) { return memory_.arguments().at(name); }
    /// The memory of each argument after all Swaps.
    const std::map<std::string, ArgumentMemory*>& memories() const { return memories_; }
    const std::vector<model::Argument>& values() const { return values_; }
    const std::vector<model::Part>& parts() const { return parts_; }

    /// Sets a kernel's arguments to the arguments and parts with these names.
    void bind(cl::Kernel& kernel, const std::vector<std::string>& names);
    /// After each of these three calls, bind the kernels again. This is not needed if forget_swaps() or set_trips()
    /// returns false.
    void swap(const model::Swap& swap);
    bool forget_swaps();
    bool set_trips(std::int32_t trips);  ///< the value of Slope::argument
    /// The same arguments with other data.
    void replace(const std::vector<model::Argument>& values) { values_ = values; }

    std::int32_t trips() const { return slope_ ? trips_ : 0; }
    /// True if an operation reads data of this argument that the previous operation left, and no Upload step replaces
    /// it.
    bool goes_in(std::string_view name) const;
    bool works_in_place() const;  ///< true for at least one argument

    /// Maps all memory for a native loop until DeviceMemory::release().
    void hold();
    const model::HostMemory& held() const { return held_; }

private:
    void name_held();

    DeviceMemory& memory_;
    std::vector<model::Argument> values_;
    std::vector<model::Part> parts_;
    std::map<std::string, cl::Sampler> samplers_;
    std::map<std::string, ArgumentMemory*> memories_;
    std::optional<model::Slope> slope_;
    std::int32_t trips_ = 0;
    model::HostMemory held_;
};

}  // namespace cllab::run

// Launches that are kept: what their arguments held before and after, read on the program's own queue without waiting,
// because a launch may depend on what the program does only afterwards.
#pragma once

#include "capture/layer/objects.hpp"

namespace cllab::capture {

/// A buffer or image, once for all arguments that are it or a part of it.
struct Held {
    std::shared_ptr<Memory> memory;
    std::string before{}, after{};
};

/// What a kernel's text says of a parameter, as the driver tells it.
struct ParameterInfo {
    std::string name, type;
    cl_kernel_arg_address_qualifier space;
    cl_kernel_arg_type_qualifier qualifier;
    cl_kernel_arg_access_qualifier access;
};

/// A launch with all that it had.
struct Launch {
    std::string kernel{};
    std::shared_ptr<const Program> program{};
    std::vector<std::size_t> global{}, local{}, offset{};  ///< local: empty where the driver chooses
    std::uint64_t index = 0;                               ///< from 1
    std::vector<Argument> arguments{};
    std::vector<ParameterInfo> parameters{};
    std::vector<Held> held{};
};

class Snapshot {
public:
    /// Nothing where the launch is none of those to be kept. It has its sizes, but for the arguments.
    static std::unique_ptr<Snapshot> wanted(cl_kernel handle, Kernel& kernel, Launch launch, const LaunchRow* row,
                                            cl_command_queue queue);
    /// Begins to read, behind the events of the list; the launch is to wait for those that are returned.
    std::vector<cl_event> read_before(cl_uint count, const cl_event* list);
    /// Behind the launch, which is nothing where it failed.
    static void read_after(std::unique_ptr<Snapshot> snapshot, cl_event launch);
    /// Writes those whose reads are complete. True while others are open.
    static bool write_complete();
    ~Snapshot();

private:
    void take_arguments(cl_kernel handle, Kernel& kernel);
    void read(std::string Held::*when, const std::vector<cl_event>& behind);
    bool is_complete() const;
    void write();

    Launch launch_;
    std::string key_, missing_;  ///< why it cannot be kept
    cl_command_queue queue_ = nullptr;
    std::size_t bytes_ = 0;
    std::vector<cl_event> reads_;
    cl_event event_ = nullptr;
};

/// 0 where the device does not say.
std::uint64_t time_of(cl_event event, cl_profiling_info which);
/// The status of what an event is about; negative: it failed, or cannot be asked.
cl_int status_of(cl_event event);

/// Writes `stem`.cl, or .spv or .bin with `stem`.cllab, below settings.folder, the kernel file last. Returns its name
/// and those of its data files. Throws for what cannot be written; then nothing of it is left.
std::vector<std::string> write_kernel_file(const Launch& launch, const std::string& stem);
void remove_files(const std::vector<std::string>& names);

}  // namespace cllab::capture

// The device memory of an operation: a guarded buffer or an image per argument, and their contents.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/experiment.hpp"
#include "run/cell/images.hpp"

namespace cllab::run {

/// data_bytes: total size of a setup's buffers and images. device_bytes: the memory that they use on the device, with
/// guards.
double data_bytes(const model::Setup& setup);
double device_bytes(const model::Setup& setup);

/// The memory that an argument needs on the device.
struct MemoryForm {
    std::string name;
    std::size_t size_bytes = 0, guard_bytes = 0;  ///< guard_bytes: on each side
    std::size_t element_bytes = 0;                ///< 0: unknown
    bool read_back = false, poisoned = false;
    bool keeps = false;  ///< an operation may read data that the previous one left, e.g. its position in a chain
    bool svm = false;
    model::ByStep by_step = model::ByStep::none;
    model::Transfer transfer = model::Transfer::copied;

    bool is_written() const { return read_back || poisoned; }  ///< kernels may write it
};

/// The memory of one argument, on the device and on the host.
class ArgumentMemory {
public:
    /// `data`: the data of an argument that no kernel writes. Other arguments get their data from load().
    ArgumentMemory(device::Session& session, MemoryForm form, model::SharedBytes data, device::GuardedBuffer buffer);
    ArgumentMemory(device::Session& session, MemoryForm form, const model::Image& image);

    const MemoryForm& form() const { return form_; }
    const cl::Image2D* image() const { return image_ ? &image_->image() : nullptr; }
    const device::GuardedBuffer& buffer() const { return buffer_; }
    /// A sub-buffer, made at the first call.
    const cl::Buffer& part(const model::Part& part);
    bool holds(const model::SharedBytes& data) const { return data_ == data || (data_ && *data_ == *data); }
    /// Whether an argument of this form and data can use the same buffer.
    bool suits(const MemoryForm& form, const model::SharedBytes& data) const;

    /// Fills the memory with `data`, or poison of `seed`, and arms the guards. Skips an input that the memory already
    /// holds, unless `anew`.
    void load(const model::SharedBytes& data, std::uint64_t seed, bool anew);
    void refill();  ///< restores what load() wrote
    void overwrite(std::span<const std::byte> bytes);
    void copy_data_of(const ArgumentMemory& other) { fill(other.data_); }
    model::Bytes first_contents() const;  ///< what load() writes
    void get(std::span<std::byte> to);
    /// If Download steps move the memory: what the last one left on the host. Else a copy of the device memory. Valid
    /// until forget_read_back().
    std::span<const std::byte> read_back();
    void forget_read_back();
    std::optional<std::string> guard_damage() {
        return image_ ? std::nullopt : buffer_.guard_damage(form_.name, form_.element_bytes);
    }
    /// For a fenced buffer: whether the device works in the given memory itself. Call it after read_back().
    bool lies_in_place() const;
    /// For separate and repeated pages: whether the device's memory has the data. Zeros prove nothing.
    bool is_filled() const;
    void repeat_contents() { buffer_.repeat_contents(data_ ? std::span(*data_) : std::span<const std::byte>()); }
    /// Seconds by the host clock; 0 if the memory is not transferred.
    double time_upload();
    double time_download();

    // For the steps of an operation.
    void send_back() { host_.arrival.emplace(); }  ///< from now on, Upload steps send what Download steps received
    /// The event that a Download step must set, if an Upload step sends its data back.
    cl::Event* arrival() { return host_.arrival ? &*host_.arrival : nullptr; }
    std::span<const std::byte> upload_source();  ///< waits for arrival()
    std::span<std::byte> download_target();
    void keep_original();  ///< makes original(), the copy of the data that a Reset step copies from
    const cl::Buffer& original() const { return original_; }

private:
    struct HostSide {
        model::Bytes bytes{};                 ///< host copy of data from the device
        std::shared_ptr<std::byte> pinned{};  ///< memory for transfer steps with Transfer::pinned
        std::optional<cl::Event> arrival{};
    };

    void fill(std::span<const std::byte> from);
    void fill(const model::SharedBytes& data);
    /// Before operations: poisons the target of a Download step, copies the data to the pinned source of an Upload
    /// step.
    void prepare_host();
    void make_host();  ///< sizes host_.bytes like the memory; the contents are arbitrary

    device::Session& session_;
    MemoryForm form_;
    model::SharedBytes data_, loaded_;  ///< loaded_: what the buffer was last filled with
    device::GuardedBuffer buffer_;
    std::optional<DeviceImage> image_;
    std::map<std::string, cl::Buffer> parts_;
    cl::Buffer original_;
    HostSide host_;
    std::uint64_t seed_ = 0;
};

class DeviceMemory {
public:
    using Contents = std::map<std::string, model::Bytes, std::less<>>;  ///< by argument
    using Views = std::map<std::string, std::span<const std::byte>, std::less<>>;

    /// As Operation's constructor.
    DeviceMemory(device::Session& session, const model::Setup& setup, const DeviceMemory* donor, device::Fence fence);
    ~DeviceMemory();
    DeviceMemory(const DeviceMemory&) = delete;  // Arguments refer to it

    std::map<std::string, ArgumentMemory>& arguments() { return arguments_; }
    bool is_shared() const { return shared_; }  ///< all arguments use buffers of `donor`; there is at least one
    void lend() { lent_ = true; }               ///< load() then fills all memory, because other cells may write to it

    // These functions release() the memory first.
    void load(const std::vector<model::Argument>& arguments, std::uint64_t seed);
    void poison();
    void restore(const std::vector<model::Argument>& arguments);
    void overwrite(const Views& contents);
    std::optional<std::string> guard_damage();
    double time_upload(const std::vector<model::Argument>& arguments);
    double time_download();

    Contents poison_contents() const;
    void forget_read_back();
    bool lies_in_place() const;
    std::optional<double> huge_share() const;
    bool is_filled() const;  ///< ArgumentMemory::is_filled() of every argument, with data other than zeros in one
    void repeat_contents();  ///< GuardedBuffer::repeat_contents() of every buffer
    void count_operation() { ++*on_data_; }
    std::uint64_t operations_on_data() const { return *on_data_; }

    /// Maps all buffers for a native loop until release(). False: they are mapped already.
    bool hold();
    void release();
    /// The mapped bytes by argument; empty: nothing is mapped.
    const std::map<std::string, std::span<std::byte>>& held() const { return held_; }

private:
    /// The setup's arguments have the same sizes, and its inputs the same data.
    bool is_alike(const model::Setup& setup) const;

    device::Session& session_;
    std::map<std::string, ArgumentMemory> arguments_;  ///< by name
    std::map<std::string, std::span<std::byte>> held_;
    bool shared_ = false, lent_ = false;
    /// Operations since the memory was filled, by all objects that share it.
    std::shared_ptr<std::uint64_t> on_data_;
};

}  // namespace cllab::run

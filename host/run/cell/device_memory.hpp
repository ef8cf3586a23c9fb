// The device memory of an operation: a buffer between guards or an image for each argument, and what they hold.
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

/// Bytes of a setup's buffers and images, and what they take on the device, guards included.
double data_bytes(const model::Setup& setup);
double device_bytes(const model::Setup& setup);

/// What an argument needs of the device's memory.
struct MemoryForm {
    std::string name;
    std::size_t size_bytes = 0, guard_bytes = 0;  ///< guard_bytes: on each side
    std::size_t element_bytes = 0;                ///< 0: unknown
    bool read_back = false, poisoned = false;
    bool keeps = false;  ///< an operation may read what the previous one left, e.g. a position in a chain of that data
    bool svm = false;
    model::ByStep by_step = model::ByStep::none;
    model::Transfer transfer = model::Transfer::copied;

    bool is_written() const { return read_back || poisoned; }  ///< kernels may write it
};

/// The memory of one argument, on the device and on the host.
class ArgumentMemory {
public:
    /// `data`: of an argument that no kernel writes; the others get theirs from load().
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

    /// Fills the memory with `data`, or poison of `seed`, and arms the guards. Skips an input that is there already,
    /// unless `anew`.
    void load(const model::SharedBytes& data, std::uint64_t seed, bool anew);
    void refill();  ///< with what load() put there
    void overwrite(std::span<const std::byte> bytes);
    void copy_data_of(const ArgumentMemory& other) { fill(other.data_); }
    model::Bytes first_contents() const;  ///< what load() puts there
    void get(std::span<std::byte> to);
    /// What the last Download step left on the host, or for other memory a copy of the device's. Valid until
    /// forget_read_back().
    std::span<const std::byte> read_back();
    void forget_read_back();
    std::optional<std::string> guard_damage() {
        return image_ ? std::nullopt : buffer_.guard_damage(form_.name, form_.element_bytes);
    }
    /// Of a fenced buffer: whether the device works in the memory that it was given. Call it after read_back().
    bool lies_in_place() const;
    bool is_filled() const { return buffer_.is_filled(); }  ///< as GuardedBuffer's, as the next
    void repeat_contents() { buffer_.repeat_contents(data_ ? std::span(*data_) : std::span<const std::byte>()); }
    /// Seconds by the host's clock; 0 for what is not transferred.
    double time_upload();
    double time_download();

    // For the steps of an operation.
    void send_back() { host_.arrival.emplace(); }  ///< Upload steps send what Download steps bring
    /// The event that a Download step must set, if an Upload step sends its data back.
    cl::Event* arrival() { return host_.arrival ? &*host_.arrival : nullptr; }
    std::span<const std::byte> upload_source();  ///< waits for arrival()
    std::span<std::byte> download_target();
    void keep_original();  ///< makes original(), the copy of the data that a Reset step copies from
    const cl::Buffer& original() const { return original_; }

private:
    struct HostSide {
        model::Bytes bytes{};                 ///< staging of what comes back
        std::shared_ptr<std::byte> pinned{};  ///< of Transfer::pinned, for transfer steps
        std::optional<cl::Event> arrival{};
    };

    void fill(std::span<const std::byte> from);
    void fill(const model::SharedBytes& data);
    /// Before operations: poisons the target of a Download step, copies the data to the pinned source of an Upload
    /// step.
    void prepare_host();
    void make_host();  ///< of the memory's size, with any contents

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
    bool is_shared() const { return shared_; }  ///< every buffer is one of `donor`, and there is one
    void lend() { lent_ = true; }               ///< load() fills all of it: others may have written there

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
    bool is_filled() const;  ///< GuardedBuffer::is_filled() of every buffer
    void repeat_contents();    ///< GuardedBuffer::repeat_contents() of every buffer
    void count_operation() { ++*on_data_; }
    std::uint64_t operations_on_data() const { return *on_data_; }

    /// Maps all buffers for a native loop until release(). False: they are mapped already.
    bool hold();
    void release();
    /// The mapped bytes by argument; empty: nothing is mapped.
    const std::map<std::string, std::span<std::byte>>& held() const { return held_; }

private:
    bool is_alike(const model::Setup& setup) const;  ///< its arguments have the same sizes, its inputs the same data

    device::Session& session_;
    std::map<std::string, ArgumentMemory> arguments_;  ///< by name
    std::map<std::string, std::span<std::byte>> held_;
    bool shared_ = false, lent_ = false;
    std::shared_ptr<std::uint64_t> on_data_;  ///< operations since the data was put there, of all that share the memory
};

}  // namespace cllab::run

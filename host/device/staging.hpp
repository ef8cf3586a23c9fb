// Large transfers to and from a device with memory of its own, and poison that the device itself writes. A transfer
// uses pinned pieces of host memory: several threads fill or empty one while the device copies another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>

#include "device/cl.hpp"
#include "model/operation.hpp"

namespace cllab::device {

class Session;

class Staging {
public:
    /// Allocates and maps the pieces. Throws cl::Error if the driver fails.
    explicit Staging(Session& session);
    ~Staging();
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

    static constexpr std::size_t worth_bytes = 4 << 20;  ///< smaller transfers are as fast without staging
    void upload(const cl::Buffer& to, std::span<const std::byte> data);
    void download(const cl::Buffer& from, std::span<std::byte> data);

private:
    static constexpr std::size_t piece_bytes = 32 << 20;
    struct Piece {
        cl::Buffer pinned;
        std::byte* at = nullptr;
        cl::Event busy;
    };
    Session& session_;
    std::array<Piece, 2> pieces_;
};

/// Writes model::poison with a kernel.
class PoisonKernel {
public:
    /// Builds the kernel and compares its output with the host's poison. Throws Error(result) or cl::Error on failure.
    explicit PoisonKernel(Session& session);
    /// Fills the first `bytes` / 8 * 8 bytes of the buffer; does not wait.
    void fill(const cl::Buffer& buffer, std::size_t bytes, std::uint64_t seed);

private:
    Session& session_;
    cl::Kernel kernel_;
};

/// Copies of uploaded data in device memory that no kernel accesses. The variants of a point share their inputs, and a
/// copy on the device is many times faster than an upload.
class Originals {
public:
    using Upload = std::function<void(const cl::Buffer&)>;

    /// `most_bytes`: device memory that all copies may use together.
    Originals(const Session& session, double most_bytes) : session_(session), most_bytes_(most_bytes) {}

    /// Puts `data` into a buffer of its size. If there is no copy yet, `upload` fills one. The last copy is enqueued,
    /// not finished. Returns false without doing anything if there is no room.
    bool put(const cl::Buffer& to, const model::SharedBytes& data, const Upload& upload);
    void drop() { kept_.clear(); }

private:
    struct Kept {
        std::weak_ptr<const void> whose;  ///< does not own the host's data; expires with it
        cl::Buffer buffer;
        std::size_t bytes = 0;
    };
    const Kept* find(const model::SharedBytes& data) const;
    bool make_room(std::size_t bytes);

    const Session& session_;
    double most_bytes_;
    std::deque<Kept> kept_;  ///< oldest first
};

}  // namespace cllab::device

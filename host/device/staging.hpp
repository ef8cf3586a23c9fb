// Much data to and from a device with memory of its own: through pinned pieces of host memory that several threads fill
// or empty while the device copies another one, and poison that the device makes itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "device/cl.hpp"

namespace cllab::device {

class Session;

class Staging {
public:
    /// Allocates and maps the pieces. Throws cl::Error when the driver refuses.
    explicit Staging(Session& session);
    ~Staging();
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

    static constexpr std::size_t worth_bytes = 4 << 20;  ///< less goes as fast by itself
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

/// model::poison by a kernel.
class PoisonKernel {
public:
    /// Builds it and compares what it leaves with the host's. Throws Error(result) or cl::Error when the device cannot.
    explicit PoisonKernel(Session& session);
    /// Fills the first `bytes` / 8 * 8 of the buffer; does not wait.
    void fill(const cl::Buffer& buffer, std::size_t bytes, std::uint64_t seed);

private:
    Session& session_;
    cl::Kernel kernel_;
};

}  // namespace cllab::device

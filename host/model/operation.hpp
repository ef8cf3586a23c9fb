// One operation of a cell: the arguments of its kernels, and its steps.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/bytes.hpp"
#include "core/error.hpp"
#include "model/axes.hpp"
#include "model/kernel_signature.hpp"

namespace cllab::model {

struct PixelFormat {
    enum class Order { r, rg, rgba, bgra, depth };
    /// A kernel reads normalised values as 0 to 1, signed_normalised ones as -1 to 1.
    enum class Channel { normalised, signed_normalised, integer, unsigned_integer, floating };
    Order order = Order::rgba;
    Channel channel = Channel::normalised;
    std::size_t channel_bytes = 1;

    std::size_t channels() const { return order == Order::r || order == Order::depth ? 1 : order == Order::rg ? 2 : 4; }
    std::size_t bytes() const { return channels() * channel_bytes; }
    bool is_normalised() const { return channel == Channel::normalised || channel == Channel::signed_normalised; }
    bool is_signed() const { return channel == Channel::signed_normalised || channel == Channel::integer; }
    /// The integer for white. For a normalised channel: the value that a kernel reads as 1. Else 255, or the largest
    /// value if 255 does not fit.
    std::int64_t white() const;
    /// "rgba8ui": the channels, the bits per channel, and one of "", s, i, ui, f.
    std::string name() const;
    /// The pixel in the types of OpenCL C: "uchar4".
    ElementType type() const;
    bool operator==(const PixelFormat&) const = default;
};

inline constexpr PixelFormat r8_unsigned{PixelFormat::Order::r, PixelFormat::Channel::unsigned_integer, 1};
inline constexpr PixelFormat rgba8_unsigned{PixelFormat::Order::rgba, PixelFormat::Channel::unsigned_integer, 1};
inline constexpr PixelFormat depth32_float{PixelFormat::Order::depth, PixelFormat::Channel::floating, 4};
inline constexpr PixelFormat rgba32_integer{PixelFormat::Order::rgba, PixelFormat::Channel::integer, 4};

std::optional<PixelFormat> pixel_format(const std::string& name);
/// The parts of a format name, for a message.
inline constexpr const char* pixel_formats =
    "r, rg, rgba or bgra, then 8, 16 or 32 bits a channel, then ui, i or f, or for 8 and 16 bits nothing or s, which "
    "are read as 0 to 1 and -1 to 1: r8, rg32f, rgba8ui, rgba16f; of depth images depth16 or depth32f";

using cllab::Bytes;

/// Bytes that copies share. Two objects are equal if one is a copy of the other; the contents are not compared.
/// Thread-safe.
class SharedBytes {
public:
    SharedBytes() = default;  ///< no bytes: converts to false and must not be dereferenced
    SharedBytes(std::nullptr_t) {}
    SharedBytes(std::shared_ptr<const Bytes> bytes);
    SharedBytes(std::shared_ptr<Bytes> bytes) : SharedBytes(std::shared_ptr<const Bytes>(std::move(bytes))) {}
    /// `make` returns `size` bytes. It is called at the first access to the bytes, at most once.
    SharedBytes(std::size_t size, std::function<Bytes()> make);

    std::size_t size() const;  ///< does not call `make`
    const Bytes& operator*() const;
    const Bytes* operator->() const { return &**this; }
    /// Equal for copies. Expires when the last copy is destroyed.
    std::weak_ptr<const void> identity() const { return state_; }
    explicit operator bool() const { return state_ != nullptr; }
    friend bool operator==(const SharedBytes&, const SharedBytes&) = default;
    friend std::strong_ordering operator<=>(const SharedBytes&, const SharedBytes&) = default;

private:
    struct State;
    std::shared_ptr<State> state_;
};

// --- Arguments, in the kernel's parameter order. Buffers are cl_mem, sizes in bytes. ---------------------------------
/// Read only. It has guards on both sides anyway, because a kernel may write to it.
struct Input {
    std::string name;
    SharedBytes data;
    std::size_t element_bytes = 0;
};
// element_bytes: to name the element of an access outside; 0: unknown.
// row_bytes: for data in rows; the guards have at least one row, so that an extra row is detected.
/// The direction in which transfer steps move a buffer, so that the steps themselves are verified. up: the buffer holds
/// poison until an Upload brings the data. down: the check sees what the last Download left on the host. A missing or
/// misdirected transfer is then a wrong result.
enum class ByStep { none, up, down };
/// Poisoned before verification, guarded on both sides.
struct Output {
    std::string name;
    std::size_t size_bytes = 0, row_bytes = 0;
    ByStep by_step = ByStep::none;
    std::string given{};  ///< what a user can write instead to give it data: "zero:4096"; empty: not possible
    std::size_t element_bytes = 0;
};
/// Uploaded before verification, guarded on both sides.
struct InOut {
    std::string name;
    SharedBytes data;
    std::size_t row_bytes = 0;
    ByStep by_step = ByStep::none;
    std::size_t element_bytes = 0;
};
/// Device memory that is not checked, but poisoned and guarded.
struct Scratch {
    std::string name;
    std::size_t size_bytes = 0, row_bytes = 0;
};
/// __local memory.
struct Local {
    std::string name;
    std::size_t size_bytes = 0;
};
/// A scalar or struct passed by value.
struct Value {
    std::string name;
    Bytes data;
};
/// An image with `dims` dimensions. data == nullptr: an output, poisoned and read back like Output.
struct Image {
    std::string name;
    std::size_t width = 0, height = 0;  ///< pixels
    PixelFormat format = r8_unsigned;
    SharedBytes data;
    std::size_t depth = 1;
    unsigned dims = 2;
    bool is_array = false;    ///< the last size counts layers
    bool of_buffer = false;   ///< one dimension: the image is created from a buffer
    bool read_write = false;  ///< the kernel reads and writes it
    bool in_out = false;      ///< it has data, like InOut: the kernel may leave pixels unchanged

    bool comes_out() const { return !data || in_out; }
};
struct Sampler {
    enum class Outside { undefined, edge, zero, repeat, mirror };
    std::string name;
    bool normalised = false, linear = false;
    Outside outside = Outside::edge;
};
using Argument = std::variant<Input, Output, InOut, Scratch, Local, Value, Image, Sampler>;

template <typename T>
Value value(std::string name, const T& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    Value out{std::move(name), Bytes(sizeof(T))};
    std::memcpy(out.data.data(), &v, sizeof(T));
    return out;
}

template <typename T>
Bytes to_bytes(const std::vector<T>& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* first = reinterpret_cast<const std::byte*>(v.data());
    return {first, first + v.size() * sizeof(T)};
}

template <typename T>
SharedBytes share(const std::vector<T>& v) {
    return std::make_shared<const Bytes>(to_bytes(v));
}

// --- Steps of one operation. No steps means one Launch of the variant with setup.global, setup.local, all arguments.
struct Launch {
    std::string entry{};  ///< kernel name; empty: the variant's own
    Extent global, local{};
    std::vector<std::string> args{};  ///< names from Setup::args; empty: all of them, in order
    Extent offset{};                  ///< offset of the NDRange
    std::string part{};               ///< its name in --steps, e.g. "sweep"; empty: the kernel's name
    unsigned queue = 0;               ///< number of its in-order queue; all queues of an operation begin together
};
/// A timed copy from host to device: the data of the buffer's last Download, else the argument's own data.
struct Upload {
    std::string buffer;
    std::size_t piece_bytes = 0;  ///< transferred in pieces of this many bytes, the last one shorter; 0: all at once
    unsigned queue = 0;
};
/// Device to host, counted in the time.
struct Download {
    std::string buffer;
    unsigned queue = 0;
};
/// Swaps the two buffers, for the rest of this operation and all later ones.
struct Swap {
    std::string a, b;
};
/// Copies the data of the argument `data` into the buffer again: on the device, counted in the time.
struct Reset {
    std::string buffer, data;
};

/// A kernel argument with its own name that is a sub-buffer of the argument `of`.
struct Part {
    std::string name, of;
    std::size_t origin_bytes = 0, size_bytes = 0;
};

/// The buffers and by-value arguments of a set-up in the memory of this process, by name.
class HostMemory {
public:
    std::map<std::string, std::span<std::byte>, std::less<>> data;

    template <typename T>
    std::span<T> as(std::string_view name) const {
        const auto found = data.find(name);
        if (found == data.end()) throw Error(Blame::result, "a native loop asks for the unknown argument '", name, "'");
        return {reinterpret_cast<T*>(found->second.data()), found->second.size() / sizeof(T)};
    }
    template <typename T>
    T value(std::string_view name) const {
        return as<T>(name).front();
    }
};
/// Work of this process on the buffers, which are mapped to its memory. An operation with such a step has no launches.
struct HostLoop {
    std::function<void(const HostMemory&)> run;
};

using Step = std::variant<Launch, Upload, Download, Swap, Reset, HostLoop>;

}  // namespace cllab::model

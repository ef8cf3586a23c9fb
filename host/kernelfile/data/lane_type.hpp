// The C++ type of a lane, for loops over large data: the loop selects its type once, not per lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/half.hpp"
#include "model/kernel_signature.hpp"

namespace cllab::kernelfile {

/// The unsigned integer of the lane's size.
template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                  std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                                     std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

template <typename T>
T load(const std::byte* from) {
    T out;
    std::memcpy(&out, from, sizeof out);
    return out;
}

template <typename T>
T to_lane(auto value) {
    if constexpr (std::is_same_v<T, Bfloat16>)
        return to_bfloat16(static_cast<float>(value));
    else if constexpr (std::is_same_v<T, Half>)
        return to_half(static_cast<double>(value));
    else
        return static_cast<T>(value);
}

/// Calls `work` with a zero of the type's lane. The type must be numeric.
template <typename Work>
auto with_lane_type(const model::ElementType& type, Work work) {
    if (type.kind == model::ElementType::Kind::bfloat16) return work(Bfloat16{});
    if (type.is_floating())
        return type.lane_bytes == 8 ? work(double{}) : type.lane_bytes == 4 ? work(float{}) : work(Half{});
    const bool is_signed = type.kind == model::ElementType::Kind::signed_integer;
    switch (type.lane_bytes) {
        case 1:
            return is_signed ? work(std::int8_t{}) : work(std::uint8_t{});
        case 2:
            return is_signed ? work(std::int16_t{}) : work(std::uint16_t{});
        case 4:
            return is_signed ? work(std::int32_t{}) : work(std::uint32_t{});
        default:
            return is_signed ? work(std::int64_t{}) : work(std::uint64_t{});
    }
}

}  // namespace cllab::kernelfile

// Matrix units: the tile that each device multiplies in one instruction, and its elements in memory.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/half.hpp"
#include "experiments/lib/describe.hpp"
#include "experiments/lib/setups.hpp"
#include "model/device.hpp"

namespace cllab::model::lib::matrix {

/// The product of one instruction: m rows of the first factor, n columns of the second, summed over k.
struct Tile {
    std::string unit;  ///< MMA or WGMMA (NVIDIA), MFMA, WMMA or WMMA12 (AMD), DPAS (Intel)
    std::size_t m = 0, n = 0, k = 0;
    std::size_t lanes = 1;  ///< work-items that hold it together
};

inline bool is_one_byte(std::string_view type) { return type == "s8" || type == "fp8"; }

/// NVIDIA's PTX ISA: mma.sync of sm_80, fp8 (e4m3) from sm_89 on.
inline std::optional<Tile> nvidia_tile(const Device& device, const std::string& type) {
    if (device.compute_capability < (type == "fp8" ? 89 : 80)) return std::nullopt;
    if (type == "f64") return Tile{"MMA", 8, 8, 4, 32};
    return Tile{"MMA", 16, 8, is_one_byte(type) ? 32u : type == "tf32" ? 8u : 16u, 32};
}

/// NVIDIA's PTX ISA: wgmma of sm_90, by four warps, with factors in local memory.
inline Tile wgmma_tile(const Device& device, const std::string& type) {
    if (device.implementation != Implementation::nvidia || device.compute_capability != 90)
        throw Unsupported("the instruction wgmma needs NVIDIA's sm_90");
    if (type == "f64") throw Unsupported("the instruction wgmma does not multiply f64");
    return {"WGMMA", 64, 256, is_one_byte(type) ? 32u : type == "tf32" ? 8u : 16u, 128};
}

/// AMD: MFMA of gfx908 to gfx942, WMMA of gfx11 and gfx12 in waves of 32. On gfx12, fp8 has the format of to_fp8; on
/// gfx942 it has another bias.
inline std::optional<Tile> amd_tile(const Device& device, const std::string& type) {
    const std::string_view name = device.name;
    const bool has_16_bits_and_bytes = is_one_of(type, {"f16", "bf16", "s8"});
    if (name.starts_with("gfx11") || name.starts_with("gfx12")) {
        const bool is_12 = name.starts_with("gfx12"), has = has_16_bits_and_bytes || (type == "fp8" && is_12);
        if (!has || device.preferred_multiple == 64) return std::nullopt;
        return Tile{is_12 ? "WMMA12" : "WMMA", 16, 16, 16, 32};
    }
    const bool is_third = name.starts_with("gfx94");
    if (!is_third && !name.starts_with("gfx90a") && !name.starts_with("gfx908")) return std::nullopt;
    if (type == "tf32" && is_third) return Tile{"MFMA", 16, 16, 8, 64};
    if (name.starts_with("gfx908") && !is_one_of(type, {"f16", "s8"})) return std::nullopt;
    if (type == "f64") return Tile{"MFMA", 16, 16, 4, 64};
    if (!has_16_bits_and_bytes) return std::nullopt;
    return Tile{"MFMA", 16, 16, type == "s8" && is_third ? 32u : 16u, 64};
}

/// Intel: cl_intel_subgroup_matrix_multiply_accumulate, for sub-groups of 8 on Xe-HPG and of 16 elsewhere.
inline std::optional<Tile> intel_tile(const Device& device, const std::string& type) {
    if (!device.has("cl_intel_subgroup_matrix_multiply_accumulate") || !is_one_of(type, {"f16", "bf16", "s8"}))
        return std::nullopt;
    const bool is_hpg = device.name == "dg2" || device.name.find("Arc(TM) A") != std::string::npos ||
                        device.name.find("Flex") != std::string::npos;
    const std::size_t lanes = is_hpg ? 8 : 16;
    return Tile{"DPAS", 8, lanes, type == "s8" ? 32u : 16u, lanes};
}

/// Throws Unsupported if the device has no known matrix unit for the type.
inline Tile tile_of(const Device& device, const std::string& type) {
    std::optional<Tile> out;
    if (device.implementation == Implementation::nvidia) out = nvidia_tile(device, type);
    if (device.implementation == Implementation::amd) out = amd_tile(device, type);
    if (device.implementation == Implementation::intel_gpu) out = intel_tile(device, type);
    if (!out) throw Unsupported("cllab knows no matrix unit for ", type, " on this device");
    return *out;
}

/// Bytes of local memory for the arrays of a kernel. NVIDIA's CL_DEVICE_LOCAL_MEM_SIZE holds only for arguments (quirk
/// nvidia-local-arrays). So this returns the size per thread block from NVIDIA's CUDA programming guide, by compute
/// capability. One KiB less, because compilers use some of it. ptxas alone accepts only CL_DEVICE_LOCAL_MEM_SIZE,
/// except for sm_90a.
inline std::uint64_t array_bytes(const Device& device, bool is_for_sm_90a = false) {
    const bool is_ptxas = device.driver.starts_with("clang") && !is_for_sm_90a;
    if (device.implementation != Implementation::nvidia || is_ptxas) return device.local_bytes;
    const auto sm = device.compute_capability;
    const std::uint64_t kib = sm >= 90 && sm < 120 ? 227 : sm == 80 || sm == 87 ? 163 : sm == 86 || sm >= 89 ? 99 : 48;
    return (kib - 1) << 10;
}

/// Products of integers are no floating-point operations. Their setups have the define TYPE_s8.
inline bool is_integer(const Setup& setup) {
    return std::ranges::find(setup.defines, "TYPE_s8") != setup.defines.end();
}
inline const char* element_type(std::string_view type) {
    if (type == "f64") return "double";
    if (type == "tf32") return "float";
    return type == "s8" ? "char" : type == "fp8" ? "uchar" : "ushort";
}

inline std::uint16_t to_bf16(float x) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16); }

/// An integer with an absolute value of at most 15 as e4m3: sign, four bits of exponent with bias 7, three bits of
/// fraction.
inline std::uint8_t to_fp8(int x) {
    if (x == 0) return 0;
    const auto size = static_cast<unsigned>(x < 0 ? -x : x);
    const unsigned exponent = std::bit_width(size) - 1;
    const unsigned fraction = (size << 3 >> exponent) & 7;
    return static_cast<std::uint8_t>((x < 0 ? 0x80u : 0u) | (exponent + 7) << 3 | fraction);
}

/// Small integers in the type's memory format.
inline SharedBytes elements(std::string_view type, const std::vector<int>& numbers) {
    const auto as = [&](auto convert) { return share(mapped(numbers, convert)); };
    if (type == "f64") return as([](int x) { return static_cast<double>(x); });
    if (type == "tf32") return as([](int x) { return static_cast<float>(x); });
    if (type == "s8") return as([](int x) { return static_cast<std::int8_t>(x); });
    if (type == "fp8") return as(to_fp8);
    if (type == "bf16") return as([](int x) { return to_bf16(static_cast<float>(x)); });
    return as([](int x) { return to_half(x).bits; });
}

}  // namespace cllab::model::lib::matrix

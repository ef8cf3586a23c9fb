#include "inspect/occupancy.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace cllab::inspect {
namespace {

std::int64_t round_up(std::int64_t value, std::int64_t granule) { return (value + granule - 1) / granule * granule; }

/// The smallest of several limits, remembering which and how each came about.
class Limits {
public:
    void add(std::int64_t value, const std::string& name, const std::string& arithmetic) {
        terms_ += (terms_.empty() ? "" : ", ") + arithmetic;
        if (least_ < 0 || value < least_) least_ = value, name_ = name;
    }
    Occupancy result(unsigned most, const std::string& unit) const {
        const auto waves = static_cast<unsigned>(std::max<std::int64_t>(least_, 0));
        return {waves, most, unit, name_, "min(" + terms_ + ") = " + std::to_string(waves) + " " + unit};
    }

private:
    std::int64_t least_ = -1;
    std::string name_, terms_;
};

struct AmdLimits {
    std::int64_t vgprs, granule, waves, sgprs, sgpr_granule, lds_per_simd;
};

std::optional<AmdLimits> amd_limits(const std::string& processor, bool wave64) {
    const auto one_of = [&](std::initializer_list<const char*> names) {
        return std::find(names.begin(), names.end(), processor) != names.end();
    };
    // LDS: 64 KiB for the four SIMDs of a compute unit; RDNA has 128 KiB for the four of a work-group processor.
    constexpr std::int64_t cu = 16384, wgp = 32768;
    const std::string_view p = processor;
    if (p.starts_with("gfx6") || p.starts_with("gfx7")) return AmdLimits{256, 4, 10, 512, 8, cu};
    if (one_of({"gfx90a", "gfx940", "gfx941", "gfx942"})) return AmdLimits{512, 8, 8, 800, 16, cu};
    if (one_of({"gfx801", "gfx802", "gfx803", "gfx805", "gfx810", "gfx900", "gfx902", "gfx904", "gfx906", "gfx908",
                "gfx909", "gfx90c"}))
        return AmdLimits{256, 4, 10, 800, 16, cu};
    const std::int64_t half = wave64 ? 2 : 1;  // a register of a wave64 takes two rows of 32 lanes
    if (p.starts_with("gfx101")) return AmdLimits{1024 / half, 8 / half, 20, 0, 0, wgp};
    if (p.starts_with("gfx103") || one_of({"gfx1102", "gfx1103", "gfx1150"}))
        return AmdLimits{1024 / half, 16 / half, 16, 0, 0, wgp};
    if (one_of({"gfx1100", "gfx1101", "gfx1151", "gfx1200", "gfx1201"}))
        return AmdLimits{1536 / half, 24 / half, 16, 0, 0, wgp};
    return std::nullopt;
}

struct NvidiaLimits {
    int sm;
    std::int64_t warps, groups, shared_bytes, reserved;
};

constexpr std::array<NvidiaLimits, 14> nvidia_table{{
    {60, 64, 32, 64 << 10, 0},
    {61, 64, 32, 96 << 10, 0},
    {62, 64, 32, 64 << 10, 0},
    {70, 64, 32, 96 << 10, 0},
    {72, 64, 32, 96 << 10, 0},
    {75, 32, 16, 64 << 10, 0},
    {80, 64, 32, 164 << 10, 1024},
    {86, 48, 16, 100 << 10, 1024},
    {87, 48, 16, 164 << 10, 1024},
    {89, 48, 24, 100 << 10, 1024},
    {90, 64, 32, 228 << 10, 1024},
    {100, 64, 32, 228 << 10, 1024},
    {103, 64, 32, 228 << 10, 1024},
    {120, 48, 24, 100 << 10, 1024},
}};

std::string number(std::int64_t n) { return std::to_string(n); }

}  // namespace

std::optional<Occupancy> amd_occupancy(const std::string& processor, const KernelNeeds& needs) {
    const std::int64_t lanes = needs.wavefront;
    const auto limits = amd_limits(processor, lanes == 64);
    if (!limits || lanes <= 0) return std::nullopt;
    Limits found;
    found.add(limits->waves, "hardware", number(limits->waves));
    if (needs.registers > 0) {
        const auto each = round_up(needs.registers, limits->granule);
        found.add(limits->vgprs / each, "registers",
                  "floor(" + number(limits->vgprs) + " VGPRs / roundup(" + number(needs.registers) + ", " +
                      number(limits->granule) + ")) = " + number(limits->vgprs / each));
    }
    if (needs.scalar_registers > 0 && limits->sgprs > 0) {
        const auto each = round_up(needs.scalar_registers, limits->sgpr_granule);
        found.add(limits->sgprs / each, "scalar registers",
                  "floor(" + number(limits->sgprs) + " SGPRs / roundup(" + number(needs.scalar_registers) + ", " +
                      number(limits->sgpr_granule) + ")) = " + number(limits->sgprs / each));
    }
    if (needs.local_bytes > 0 && needs.group_items > 0) {
        const auto per_group = round_up(static_cast<std::int64_t>(needs.group_items), lanes) / lanes;
        const auto groups = 4 * limits->lds_per_simd / needs.local_bytes;
        found.add(groups * per_group / 4, "local memory",
                  "floor(" + number(4 * limits->lds_per_simd) + " byte LDS / " + number(needs.local_bytes) + ") * " +
                      number(per_group) + " / 4 = " + number(groups * per_group / 4));
    }
    return found.result(static_cast<unsigned>(limits->waves), "wavefronts per SIMD");
}

std::optional<Occupancy> nvidia_occupancy(int sm, const KernelNeeds& needs) {
    const auto limits =
        std::find_if(nvidia_table.begin(), nvidia_table.end(), [&](const NvidiaLimits& l) { return l.sm == sm; });
    if (limits == nvidia_table.end()) return std::nullopt;
    // Registers: four partitions of 16384, given out to a warp in lots of 256.
    const auto each = round_up(std::max<std::int64_t>(needs.registers, 1) * 32, 256);
    const auto by_registers = 16384 / each * 4;
    const std::string registers_text =
        "4 * floor(16384 registers / roundup(32 * " + number(needs.registers) + ", 256)) = " + number(by_registers);
    Limits found;
    const auto most = static_cast<unsigned>(limits->warps);
    if (needs.group_items == 0) {
        found.add(limits->warps, "hardware", number(limits->warps));
        found.add(by_registers, "registers", registers_text);
        return found.result(most, "warps per SM");
    }
    const auto warps = round_up(static_cast<std::int64_t>(needs.group_items), 32) / 32;
    const auto whole_groups = [&](std::int64_t limit) { return limit / warps * warps; };
    found.add(
        whole_groups(limits->warps), "hardware",
        number(limits->warps) + " in whole groups of " + number(warps) + " = " + number(whole_groups(limits->warps)));
    found.add(limits->groups * warps, "work-group size",
              number(limits->groups) + " groups * " + number(warps) + " = " + number(limits->groups * warps));
    found.add(whole_groups(by_registers), "registers",
              registers_text + ", in whole groups " + number(whole_groups(by_registers)));
    if (needs.local_bytes > 0) {
        const auto groups = limits->shared_bytes / (round_up(needs.local_bytes, 128) + limits->reserved);
        found.add(groups * warps, "local memory",
                  "floor(" + number(limits->shared_bytes) + " byte / (roundup(" + number(needs.local_bytes) +
                      ", 128) + " + number(limits->reserved) + ")) * " + number(warps) + " = " +
                      number(groups * warps));
    }
    return found.result(most, "warps per SM");
}

}  // namespace cllab::inspect

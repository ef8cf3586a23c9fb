#include "inspect/isa/nvidia.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "inspect/binary/nvidia.hpp"
#include "inspect/code/analysis.hpp"

namespace cllab::inspect::nvidia {
namespace {

struct Limits {
    int sm;
    std::int64_t warps, groups, shared_bytes, reserved;
};

constexpr std::array<Limits, 14> table{{
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

void add_facts(Analysis& a, nlohmann::json& facts, const PtxasFacts& from, const FactsRequest& request,
               const std::string& origin) {
    set_fact(a.info, "registers", from.registers, origin + ", per work-item");
    set_fact(a.info, "spills", from.spill_store_bytes, origin + ", bytes of spill stores per work-item");
    set_local_bytes(a.info, from.shared_bytes, request, origin);
    set_fact(a.info, "private_bytes", from.stack_bytes, origin + ", stack frame per work-item");
    if (from.spill_load_bytes) facts["spill_load_bytes"] = *from.spill_load_bytes;
    if (from.barriers) facts["barriers"] = *from.barriers;
}

}  // namespace

void read_facts(Analysis& a, nlohmann::json& facts, const FactsRequest& request) {
    const PtxasFacts driver = parse_ptxas_log(request.build_log, request.entry);
    const PtxasFacts here = parse_ptxas_log(a.disassembly.tool_log, request.entry);
    if (!driver.empty())
        add_facts(a, facts, driver, request, "driver's ptxas verbose log");
    else if (a.kind == Kind::cubin)
        add_facts(a, facts, read_cubin(request.binary, request.entry), request, "cubin .nv.info");
    else if (!here.empty())
        add_facts(a, facts, here, request, "ptxas -v of this machine, may differ from the driver's");
    const int sm = !request.target.empty() ? ptx_target(".target " + request.target)
                   : a.kind == Kind::ptx   ? ptx_target(ptx_text(request.binary))
                                           : 0;
    if (sm == 0) return;
    const std::string processor = "sm_" + std::to_string(sm);
    facts["processor"] = processor;
    if (a.info.registers)
        add_occupancy(facts, occupancy(processor, {*a.info.registers, 0, a.info.local_bytes.value_or(0), 32,
                                                   request.group_items}));
}

std::optional<Occupancy> occupancy(const std::string& processor, const KernelNeeds& needs) {
    const int sm = ptx_target(".target " + processor);
    const auto limits = std::ranges::find_if(table, [&](const Limits& l) { return l.sm == sm; });
    if (limits == table.end()) return std::nullopt;
    // Registers: four partitions of 16384, given out to a warp in lots of 256.
    const auto each = round_up(std::max<std::int64_t>(needs.registers, 1) * 32, 256);
    const auto by_registers = 16384 / each * 4;
    const auto registers_text =
        fmt::format("4 * floor(16384 registers / roundup(32 * {}, 256)) = {}", needs.registers, by_registers);
    OccupancyLimits found;
    const auto most = static_cast<unsigned>(limits->warps);
    if (needs.group_items == 0) {
        found.add(limits->warps, "hardware", "{}", limits->warps);
        found.add(by_registers, "registers", "{}", registers_text);
        return found.result(most, "warps per SM");
    }
    const auto warps = round_up(static_cast<std::int64_t>(needs.group_items), 32) / 32;
    const auto whole_groups = [&](std::int64_t limit) { return limit / warps * warps; };
    found.add(whole_groups(limits->warps), "hardware", "{} in whole groups of {} = {}", limits->warps, warps,
              whole_groups(limits->warps));
    found.add(limits->groups * warps, "work-group size", "{} groups * {} = {}", limits->groups, warps,
              limits->groups * warps);
    found.add(whole_groups(by_registers), "registers", "{}, in whole groups {}", registers_text,
              whole_groups(by_registers));
    if (needs.local_bytes > 0) {
        const auto groups = limits->shared_bytes / (round_up(needs.local_bytes, 128) + limits->reserved);
        found.add(groups * warps, "local memory", "floor({} byte / (roundup({}, 128) + {})) * {} = {}",
                  limits->shared_bytes, needs.local_bytes, limits->reserved, warps, groups * warps);
    }
    return found.result(most, "warps per SM");
}

}  // namespace cllab::inspect::nvidia

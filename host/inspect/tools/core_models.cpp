#include "inspect/tools/core_models.hpp"

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>
#include <set>

#include "inspect/isa/isa.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::inspect {
namespace {

using model::CoreModels;

/// Those whose models refuse what the processor has not; Haswell's takes AVX-512, too. Some are the model of another in
/// older LLVM, and some are not known there: what is the same counts once.
constexpr const char* modelled[] = {"skylake", "skylake-avx512", "icelake-server", "sapphirerapids",
                                    "znver1",  "znver2",         "znver3",         "znver4"};

std::span<const Instruction> instructions_of(const Analysis& analysis, const model::HotBlock& block) {
    for (const auto& stats : analysis.counts) {
        if (stats.isa != &isa::x86 || stats.code.name != block.function) continue;
        const auto& code = stats.code.instructions;
        const auto from = [&](std::uint64_t address) {
            return std::ranges::find_if(code, [=](const auto& i) { return i.address >= address; });
        };
        if (const auto first = from(block.begin), end = from(block.end); first < end) return {first, end};
    }
    return {};
}

}  // namespace

std::optional<std::string> assembly_of(std::span<const Instruction> block) {
    std::string out = ".intel_syntax noprefix\n.Lblock:\n";
    for (const auto& i : block) {
        const bool moves_string =
            i.operands.find("es:[") != std::string::npos || i.operands.find("ds:[rsi]") != std::string::npos;
        if (isa::x86.is_call(i) || moves_string) return std::nullopt;
        // Padding, and what objdump makes of its prefixes, is nothing that runs.
        if (i.mnemonic.starts_with("nop") || i.mnemonic == "data16" || i.mnemonic == "cs") continue;
        const bool jumps = (i.flow == Flow::branch || i.flow == Flow::jump) && !i.targets.empty();
        out += (i.locked ? "lock " : "") + (jumps ? i.mnemonic + " .Lblock" : i.text) + "\n";
    }
    return out;
}

std::optional<ModelSaid> read_model(const std::string& processor, const std::string& json) {
    const auto j = nlohmann::json::parse(json, nullptr, false);
    try {
        const auto& summary = j.at("CodeRegions").at(0).at("SummaryView");
        const double iterations = summary.at("Iterations"), ports = summary.at("BlockRThroughput"),
                     cycles = summary.at("TotalCycles");
        if (!(iterations > 0) || !(ports > 0) || !(cycles > 0)) return std::nullopt;
        return ModelSaid{{processor, ports, cycles / iterations}, j.at("TargetInfo").at("Resources").dump()};
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
}

CoreModels core_models(const Analysis& analysis, const model::Hot& hot) {
    CoreModels out;
    const auto none = [&](std::string reason) {
        out.reason = std::move(reason);
        return out;
    };
    const auto* block = hot.hottest();
    if (!block || hot.evidence != model::Hot::sampled) return none("which code runs is not known");
    const auto block_code = instructions_of(analysis, *block);
    if (block_code.empty()) return none("it is not x86 code");
    const auto assembly = assembly_of(block_code);
    if (!assembly) return none("the hot block calls functions or moves a string");
    const auto tool = find_tool(llvm_names("llvm-mca"));
    if (!tool) return none("llvm-mca is not installed; Debian's package llvm has it");
    const TempFolder folder;
    const auto file = folder.write("block.s", as_bytes(*assembly));
    // Enough passes that the first ones, which find the processor empty, are one in a hundred.
    const auto ask = [&](const char* processor) {
        return run_tool(*tool, {"--mtriple=x86_64", std::string("--mcpu=") + processor, "--iterations=500",
                                "--instruction-info=0", "--resource-pressure=0", "--json", file.string()});
    };
    std::vector<std::future<ToolResult>> asked;
    for (const char* processor : modelled) asked.push_back(std::async(std::launch::async, ask, processor));
    std::set<std::string> known;
    std::string trouble;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const auto answer = asked[i].get();
        if (answer.err.find("is not a recognized processor") != std::string::npos) continue;
        // An instruction that is not read is left out of the block, and one that a model does not know ends it.
        const auto said = answer.ok() && answer.err.find("error:") == std::string::npos
                              ? read_model(modelled[i], answer.out)
                              : std::nullopt;
        if (!said)
            trouble = answer.failure();
        else if (known.insert(said->resources).second)
            out.processors.push_back(said->model);
    }
    out.by = tool->filename().string();
    return out.processors.empty() ? none("none of its models takes the hot block: " + out.by + " " + trouble) : out;
}

}  // namespace cllab::inspect

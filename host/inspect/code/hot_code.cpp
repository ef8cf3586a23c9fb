#include "inspect/code/hot_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/text.hpp"
#include "inspect/binary/binary.hpp"
#include "inspect/binary/cpu_code.hpp"
#include "inspect/code/analysis.hpp"
#include "inspect/code/code.hpp"
#include "inspect/isa/isa.hpp"
#include "json/read.hpp"
#include "json/write_fields.hpp"

namespace cllab::inspect {
namespace {

using model::Hot;

constexpr double least_share = 0.005;  // minimum for a block to be reported

/// The last element of a sorted list that begins at or before `place`; nullptr if all begin after it.
template <typename T, typename Place>
const T* last_from(const std::vector<T>& sorted, const Place& place, Place T::*begin) {
    const auto behind = std::ranges::upper_bound(sorted, place, {}, begin);
    return behind == sorted.begin() ? nullptr : &*std::prev(behind);
}

// --- The kernel's machine code in memory -----------------------------------------------------------------------------

/// The section with the kernel's function, and the function's place in it.
struct Code {
    std::uint64_t address = 0;  ///< of the section, as in the listing
    ByteSpan section;
    std::uint64_t function = 0, size = 0;  ///< offset of the function in the section, and its bytes
    std::vector<bool> known;               ///< bytes of the function that do not depend on its address
    std::vector<std::pair<std::uint64_t, std::string>> symbols;  ///< functions by address
    const Listing* listing = nullptr;
};

constexpr std::uint16_t et_rel = 1;
constexpr std::uint32_t sht_progbits = 1, sht_rela = 4;

/// A linker overwrites the bytes that relocations name.
void forget_relocated(const Elf& elf, std::size_t section, Code& code) {
    for (const auto& relocations : elf.sections) {
        if (relocations.type != sht_rela || relocations.info != section) continue;
        for (std::uint64_t at = 0; at + 24 <= relocations.data.size(); at += 24) {
            const auto offset = *load<std::uint64_t>(relocations.data, at);
            const auto type = *load<std::uint32_t>(relocations.data, at + 8);
            const std::uint64_t bytes = type == 1 /* R_X86_64_64 */ ? 8 : 4;
            for (auto i = offset; i < offset + bytes; ++i)
                if (i >= code.function && i < code.function + code.size) code.known[i - code.function] = false;
        }
    }
}

std::optional<Code> code_in(ByteSpan file, const std::string& function) {
    const auto elf = read_elf(file);
    const ElfSymbol* symbol = elf ? elf->symbol(function) : nullptr;
    if (!symbol || symbol->size == 0) return std::nullopt;
    // Not by the section's name: Intel's CPU runtime has .ltext, and -ffunction-sections names one per function.
    if (symbol->section >= elf->sections.size()) return std::nullopt;
    const auto& section = elf->sections[symbol->section];
    const std::uint64_t start = elf->type == et_rel ? 0 : section.address;
    if (section.type != sht_progbits || symbol->value < start ||
        !slice(section.data, symbol->value - start, symbol->size))
        return std::nullopt;
    Code code{start, section.data, symbol->value - start, symbol->size, std::vector<bool>(symbol->size, true), {}};
    forget_relocated(*elf, symbol->section, code);
    for (const auto& s : elf->symbols)
        if (!s.name.empty() && s.section == symbol->section && s.value >= start &&
            s.value < start + section.data.size())
            code.symbols.emplace_back(s.value, s.name);
    std::ranges::sort(code.symbols);
    return code;
}

/// Offsets in `memory` at which the function is found.
std::vector<std::uint64_t> places_of(const Code& code, ByteSpan memory) {
    const auto function = code.section.subspan(code.function, code.size);
    // Searches for the longest stretch without a relocation, then compares the rest there.
    std::size_t best = 0, length = 0;
    for (std::size_t i = 0, begin = 0; i <= function.size(); ++i) {
        if (i < function.size() && code.known[i]) continue;
        if (i - begin > length) best = begin, length = i - begin;
        begin = i + 1;
    }
    std::vector<std::uint64_t> out;
    if (length < 8) return out;
    const auto anchor = function.subspan(best, length);
    const std::boyer_moore_horspool_searcher searcher(anchor.begin(), anchor.end());
    for (auto at = memory.begin(); (at = std::search(at, memory.end(), searcher)) != memory.end(); ++at) {
        const auto offset = static_cast<std::uint64_t>(at - memory.begin());
        if (offset < best) continue;
        const auto there = slice(memory, offset - best, code.size);
        if (!there) continue;
        bool same = true;
        for (std::size_t i = 0; same && i < code.size; ++i) same = !code.known[i] || (*there)[i] == function[i];
        if (same) out.push_back(offset - best);
    }
    return out;
}

const CodeRegion* region_of(const std::vector<CodeRegion>& regions, std::uint64_t address) {
    const auto* region = last_from(regions, address, &CodeRegion::address);
    return region && address - region->address < region->bytes.size() ? region : nullptr;
}

std::string place_name(const CodeRegion* region) {
    if (!region) return "memory that is not mapped any more";
    if (region->path.empty()) return "generated code";
    return region->path.substr(region->path.rfind('/') + 1);
}

// --- Blocks ----------------------------------------------------------------------------------------------------------

/// One function of the listing with the samples, or the executed instructions, of its blocks.
class Tally {
public:
    Tally(const InstructionSet& isa, Function function)
        : isa_(isa), function_(std::move(function)), graph_(analyse_flow(function_)), hits_(graph_.blocks.size(), 0) {}

    /// False: the address is not in the function.
    bool add(std::uint64_t address, std::uint64_t times = 1) {
        const auto* instruction = last_from(function_.instructions, address, &Instruction::address);
        if (!instruction || address >= end_of(*instruction)) return false;
        const auto index = static_cast<std::size_t>(instruction - function_.instructions.data());
        const auto* block = last_from(graph_.blocks, index, &Block::first);
        hits_[static_cast<std::size_t>(block - graph_.blocks.data())] += times;
        return true;
    }

    /// `all`: hits of all functions.
    void report(std::uint64_t all, Hot& out) const {
        std::vector<model::HotLoop> loops(graph_.loops.size());
        std::set<std::size_t> named;
        for (std::size_t b = 0; b < graph_.blocks.size(); ++b) {
            const auto& around = graph_.blocks[b].loops;
            auto hot = counted_block(isa_, function_, graph_, graph_.blocks[b]);
            hot.share = static_cast<double>(hits_[b]) / static_cast<double>(all);
            for (const auto k : around) loops[k].share += hot.share;
            if (!around.empty()) {
                loops[around.back()].own += hot.share;
                loops[around.back()].instructions += hot.instructions;
            }
            if (hot.share < least_share) continue;
            if (out.evidence == Hot::counted)
                hot.executed = hits_[b];
            else
                hot.samples = static_cast<unsigned>(hits_[b]);
            named.insert(around.begin(), around.end());
            out.blocks.push_back(std::move(hot));
        }
        for (const auto k : named) {
            loops[k].function = function_.name;
            loops[k].header = function_.instructions[graph_.blocks[graph_.loops[k].header].first].address;
            loops[k].depth = graph_.loops[k].depth;
            out.loops.push_back(loops[k]);
        }
    }

private:
    const InstructionSet& isa_;
    Function function_;
    FlowGraph graph_;
    std::vector<std::uint64_t> hits_;
};

/// The available machine code of the first listing that has some.
std::optional<Code> host_code(const Analysis& analysis) {
    for (const auto& listing : analysis.disassembly.listings) {
        if (!listing.isa || !listing.isa->parse || listing.text.empty()) continue;
        for (const auto& part : analysis.disassembly.parts)
            if (auto code = code_in(as_bytes(part.bytes), listing.function)) {
                code->listing = &listing;
                return code;
            }
    }
    return std::nullopt;
}

std::vector<Tally> tallies_of(const InstructionSet& isa, std::string_view listing) {
    std::vector<Tally> out;
    for (auto& function : isa.parse(listing)) out.emplace_back(isa, std::move(function));
    return out;
}

/// The shares of `all` hits, largest first.
Hot reported(Hot hot, const char* evidence, const std::vector<Tally>& tallies, std::uint64_t all) {
    hot.evidence = evidence;
    for (const auto& tally : tallies) tally.report(all, hot);
    std::ranges::stable_sort(hot.blocks, [](const auto& a, const auto& b) { return a.share > b.share; });
    std::ranges::stable_sort(hot.loops, [](const auto& a, const auto& b) { return a.own > b.own; });
    return hot;
}

/// "63.2 % of the kernel's samples, "; empty if the code is accounted for without shares.
std::string share_of(const Hot& hot, const model::HotBlock& block) {
    return block.share > 0 ? fmt::format("{:.1f} % of {}, ", 100 * block.share, model::what_is_shared(hot))
                           : std::string();
}

std::string place(const model::HotBlock& block) {
    std::string text = fmt::format("0x{:x}..0x{:x}", block.begin, block.end);
    if (block.loops.empty()) return text + ", in no loop";
    text += block.loops.size() > 1 ? ", in the loops at" : ", in the loop at";
    for (const auto header : block.loops) text += fmt::format(" 0x{:x}", header);
    return text;
}

}  // namespace

bool runs_on_the_host(Kind kind) { return kind == Kind::poclbin || kind == Kind::intel_cpu || kind == Kind::host_elf; }

SampledObject sampled_pocl_code(ByteSpan binary, const std::string& entry, const AddressSamples& samples) {
    std::map<const CodeRegion*, unsigned> hits;
    for (const auto address : samples.addresses)
        if (const auto* region = region_of(samples.regions, address);
            region && region->path.ends_with("/" + entry + ".so"))
            ++hits[region];
    SampledObject best;
    if (hits.empty()) return best;
    std::vector<std::string> loaded;
    for (const auto& [region, count] : hits) loaded.push_back(region->path);
    const auto container = with_loaded(read_poclbin(binary), loaded);
    for (const auto& file : container.entries)
        for (const auto& [region, count] : hits)
            if (count > best.samples && file.path.starts_with("/" + entry + "/") && region->path.ends_with(file.path))
                best = {file.path, count};
    return best;
}

Hot hot_code(const Analysis& analysis, const AddressSamples& samples) {
    Hot out;
    out.method = samples.method;
    out.samples = static_cast<unsigned>(samples.addresses.size());
    if (!samples.refused.empty()) return unknown(out, samples.refused);
    const auto code = host_code(analysis);
    if (!code) return unknown(out, "there is no disassembly to match the sampled addresses with");
    out.code = code->listing->title;

    // Addresses at which the function's section begins, one per place where it is loaded.
    std::vector<std::uint64_t> bases;
    std::set<const CodeRegion*> sampled;
    for (const auto address : samples.addresses)
        if (const auto* region = region_of(samples.regions, address)) sampled.insert(region);
    for (const auto* region : sampled)
        for (const auto at : places_of(*code, region->bytes)) bases.push_back(region->address + at - code->function);

    auto tallies = tallies_of(*code->listing->isa, code->listing->text);
    for (const auto address : samples.addresses) {
        const auto base =
            std::ranges::find_if(bases, [&](auto b) { return address >= b && address - b < code->section.size(); });
        if (base == bases.end()) {
            ++out.elsewhere[place_name(region_of(samples.regions, address))];
            continue;
        }
        const auto at = address - *base + code->address;
        if (std::ranges::any_of(tallies, [&](auto& tally) { return tally.add(at); })) {
            ++out.in_kernel;
            continue;
        }
        const auto* symbol = last_from(code->symbols, at, &std::pair<std::uint64_t, std::string>::first);
        ++out.elsewhere[symbol ? symbol->second : "the kernel's file"];
    }
    if (bases.empty())
        return unknown(out, concat("none of the ", out.samples,
                                   " samples lies in code that is equal to the disassembled function"));
    if (out.in_kernel < least_samples)
        return unknown(out, concat(out.in_kernel, " of ", out.samples, " samples lie in the kernel; fewer than ",
                                   least_samples, " say nothing"));
    return reported(out, Hot::sampled, tallies, out.in_kernel);
}

Hot hot_code(const ExecutedCode& code) {
    Hot out;
    out.method = code.method;
    out.code = code.title;
    if (code.isa == nullptr || code.instructions.empty()) return unknown(out, "no instruction was counted");
    auto tallies = tallies_of(*code.isa, code.listing);
    for (const auto& [address, times] : code.instructions)
        if (std::ranges::any_of(tallies, [&, at = address, n = times](auto& tally) { return tally.add(at, n); }))
            out.executed += times;
    if (out.executed == 0) return unknown(out, "none of its instructions was executed");
    return reported(out, Hot::counted, tallies, out.executed);
}

// Text about the code that ran: in the listing, in stats.json and in the summary.

std::string hot_summary(const Hot& hot) {
    std::string text =
        "hot: " + model::statement(hot) + (hot.known() && !hot.method.empty() ? " by " + hot.method : "") + "\n";
    for (const auto& block : hot.blocks)
        text += concat("  ", share_of(hot, block), place(block), ": ", block.instructions,
                       " instructions: ", listed(block.classes),
                       block.memory.empty() ? "" : "; " + listed(block.memory), "\n");
    return text;
}

std::string marked_isa_text(const Analysis& analysis, const Hot& hot) {
    const auto text = isa_text(analysis), about = hot_summary(hot);
    std::string out, function;
    bool head = true;
    for (const auto line : lines_of(text)) {
        // After the lines about the code as a whole.
        if (head && !line.starts_with("//")) {
            for (const auto said : lines_of(about)) out += "// " + std::string(said) + "\n";
            head = false;
        }
        if (const auto name = function_header(line); !name.empty()) function = name;
        const auto address = line.starts_with("//") ? std::nullopt : listed_address(line);
        for (const auto& block : hot.blocks)
            if (address == block.begin && block.function == function)
                out += "// hot: " + share_of(hot, block) + place(block) + "\n";
        out.append(line).append("\n");
    }
    return out;
}

std::string marked_stats(const Analysis& analysis, const Hot& hot) {
    auto stats = parse_json<nlohmann::json>(analysis.stats);
    stats["hot"] = fields_json<nlohmann::json>(hot);
    stats["summary"] = stats.value("summary", "") + hot_summary(hot);
    return json_text(stats, 2) + "\n";
}

}  // namespace cllab::inspect

#include "inspect/code/hot_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

namespace {

constexpr double tolerance = 0.02;

bool about(double a, double b) { return std::abs(a - b) <= tolerance * b; }

/// A loop's own body, or the code outside all loops.
struct Candidate {
    std::vector<std::size_t> blocks;
    double stored = 0, loaded = 0, multiply_adds = 0;
    unsigned instructions = 0;
    bool countable = true;  ///< every access has a width

    void add(const InstructionSet& isa, const Instruction& i) {
        using What = model::Declared::What;
        ++instructions;
        for (const auto& access : isa.classify(i).memory)
            countable = countable && !access.ends_with("_indexed") && !access.ends_with("_unsized") &&
                        access.find("atomic") == std::string::npos;
        stored += elements_of(isa, i, {What::store, 1, 8});
        loaded += elements_of(isa, i, {What::load, 1, 8});
        multiply_adds += elements_of(isa, i, {What::multiply_add, 1, 32});
    }

    /// How often a work-item executes it; nullopt if it does not account for the declared work.
    std::optional<double> passes(const DeclaredPerItem& d, bool once) const {
        const bool computes = d.multiply_adds > 0;
        if (blocks.empty() || !countable || (computes ? multiply_adds <= 0 : stored <= 0 || d.stored <= 0))
            return std::nullopt;
        const double times = once ? 1 : computes ? d.multiply_adds / multiply_adds : d.stored / stored;
        if (times < 1 - tolerance || !about(times, std::round(times))) return std::nullopt;
        if (computes && !about(times * multiply_adds, d.multiply_adds)) return std::nullopt;
        if (stored > 0 && !about(times * stored, d.stored)) return std::nullopt;
        if (!computes && times * loaded < (1 - tolerance) * d.loaded) return std::nullopt;
        return times;
    }
};

/// Convergence barriers hide jumps only in some functions of SASS.
bool loops_are_known(const FunctionStats& stats, const FlowGraph& graph) {
    const auto& isa = *stats.isa;
    const auto seen = isa.registers ? isa.registers->jumps_are_seen : nullptr;
    const bool all_are_seen = !isa.hides_jumps || (seen && seen(stats.code));
    const auto goes_nowhere = [](const Instruction& i) {
        return (i.flow == Flow::branch || i.flow == Flow::jump) && i.targets.empty();
    };
    return all_are_seen && graph.irreducible_edges == 0 && std::ranges::none_of(stats.code.instructions, goes_nowhere);
}

bool encloses(const FlowGraph& graph, std::size_t outer, std::size_t inner) {
    for (int at = graph.loops[inner].parent; at >= 0; at = graph.loops[static_cast<std::size_t>(at)].parent)
        if (static_cast<std::size_t>(at) == outer) return true;
    return false;
}

}  // namespace

model::Hot account(const Analysis& analysis, const DeclaredPerItem& declared) {
    model::Hot out;
    const auto* stats = analysis.best();
    if (!stats) return unknown(out, "there is no disassembly to count");
    for (std::size_t i = 0; i < analysis.counts.size(); ++i)
        if (&analysis.counts[i] == stats) out.code = analysis.disassembly.listings[i].title;
    const auto& isa = *stats->isa;
    const auto& code = stats->code.instructions;
    const auto graph = analyse_flow(stats->code);
    if (isa.global_spaces.empty())
        return unknown(out, "the device has one memory, so local accesses look like any other");
    if (!loops_are_known(*stats, graph)) return unknown(out, "not all of its loops are known");
    if (std::ranges::any_of(code, [&](const auto& i) { return isa.is_call && isa.is_call(i); }))
        return unknown(out, "it calls functions");

    std::vector<Candidate> candidates(graph.loops.size() + 1);  // the last one: code outside all loops
    for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
        const auto& block = graph.blocks[b];
        auto& candidate = block.loops.empty() ? candidates.back() : candidates[block.loops.back()];
        candidate.blocks.push_back(b);
        for (auto i = block.first; i < block.end; ++i) candidate.add(isa, code[i]);
    }
    // Work elsewhere may be an alternative, such as a scalar loop for the edge.
    const auto does_all = [&](std::size_t k) {
        const auto amount = [&](std::size_t c) {
            return declared.multiply_adds > 0 ? candidates[c].multiply_adds : candidates[c].stored;
        };
        const double little = tolerance * (declared.multiply_adds > 0 ? declared.multiply_adds : declared.stored);
        for (std::size_t other = 0; other < candidates.size(); ++other)
            if (other != k && amount(other) > (other == graph.loops.size() ? little : 0)) return false;
        return true;
    };
    const auto straight = graph.loops.size();
    std::size_t found = candidates.size();
    double passes = 0;
    for (std::size_t k = 0; k < candidates.size(); ++k)
        if (const auto times = candidates[k].passes(declared, k == straight); times && does_all(k))
            found = k, passes = *times;
    if (found == candidates.size()) return unknown(out, "no single loop or path accounts for the declared work");
    // The other code may still run longer: a loop that reads what other code stores, or much code before a short loop.
    // How often another loop runs is not known, but a loop around this one runs no more often than this one.
    const auto& hottest = candidates[found];
    for (std::size_t other = 0; other < straight; ++other) {
        if (other == found || candidates[other].instructions == 0) continue;
        if (found == straight || !encloses(graph, other, found) ||
            candidates[other].instructions > hottest.instructions)
            return unknown(out, "the trip counts of its other loops are not known");
    }
    if (found != straight && passes * hottest.instructions < candidates[straight].instructions)
        return unknown(out,
                       "the loop with the declared work executes fewer instructions than the code outside all loops");
    out.evidence = model::Hot::accounted;
    for (const auto b : candidates[found].blocks) {
        auto block = counted_block(isa, stats->code, graph, graph.blocks[b]);
        if (block.instructions > 0) out.blocks.push_back(std::move(block));
    }
    return out;
}

std::optional<DeclaredBytes> declared_bytes(const model::Setup& setup) {
    for (const auto& argument : setup.args)
        if (std::holds_alternative<model::InOut>(argument)) return std::nullopt;
    return declared_in_place(setup);
}

std::optional<DeclaredBytes> declared_in_place(const model::Setup& setup) {
    DeclaredBytes out{0, setup.work.bytes};
    if (setup.slope || !setup.steps.empty()) return std::nullopt;
    double changed = 0, read = 0;
    for (const auto& argument : setup.args) {
        if (const auto* output = std::get_if<model::Output>(&argument))
            out.stored += static_cast<double>(output->size_bytes);
        else if (const auto* in_place = std::get_if<model::InOut>(&argument))
            changed += static_cast<double>(in_place->data.size());
        else if (const auto* input = std::get_if<model::Input>(&argument))
            read += static_cast<double>(input->data.size());
        else if (!std::holds_alternative<model::Value>(argument) && !std::holds_alternative<model::Local>(argument))
            return std::nullopt;
    }
    out.stored = setup.work.stored > 0 ? setup.work.stored : out.stored + changed;
    return changed == 0 || about(out.moved, read + changed + out.stored) ? std::optional(out) : std::nullopt;
}

model::Hot account(const Analysis& analysis, const model::Setup& setup) {
    const auto declared = declared_bytes(setup);
    if (!declared || setup.global.dims == 0) return model::unknown({}, "its stores are not declared");
    const auto items = static_cast<double>(setup.global.count());
    return account(analysis, {declared->stored / items, (declared->moved - declared->stored) / items,
                              setup.work.flops / 2 / items});
}

std::optional<double> executions(const model::HotBlock& block, const DeclaredBytes& declared) {
    constexpr double alone = 0.9;
    const auto per_byte = block.per_stored_byte(), loaded = model::bytes_of(block.memory, "load");
    if (block.share < alone || !per_byte || block.elements.contains(model::HotBlock::part_store) || !loaded ||
        declared.stored <= 0)
        return std::nullopt;
    const double times = declared.stored * *per_byte / block.instructions;
    if (times * *loaded < (1 - tolerance) * (declared.moved - declared.stored)) return std::nullopt;
    return times;
}

std::optional<double> least_instructions(const model::Hot& hot, const DeclaredBytes& declared) {
    model::HotBlock cheapest;
    double share = 0, fewest = HUGE_VAL;
    for (const auto& block : hot.blocks) {
        share += block.share;
        if (model::bytes_of(block.memory, "store") == 0.0 && !block.elements.contains(model::HotBlock::uncounted))
            continue;
        const auto each = block.per_stored_byte();
        if (!each) return std::nullopt;
        if (*each < fewest) fewest = *each, cheapest = block;
    }
    cheapest.share = share;
    const auto times = executions(cheapest, declared);
    return times ? std::optional(*times * cheapest.instructions) : std::nullopt;
}

}  // namespace cllab::inspect

// Source, loops and counts for the page, read from the dumps of its records.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "app/code/isa_code.hpp"
#include "app/screen/results.hpp"
#include "core/error.hpp"
#include "core/kernel_text.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "inspect/code/code.hpp"
#include "inspect/isa/isa.hpp"
#include "inspect/tools/source_lines.hpp"
#include "model/result.hpp"
#include "report/records/json.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;
using namespace report::html;

constexpr std::uintmax_t most_file_bytes = 16 << 20;
constexpr std::size_t most_lines = 250, most_whole_lines = 1000, most_source_lines = 150, most_text = 600'000,
                      most_beside = 4, most_absent = 200;

/// Why the code in the dump's folder cannot be shown for this record; empty when it can.
std::string absence(const model::Record& record) {
    if (record.status == model::Status::build_failed) return "No code: it was not built.";
    if (record.dump.empty()) return "No code: the run wrote no dump.";
    const fs::path folder(record.dump);
    if (!read_plain(folder / "isa.txt") || !read_plain(folder / "stats.json"))
        return "No code: the dumps in " + fs::path(record.dump).parent_path().string() + " are not readable from here.";
    const auto timing = read_plain(folder / "timing.json");
    if (!timing) return "";
    try {
        const auto there = report::from_json(*timing);
        if (there.id == record.id && there.utc == record.utc && there.run.id == record.run.id &&
            there.point == record.point)
            return "";
        // For equal code, the record's facts and its sampled addresses apply.
        if (there.id == record.id && !record.code.fingerprint.empty() &&
            there.code.fingerprint == record.code.fingerprint &&
            there.build.source_sha256 == record.build.source_sha256)
            return "";
    } catch (const Error&) {
    }
    return "No code: the dump's folder now holds the code of another run.";
}

/// The range of the record's kernel, with the comment above it, in the compiled text; {0, 0} if not found.
std::pair<std::size_t, std::size_t> kernel_in(const std::string& source, const model::Record& record) {
    const auto kernels = kernels_in(source);
    auto kernel = std::ranges::find(kernels, record.id, &KernelText::name);
    if (kernel == kernels.end()) kernel = std::ranges::find(kernels, record.variant, &KernelText::name);  // a user's
    if (kernel == kernels.end()) return {0, 0};
    const auto line_at = [&](std::size_t end) { return end == 0 ? 0 : source.rfind('\n', end - 1) + 1; };
    auto first = line_at(kernel->body);
    while (first > 0) {
        const auto above = line_at(first - 1);
        const auto line = source.substr(above, first - 1 - above);
        if (trim(line).empty() || line.starts_with('#') || line == "}") break;
        first = above;
    }
    return {first, kernel->end};
}

/// Numbers of lines that have instructions, by place.
using Numbers = std::map<std::string, std::size_t>;

Numbers numbers_of(const CellCode& cell) {
    Numbers out;
    for (const auto& [address, place] : cell.places)
        if (!place.empty()) out.emplace(place, out.size() + 1);
    return out;
}

std::size_t number_in(const Numbers& numbers, const std::string& place) {
    const auto found = numbers.find(place);
    return found == numbers.end() ? 0 : found->second;
}

/// The kernel's lines, followed by the lines of other functions that have instructions in it.
void fill_source(Code& code, const std::string& source, const model::Record& record, const CellCode& cell,
                 const Numbers& numbers) {
    const auto [first, end] = kernel_in(source, record);
    auto lines = split(source.substr(first, end - first), '\n');
    if (first == end) lines.clear();
    const auto all = lines.size();
    if (all > most_source_lines) {
        lines.resize(most_source_lines);
        lines.emplace_back("…");
    }
    if (!numbers.empty()) {
        const auto head = source.substr(0, first);
        const auto skipped = static_cast<std::size_t>(std::ranges::count(head, '\n'));
        const auto number_at = [&](std::size_t i) {
            return i < cell.source.size() ? number_in(numbers, cell.source[i].first) : 0;
        };
        for (std::size_t i = 0; i < lines.size(); ++i) code.source_numbers.push_back(number_at(skipped + i));
        bool is_first = true;
        for (std::size_t i = 0; i < cell.source.size() && lines.size() < 2 * most_source_lines; ++i) {
            if (number_at(i) == 0 || (i >= skipped && i < skipped + all)) continue;
            if (std::exchange(is_first, false) && all > 0) {
                lines.insert(lines.end(), {"", "// Instructions are also of these lines:"});
                code.source_numbers.insert(code.source_numbers.end(), 2, 0);
            }
            lines.push_back(cell.source[i].second);
            code.source_numbers.push_back(number_at(i));
        }
    }
    code.source = lines.empty() ? "" : join(lines, "\n") + "\n";
}

std::vector<std::pair<std::string, unsigned>> by_count(const std::map<std::string, unsigned>& counts) {
    std::vector<std::pair<std::string, unsigned>> out(counts.begin(), counts.end());
    std::ranges::stable_sort(out, [](const auto& a, const auto& b) { return a.second > b.second; });
    return out;
}

/// The part of a cell's code that the page shows.
struct Shown {
    CodePart part;
    std::string evidence{};                          ///< as in Code
    std::map<std::uint64_t, std::string> remarks{};  ///< before the instruction at an address
};

/// The region with the most samples, if there are samples; else the innermost loop with the most work.
Shown shown_of(const CellCode& code) {
    if (auto bodies = hot_bodies(code); !bodies.empty() && !bodies.front().instructions.empty()) {
        auto& hottest = bodies.front();
        const auto share = std::exchange(hottest.region.share, 0);  // the evidence states it, not the place
        const auto percent = [](double part) { return format_significant(100 * part, 3) + " % of "; };
        std::string evidence = "Only this place in the code can do the declared work; nothing was sampled.";
        if (code.hot->evidence == model::Hot::sampled)
            evidence = percent(share) + std::to_string(code.hot->in_kernel) + " sampled addresses lie in " +
                       (hottest.region.like.empty() ? "it." : "them.");
        if (code.hot->evidence == model::Hot::counted)
            evidence = percent(share) + "the instructions that a profiler counted lie in it.";
        std::map<std::uint64_t, std::string> remarks;
        for (const auto* block : hottest.region.blocks)
            if (block->share > 0) remarks[block->begin] = percent(block->share) + model::what_is_shared(*code.hot);
        return {hot_part(std::move(hottest)), evidence, remarks};
    }
    if (code.counts.shown < 0) return {shown_part(code.counts), "The code has no loop."};
    return {shown_part(code.counts),
            "The innermost loop with the most work per iteration; nothing shows whether the time goes there" +
                (code.hot && !code.hot->reason.empty() ? ": " + code.hot->reason + "."
                                                       : ", because no addresses were sampled.")};
}

std::string occupancy_in(const std::string& summary) {
    for (const auto& line : split(summary, '\n'))
        if (line.rfind("occupancy ", 0) == 0) return line.substr(std::string("occupancy ").size());
    return "";
}

/// The class that determines a line's color. An x86 instruction that only moves data to or from memory counts as
/// memory, as a load does in other instruction sets.
std::string shown_class(const inspect::InstructionSet& isa, const inspect::Instruction& instruction) {
    const auto found = isa.classify(instruction);
    const bool moves = instruction.mnemonic.find("mov") != std::string::npos ||
                       instruction.mnemonic.find("broadcast") != std::string::npos;
    return moves && !found.memory.empty() ? found.memory.front() : found.name;
}

void fill(Code& code, const model::Record& record, const CellCode& cell, const Shown& shown) {
    const auto& stats = cell.counts;
    code.occupancy = occupancy_in(cell.summary);
    const auto numbers = numbers_of(cell);
    fill_source(code, read_plain(fs::path(record.dump) / "source.cl").value_or(""), record, cell, numbers);
    code.isa = stats.isa->name;
    code.place = shown.part.place;
    code.evidence = shown.evidence;
    const auto& body = shown.part.body;
    const auto taken = std::min(most_lines, body.size());
    const auto line_of = [&](const inspect::Instruction& instruction) {
        return CodeLine{instruction.text, shown_class(*stats.isa, instruction),
                        number_in(numbers, inspect::place_at(cell.places, instruction.address))};
    };
    for (const auto& instruction : std::span(body).first(taken)) {
        if (const auto remark = shown.remarks.find(instruction.address);
            remark != shown.remarks.end() && shown.remarks.size() > 1)
            code.lines.push_back({remark->second, "", 0});
        code.lines.push_back(line_of(instruction));
    }
    code.lines_left_out = body.size() - taken;
    const auto& function = stats.code.instructions;
    if (!numbers.empty() && function.size() > body.size()) {
        for (const auto& instruction : std::span(function).first(std::min(most_whole_lines, function.size())))
            code.whole.push_back(line_of(instruction));
        code.whole_left_out = function.size() - code.whole.size();
    }
    const auto add = [&](const std::string& place, const inspect::Counts& counts) {
        code.counts.push_back({place, counts.instructions, by_count(counts.classes), by_count(counts.memory)});
    };
    add(shown.part.place, shown.part.counts);
    add("whole kernel", stats.total);
    for (const auto& loop : stats.loops)
        add((loop.innermost ? "innermost loop at " : "loop at ") + loop.header, loop.own);
}

std::size_t size_of(const Code& code) {
    std::size_t out = code.source.size();
    for (const auto& line : code.lines) out += line.text.size() + 40;  // with its markup
    return out;
}

/// Indices of cards, by device and family.
using Families = std::map<std::string, std::vector<std::size_t>>;
/// The shown instructions, by card.
using Loops = std::map<std::size_t, std::vector<inspect::Instruction>>;

/// Aligns the fastest variant with each other one, each variant once. `used`: bytes of text already on the page.
void add_pairs(Page& page, const Families& families, const Loops& loops, std::size_t used) {
    const auto seconds = [&](std::size_t card) {
        const auto& time = page.records[page.code[card].cell].time;
        return time ? time->median : std::numeric_limits<double>::infinity();
    };
    for (const auto& [key, of_family] : families) {
        std::set<std::string> ids;
        std::vector<std::size_t> first;
        for (const auto card : of_family)
            if (ids.insert(page.records[page.code[card].cell].id).second) first.push_back(card);
        std::ranges::stable_sort(first, [&](auto a, auto b) { return seconds(a) < seconds(b); });
        for (std::size_t k = 1; k < std::min(first.size(), most_beside + 1) && used < most_text; ++k) {
            const auto &left = loops.at(first[0]), &right = loops.at(first[k]);
            if (left.size() > most_lines || right.size() > most_lines) continue;
            CodePair pair{page.code[first[0]].cell, page.code[first[k]].cell, {}};
            std::map<std::string, std::string> kinds;  // of instructions, by text
            for (const auto card : {first[0], first[k]})
                for (const auto& line : page.code[card].lines) kinds.emplace(line.text, line.kind);
            for (const auto& line : inspect::align(left, right)) {
                pair.lines.push_back({line.mark, {line.left, kinds[line.left], 0}, {line.right, kinds[line.right], 0}});
                used += line.left.size() + line.right.size() + 60;
            }
            page.pairs.push_back(std::move(pair));
        }
    }
}

}  // namespace

std::optional<std::string> read_plain(const fs::path& path) {
    std::error_code code;
    if (!fs::is_regular_file(path, code) || fs::file_size(path, code) > most_file_bytes || code) return std::nullopt;
    return cllab::read_file(path);
}

void add_code(Page& page) {
    Loops loops;
    std::size_t whole = 0;                                    // bytes of whole functions
    std::map<std::string, std::optional<std::size_t>> cards;  // by device, variant and code; nullopt: no room
    std::map<std::string, std::size_t> absent;                // by device, variant and reason
    Families families;
    std::size_t used = 0, left_out = 0;
    for (std::size_t i = 0; i < page.records.size(); ++i) {
        const auto& record = page.records[i];
        if (record.status == model::Status::unsupported) continue;
        Code code{.cell = i, .absent = absence(record)};
        const auto where = model::device_key(record) + "\n" + record.id + "\n";
        if (!code.absent.empty()) {
            if (absent.size() > most_absent) continue;
            const auto [known, is_new] = absent.emplace(where + code.absent, page.code.size());
            if (is_new) {
                page.code.push_back(std::move(code));
                continue;
            }
            auto& card = page.code[known->second];
            card.same.push_back(i);
            const auto& shown = page.records[card.cell];
            if (record.point == shown.point && record.utc > shown.utc) std::swap(card.cell, card.same.back());
            continue;
        }
        auto cell = code_of(record, "");
        // The listing contains the cell's samples, so it may differ for equal code.
        const auto [known, is_new] =
            cards.emplace(where + (record.code.fingerprint.empty() ? cell.isa : record.code.fingerprint), std::nullopt);
        if (!is_new) {
            if (known->second) page.code[*known->second].same.push_back(i);
            continue;
        }
        if (used > most_text || cards.size() > most_cards) {
            ++left_out;
            continue;
        }
        if (!cell.counts.isa) {
            code.absent = "No instructions: " + one_line(cell.isa);
            page.code.push_back(std::move(code));
            continue;
        }
        auto shown = shown_of(cell);
        fill(code, record, cell, shown);
        used += size_of(code);
        for (const auto& line : code.whole) whole += line.text.size() + 50;  // with its markup
        if (whole > most_text) code.whole.clear();
        known->second = page.code.size();
        families[model::device_key(record) + "\n" + record.family].push_back(page.code.size());
        loops[page.code.size()] = std::move(shown.part.body);
        page.code.push_back(std::move(code));
    }
    if (left_out > 0)
        page.code_left_out = "The code of " + std::to_string(left_out) +
                             " more variants, or forms of them, is in their dumps; a page holds " +
                             std::to_string(most_cards) + ".";
    add_pairs(page, families, loops, used);
}

}  // namespace cllab::app

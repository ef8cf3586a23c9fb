#include "app/code/isa_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <span>

#include "app/choose/request.hpp"
#include "app/code/source_lines.hpp"
#include "app/files/behaviour_file.hpp"
#include "app/processes/runner.hpp"
#include "app/screen/streams.hpp"
#include "core/grouped.hpp"
#include "core/kernel_text.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "inspect/binary/binary.hpp"
#include "inspect/code/hot_code.hpp"
#include "inspect/code/liveness.hpp"
#include "inspect/cuda/replay.hpp"
#include "inspect/isa/isa.hpp"
#include "inspect/tools/disassemble.hpp"
#include "inspect/tools/dump.hpp"
#include "inspect/tools/source_lines.hpp"
#include "inspect/tools/tool.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {
namespace {

void read_source(CellCode& code, const std::filesystem::path& dump) {
    code.places = inspect::lines_in(cllab::read_file(dump / inspect::lines_file).value_or(""));
    if (!code.places.empty())
        code.source = inspect::lines_with_places(cllab::read_file(dump / "source.cl").value_or(""));
}

/// Targets whose registers no installed tool reports, each with the package that does. Returns before it loads a
/// compiler if no target is given: a second LLVM next to a driver's own ends the process.
std::vector<std::string> missing_registers(const std::vector<std::string>& targets) {
    std::vector<std::string> out;
    if (targets.empty()) return out;
    for (const auto& target : inspect::offline_targets())
        if (std::ranges::find(targets, target.name) != targets.end() && target.available() &&
            target.gives.find("registers") == std::string::npos && target.gives.find("metadata") == std::string::npos)
            out.push_back(target.name + ": " + target.gives + " only; " + target.missing);
    return out;
}

}  // namespace

std::string refusal_of(const inspect::Analysis& analysis) {
    for (const auto& listing : analysis.disassembly.listings)
        if (listing.refused) return listing.note;
    return {};
}

std::vector<CellCode> code_of_binary(const std::string& path, const std::string& glob) {
    if (const auto fault = reading_fault(path); !fault.empty())
        throw Error(Blame::usage, "program file '", path, "' cannot be read: ", fault);
    const auto bytes = cllab::read_file(path);
    if (!bytes) throw Error(Blame::usage, "program file '", path, "' cannot be read");
    const auto binary = inspect::as_bytes(*bytes);
    const auto kind = inspect::recognise(binary);
    if (kind == inspect::Kind::empty) throw Error(Blame::usage, "program file '", path, "' is empty");
    if (kind == inspect::Kind::unknown)
        throw Error(Blame::usage, "program file '", path,
                    "' has an unknown format; expected PTX, a cubin, AMD or Intel code, a PoCL container, SPIR-V or "
                    "LLVM bitcode");
    auto names = inspect::kernel_names(binary);
    const auto all = names;
    std::erase_if(names, [&](const auto& name) { return !glob.empty() && !glob_match(glob, name); });
    if (names.empty() && !all.empty())
        throw Error(Blame::usage, "no kernel in '", path, "' matches '", glob, "'; its kernels: ", join(all, ", "));
    if (names.empty()) names.push_back(glob);
    const auto damage = inspect::damage_of(binary);
    std::vector<CellCode> out;
    for (const auto& name : names) {
        const auto analysis = inspect::analyse(binary, name, {}, {});
        CellCode code{name.empty() ? path : path + ":" + name, inspect::describe(kind)};
        code.isa = inspect::isa_text(analysis);
        code.summary = analysis.summary;
        code.stats = analysis.stats;
        code.file = path;
        if (const auto* counts = analysis.best()) code.counts = *counts;
        code.info = analysis.info;
        code.reason = damage.empty() ? refusal_of(analysis) : "it is damaged: " + damage;
        if (!code.reason.empty()) code.status = model::Status::build_failed;
        out.push_back(std::move(code));
    }
    return out;
}

CellCode code_of(const model::Record& record, const std::string& label) {
    CellCode code{record.id + (label.empty() ? "" : " " + label), record.device.name};
    code.status = record.status;
    code.reason = record.reason;
    code.info = record.code;
    code.hot = record.hot;
    if (!record.dump.empty()) {
        auto texts = inspect::read_dump(record.dump);
        code.isa = std::move(texts.isa);
        code.summary = std::move(texts.summary);
        code.stats = cllab::read_file(std::filesystem::path(record.dump) / "stats.json").value_or("");
        code.counts = inspect::count_function(inspect::isa::named(texts.counted_isa), code.isa, texts.function);
        read_source(code, record.dump);
    }
    return code;
}

std::vector<HotBody> hot_bodies(const CellCode& code) {
    std::vector<HotBody> out;
    if (!code.hot || !code.counts.isa) return out;
    const auto functions = code.counts.isa->parse(code.isa);
    for (auto& region : model::hot_regions(*code.hot)) {
        auto& body = out.emplace_back();
        for (const auto& function : functions) {
            if (function.name != region.blocks.front()->function) continue;
            for (const auto& instruction : function.instructions) {
                if (std::ranges::none_of(region.blocks, [&](auto b) {
                        return instruction.address >= b->begin && instruction.address < b->end;
                    }))
                    continue;
                body.instructions.push_back(instruction);
                body.counts.add(*code.counts.isa, instruction);
            }
        }
        body.region = std::move(region);
        // A copy of a hotter loop adds to that loop's share.
        const auto others = std::span(out).first(out.size() - 1);
        const auto hotter = std::ranges::find_if(others, [&](const auto& other) {
            return other.region.is_loop() && body.region.is_loop() && nearly_same(other.counts, body.counts);
        });
        if (hotter == others.end()) continue;
        hotter->region.share += body.region.share;
        hotter->region.like.push_back(body.region.header());
        out.pop_back();
    }
    std::ranges::stable_sort(out, std::greater(), [](const auto& body) { return body.region.share; });
    return out;
}

namespace {

/// Adds source lines to `codes`.
void add_source(Runner& runner, const run::Settings& settings, const model::Device& device,
                std::span<const model::Cell> cells, std::span<const model::Record> records, std::span<CellCode> codes) {
    std::vector<DumpedCell> dumped;
    std::vector<std::size_t> at;  // in `codes`
    for (std::size_t i = 0; i < codes.size() && i < cells.size() && i < records.size(); ++i) {
        if (records[i].status != model::Status::ok) continue;
        dumped.push_back({cells[i], records[i].dump});
        at.push_back(i);
    }
    const auto missing = add_lines(runner, settings, device, dumped);
    for (std::size_t k = 0; k < at.size(); ++k) {
        auto& code = codes[at[k]];
        if (!missing[k].empty()) code.source_note = "no source lines: " + missing[k];
        read_source(code, dumped[k].dump);
    }
}

/// NVIDIA with Nsight Compute: launches the kernel again under ncu to count which code runs. The listing is then the
/// one that ncu saw run. If that fails, `codes` keep their listing and get the reason.
void count_executions(const model::Device& device, const std::vector<model::Cell>& cells,
                      const std::vector<model::Record>& records, const IsaOptions& invocation,
                      std::span<CellCode> codes) {
    const auto ncu = inspect::find_tool({"ncu"});
    for (std::size_t i = 0; i < codes.size() && i < cells.size() && i < records.size(); ++i) {
        if (records[i].status != model::Status::ok) continue;
        auto& code = codes[i];
        const auto not_counted = [&](const std::string& why) { code.hot_note = "no executions are counted: " + why; };
        const inspect::TempFolder folder;
        try {
            if (!ncu) throw Error(Blame::environment, "Nsight Compute's ncu not found on PATH or in the CUDA toolkit");
            const auto replay = inspect::replay_of(cells[i], device, records[i], invocation.seed);
            inspect::write_cuda_launch(folder.path(), replay.setup, replay.entry, replay.ptx, device.identity,
                                       invocation.seed);
            const auto limit = std::chrono::milliseconds(static_cast<long>(4000 * invocation.timeout_seconds));
            const auto found = inspect::profile_replay(*ncu, replay, folder.path(), inspect::Count::executions, limit);
            if (!found.executed)
                throw Error(Blame::result, found.trouble.empty() ? "ncu printed no instructions" : found.trouble);
            if (const auto wrong = inspect::check_cuda_launch(folder.path(), replay.setup, invocation.seed))
                throw Error(Blame::result, "the result through the CUDA driver is wrong: ", *wrong);
            code.hot = inspect::hot_code(*found.executed);
            code.isa = found.executed->listing;
            code.counts = inspect::count_function(found.executed->isa, code.isa, replay.entry);
            code.summary = inspect::summary(code.counts);
        } catch (const Unsupported& e) {
            not_counted("it cannot be launched through the CUDA driver, because " + std::string(e.what()));
        } catch (const Error& e) {  // for example no memory for its arguments; the code is still shown
            not_counted(e.what());
        }
    }
}

/// Adds a note on the cost of vectors of halves on this device, if the kernel or a function of its file calls
/// vload_half8 or similar.
void add_cost_of_halves(CellCode& code, const model::Variant& variant, const std::string& cost) {
    if (!variant.own) return;
    static const std::regex call("v(load|store)_half(2|3|4|8|16)(_rt[ezpn])?");
    const auto text = without_comments(variant.own->text);
    auto others = kernels_in(text);
    std::erase_if(others, [&](const auto& one) { return one.name == variant.entry; });
    std::vector<std::string> calls, accesses;
    std::smatch parts;
    for (const auto& name : names_in(without_bodies(text, others, ";"))) {
        if (!std::regex_match(name, parts, call)) continue;
        calls.push_back(name);
        for (const auto& [access, times] : code.counts.total.memory)
            if (access.ends_with(parts.str(1) + "_16"))
                add_once(accesses, concat(times, " two-byte ", parts.str(1), times == 1 ? "" : "s"));
    }
    if (calls.empty()) return;
    const auto found = accesses.empty() ? "" : ", and its code has " + join(accesses, " and ");
    code.notes.push_back(code.id + " calls " + join(calls, " and ") + found + ": " + cost);
}

}  // namespace

std::vector<CellCode> code_on_devices(const IsaOptions& invocation, const std::vector<model::Cell>& cells) {
    const inspect::TempFolder temporary;
    run::RunRequest request{std::nullopt, {cells}, settings_of(invocation)};
    request.settings.measure = false;
    // Samples longer than `cllab run` by default, so that longer operations have enough samples too.
    if (invocation.hot) request.settings.hot_seconds = 1;
    request.settings.dumps = invocation.dumps.empty() ? temporary.path() : std::filesystem::path(invocation.dumps);
    std::vector<CellCode> codes;
    std::vector<model::Record> records;
    const Events events{.done = [&](std::size_t, std::size_t index, const model::Record& record) {
        // The code is read from the dump.
        if (record.status == model::Status::ok && record.dump.empty())
            throw Error(Blame::environment,
                        record.warnings.empty() ? "cannot read the code: no dump was written" : record.warnings.back());
        const std::string label = index < cells.size() ? cells[index].label : std::string{};
        codes.push_back(code_of(record, label));
        records.push_back(record);
    }};
    catch_interrupts();
    // A user's text runs in a child process, as in `cllab run`.
    const bool isolate = !invocation.cl_dir.empty() ||
                         std::ranges::any_of(cells, [](const auto& cell) { return cell.variant->own != nullptr; });
    const auto runner =
        isolate ? in_child_processes(invocation.timeout_seconds) : in_this_process(invocation.timeout_seconds);
    for (const auto& device : runner->devices(invocation.devices)) {
        const auto before = codes.size();
        runner->run(request, device.selector, events);
        const auto mine = std::span(codes).subspan(before);
        if (invocation.source) add_source(*runner, request.settings, device, cells, records, mine);
        if (invocation.hot && device.implementation == model::Implementation::nvidia)
            count_executions(device, cells, records, invocation, mine);
        const auto cost = note_of(known_answers(invocation.dumps, device), "memory.half.half8_");
        for (std::size_t i = 0; i < mine.size() && i < cells.size() && !cost.empty(); ++i)
            add_cost_of_halves(mine[i], *cells[i].variant, cost);
        records.clear();
    }
    return codes;
}

std::string source_line(const CellCode& code, std::uint64_t address, std::string& last) {
    const auto place = inspect::place_at(code.places, address);
    if (place == last) return {};
    last = place;
    if (place.empty()) return "// no line of the text\n";
    const auto line = std::ranges::find(code.source, place, [](const auto& placed) { return placed.first; });
    return "// " + place + (line == code.source.end() ? "" : "  " + trim(line->second)) + "\n";
}

std::string with_source(const CellCode& code) {
    if (code.places.empty()) return code.isa;
    std::string out, last, function;
    for (const auto line : inspect::lines_of(code.isa)) {
        if (const auto name = inspect::function_header(line); !name.empty()) function = name;
        const auto first = line.find_first_not_of(' ');
        if (first != 0 && first != std::string_view::npos && function == code.counts.code.name)
            if (const auto address = inspect::leading_hex(line.substr(first))) out += source_line(code, *address, last);
        out.append(line).append("\n");
    }
    return out;
}

std::string LiveCode::column_at(std::uint64_t address) const {
    const auto found = columns.find(address);
    return found == columns.end() ? std::string(columns.empty() ? 0 : columns.begin()->second.size(), ' ')
                                  : found->second;
}

LiveCode live_code(const CellCode& code) {
    LiveCode out;
    if (!code.counts.isa) {
        out.summary = "live registers: unknown: cllab has no listing to read";
        return out;
    }
    const auto& function = code.counts.code;
    const auto live = inspect::live_registers(*code.counts.isa, function);
    out.summary = inspect::live_summary(*code.counts.isa, function, live);
    if (live.kinds.empty()) return out;
    const auto width = [](const auto& kind) { return std::max<std::size_t>(5, kind.label.size() + 2); };
    for (const auto& kind : live.kinds) out.head += fmt::format("{:>{}}", kind.label, width(kind));
    out.head += "  live, while the instruction executes\n";
    for (std::size_t i = 0; i < function.instructions.size(); ++i) {
        std::string line;
        for (const auto& kind : live.kinds) line += fmt::format("{:>{}}", kind.counts[i], width(kind));
        out.columns[function.instructions[i].address] = line + " ";
    }
    return out;
}

int report_failures(const std::vector<CellCode>& codes, const IsaOptions& invocation) {
    int status = 0;
    std::vector<std::string> notes;
    std::vector<std::pair<std::string, std::vector<std::string>>> refusals;  // with the kernels
    for (const auto& code : codes) {
        for (const auto& note : code.notes) add_once(notes, note);
        // Unavailable targets have already been reported.
        if (code.status == model::Status::ok || code.id.empty()) continue;
        const auto said =
            " for " + code.where + ": " + model::name(code.status) + ": " + run::distinct_errors(code.reason);
        auto same = std::ranges::find(refusals, said, [](const auto& one) { return one.first; });
        if (same == refusals.end() || !code.own) same = refusals.insert(refusals.end(), {said, {}});
        same->second.push_back(code.id);
        if (model::is_failure(code.status) || invocation.require_all) status = 1;
    }
    for (const auto& [said, kernels] : refusals) say_lines(first_few(kernels, 3, std::identity()) + said);
    auto targets = invocation.targets;
    std::erase_if(targets, [&](const auto& target) {  // a compiler named by --compiler may have its own ptxas
        return std::ranges::any_of(codes,
                                   [&](const auto& c) { return c.where.starts_with(target) && c.info.registers; });
    });
    for (const auto& note : missing_registers(targets)) notes.push_back(note);
    for (const auto& note : notes) say(note);
    return status;
}

}  // namespace cllab::app

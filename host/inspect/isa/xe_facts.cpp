// What the facts of an Intel GPU's kernel are read from: ocloc's patch tokens, its log, and the listing.
#include <bit>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "core/text.hpp"
#include "inspect/code/analysis.hpp"
#include "inspect/isa/intel.hpp"

namespace cllab::inspect::xe {

namespace {

using std::string_view;

/// Word `index` of patch token `token` of a kernel, in the text that ocloc makes of them: "Token 23", its size, "Hex 0
/// 0 1f".
std::optional<std::int64_t> patch_word(string_view tokens, const std::string& kernel, int token, std::size_t index) {
    bool mine = false, wanted = false;
    for (const auto raw : lines_of(tokens)) {
        const std::string line = trim(raw);
        if (line.starts_with("KernelName ")) mine = line.substr(11) == kernel;
        if (line.starts_with("4 Token ")) wanted = mine && line == "4 Token " + std::to_string(token);
        if (!wanted || !line.starts_with("Hex ")) continue;
        const auto bytes = split(line.substr(4), ' ');
        std::int64_t value = 0;
        if (bytes.size() < 4 * (index + 1)) return std::nullopt;
        for (std::size_t k = 4; k-- > 0;)
            value = value << 8 | static_cast<std::int64_t>(leading_hex(bytes[4 * index + k]).value_or(0) & 0xff);
        return value;
    }
    return std::nullopt;
}

/// Registers that the code names by "r12.0": a lower bound of those in use. The last message of a thread takes its
/// operand from the end of the file, so the highest number says nothing.
std::int64_t named_registers(const Function& function) {
    std::set<std::uint64_t> names;
    for (const auto& i : function.instructions) {
        const string_view operands = string_view(i.operands).substr(0, i.operands.find("//"));
        for (std::size_t at = 0; at + 1 < operands.size(); ++at)
            if (operands[at] == 'r' && (at == 0 || operands[at - 1] == ' ') &&
                std::isdigit(static_cast<unsigned char>(operands[at + 1])))
                names.insert(number_at(operands, at + 1));
    }
    return static_cast<std::int64_t>(names.size());
}

/// What shares its local memory: execution units, and how much there is; nothing for a processor that is not known.
/// From Intel's oneAPI GPU optimization guide, "Intel Xe GPU architecture", and for skl and icllp its Gen9 and Gen11
/// architecture papers.
struct Subslice {
    std::int64_t units = 0, local_bytes = 0;
};
std::optional<Subslice> subslice(const std::string& processor) {
    constexpr std::int64_t kib = 1024;
    if (processor == "skl" || processor == "icllp") return Subslice{8, 64 * kib};
    if (processor == "tgllp" || processor == "dg1" || processor == "dg2") return Subslice{16, 128 * kib};
    if (processor == "pvc") return Subslice{8, 128 * kib};
    return std::nullopt;
}

}  // namespace

/// Threads of an execution unit: as the compiler has set them, half as many with the large register file.
std::optional<Occupancy> occupancy(const std::string& processor, const KernelNeeds& needs) {
    if (needs.registers <= 0 || needs.wavefront <= 0) return std::nullopt;
    OccupancyLimits found;
    found.add(needs.wavefront, "hardware", "{} threads with {} registers each", needs.wavefront, needs.registers);
    const auto shares = subslice(processor);
    if (shares && needs.local_bytes > 0 && needs.group_items > 0 && needs.simd > 0) {
        const auto given = static_cast<std::int64_t>(
            std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(needs.local_bytes, 1024))));
        const auto threads = (static_cast<std::int64_t>(needs.group_items) + needs.simd - 1) / needs.simd;
        const auto all = shares->local_bytes / given * threads;
        const double each = static_cast<double>(all) / static_cast<double>(shares->units);
        found.add(each, "local memory", "floor({} byte / {}) * {} / {} = {:g}", shares->local_bytes, given, threads,
                  shares->units, each);
    }
    return found.result(static_cast<unsigned>(needs.wavefront), "threads per execution unit");
}

/// The numbers of the patch tokens were found by compiling kernels that differ in one thing (ocloc 22.43).
void read_facts(Analysis& a, nlohmann::json& facts, const FactsRequest& request) {
    constexpr int local_memory = 15, scratch = 18, execution = 23;
    const auto* code = a.best();
    const std::string kernel = code ? code->code.name : request.entry;
    const auto word = [&](int token, std::size_t index) {
        return patch_word(a.disassembly.tool_log, kernel, token, index);
    };
    if (!request.target.empty()) facts["processor"] = request.target;
    const auto simd = word(execution, 3), file = word(execution, 20), threads = word(execution, 25);
    if (!simd || !file || !threads) return;
    facts["simd_width"] = *simd;
    facts["register_file"] = *file;
    const std::string origin = "patch tokens";
    if (code)
        set_fact(a.info, "registers", named_registers(code->code),
                 "listing by ocloc, general registers named, of " + std::to_string(*file) + " per thread");
    set_fact(a.info, "private_bytes", word(scratch, 1).value_or(0), origin + ", scratch per thread");
    set_local_bytes(a.info, word(local_memory, 1).value_or(0), request, origin);
    // "kernel k  compiled SIMD8 allocated 128 regs and spilled around 188"
    const auto said = request.build_log.find("kernel " + kernel + " ");
    const auto end = request.build_log.find('\n', said);
    const auto spilled = request.build_log.find("spilled around ", said);
    const bool spills = said != string_view::npos && spilled < end;
    set_fact(a.info, "spills", spills ? static_cast<std::int64_t>(number_at(request.build_log, spilled + 15)) : 0,
             "ocloc's log, registers spilled, around");
    add_occupancy(facts, occupancy(request.target, {.registers = *file,
                                                    .local_bytes = a.info.local_bytes.value_or(0),
                                                    .wavefront = *threads,
                                                    .group_items = request.group_items,
                                                    .simd = *simd}));
}

}  // namespace cllab::inspect::xe

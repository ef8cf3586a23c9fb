// Text of llvm-objdump and amd_comgr: "\tv_add_u32_e32 v3, 1, v3 // 000000001A80: 68060681", and " <f+0x68>" after a
// branch's encoding.
#include <algorithm>
#include <cctype>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>

#include "core/text.hpp"
#include "inspect/binary/amd_metadata.hpp"
#include "inspect/binary/binary.hpp"
#include "inspect/code/analysis.hpp"
#include "inspect/isa/isa.hpp"
#include "inspect/tools/comgr.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::inspect::gcn {

extern const OfflineCompiler compiler;  // offline_amd.cpp

namespace {

using model::Declared;
using std::string_view;
using What = Declared::What;

// --- Parsing ---------------------------------------------------------------------------------------------------------

/// Branches contain a signed count of dwords from the next instruction: "65522" is -14. Newer tools print a label
/// instead; then "<f+0x68>" after the encoding gives the target.
std::optional<std::uint64_t> branch_target(const Instruction& i, string_view comment, std::uint64_t function_start) {
    if (const auto value = whole_number(i.operands); value && *value <= 0xffff)
        return i.address + 4 +
               static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int16_t>(*value)) * 4);
    const auto open = comment.find('<'), plus = comment.find('+', open), close = comment.find('>', open);
    if (open == string_view::npos || close == string_view::npos) return std::nullopt;
    if (plus == string_view::npos || plus > close) return function_start;
    const auto offset = leading_hex(comment.substr(plus + 1));
    return offset ? std::optional(function_start + *offset) : std::nullopt;
}

void set_flow(Instruction& i, string_view comment, std::uint64_t function_start) {
    const string_view m = i.mnemonic;
    if (m.starts_with("s_endpgm") || m == "s_trap")
        i.flow = Flow::stop;
    else if (m == "s_branch" || m.starts_with("s_setpc"))
        i.flow = Flow::jump;
    else if (m.starts_with("s_cbranch"))
        i.flow = Flow::branch;
    if (m.find("branch") != string_view::npos)  // s_setpc jumps to an address in a register
        if (const auto target = branch_target(i, comment, function_start)) i.targets.push_back(*target);
}

std::vector<Function> parse(string_view text) {
    std::uint64_t start = 0;
    const auto name_of = [&](string_view line) {
        const auto header = function_header(line);
        if (!header.empty()) start = leading_hex(line).value_or(0);
        return header;
    };
    const auto read = [&](string_view line) -> std::optional<Instruction> {
        const auto mark = line.find("// ");
        if (mark == string_view::npos) return std::nullopt;
        std::string body = trim(line.substr(0, mark));
        const string_view comment = line.substr(mark + 3);
        const auto colon = comment.find(':');
        const auto address = leading_hex(comment);
        if (body.empty() || body.front() == ';' || !address || colon == string_view::npos) return std::nullopt;
        Instruction i = instruction_of(std::move(body));
        i.address = *address;
        const string_view encoding = comment.substr(colon + 1, std::min(comment.find('<'), comment.size()) - colon - 1);
        for (const auto& word : split(encoding, ' ')) i.bytes += trim(word).empty() ? 0 : 4;
        set_flow(i, comment, start);
        return i;
    };
    auto functions = functions_of(text, name_of, read);
    for (auto& function : functions) drop_padding(function, "s_nop s_code_end");
    return functions;
}

// --- Classes ---------------------------------------------------------------------------------------------------------

/// Bits of one access from the end of a mnemonic: dwordx4, b128, ubyte, short_d16_hi, read2_b32 …
unsigned access_bits(string_view m) {
    constexpr NumberRule words[]{{"*dwordx16*", 512},    {"*dwordx8*", 256}, {"*dwordx4*", 128}, {"*dwordx3*", 96},
                                 {"*dwordx2*", 64},      {"*dword*", 32},    {"*byte*", 8},      {"*short*", 16},
                                 {"*format_xyzw*", 128}, {"*format_x*", 32}};
    if (const auto bits = value_of(words, m)) return bits;
    // "ds_read_b128", "global_load_u8", "ds_add_u32": letter and number after an underscore.
    for (std::size_t at = m.find('_'); at != string_view::npos; at = m.find('_', at + 1)) {
        const string_view part = m.substr(at + 1);
        if (part.size() < 2 || string_view("bduif").find(part[0]) == string_view::npos ||
            !std::isdigit(static_cast<unsigned char>(part[1])))
            continue;
        if (part.starts_with("d16")) continue;  // half of a register, not a width
        return static_cast<unsigned>(number_at(part, 1));
    }
    return 0;
}

std::string access(string_view space, string_view m, bool scratch = false) {
    constexpr NameRule kinds[]{
        {"*atomic*", "_atomic"}, {"*store* *write*", "_store"}, {"*load* *read* *sample* *gather*", "_load"}};
    const unsigned count = is_named(m, "*read2* *write2* *load_2* *store_2*") ? 2 : 1;  // ds_read2_b32 moves two
    std::string name(scratch ? "scratch" : space);
    name += value_of(kinds, m, "_atomic");
    if (const unsigned bits = access_bits(m) * count) name += "_" + std::to_string(bits);
    return name;
}

/// Scratch is a buffer access through the resource that the kernel set up in s[0:3], without an index register: "v2,
/// off, s[0:3], 0 offset:20" on gfx9. OpenCL's buffers use flat or global instructions there.
bool is_scratch(const Instruction& i) {
    return i.mnemonic.starts_with("scratch_") ||
           (i.mnemonic.starts_with("buffer_") && i.operands.find("s[0:3]") != std::string::npos);
}

constexpr NameRule classes[]{
    {"v_mfma* v_smfmac* v_wmma* v_swmmac* v_dot*", "matrix"},
    {"v_*", "v_alu"},
    {"ds_* lds_*", "lds"},
    {"s_dcache* s_icache* s_gl1*", "cache"},
    {"s_load* s_buffer_load* s_store* s_buffer_store* s_scratch* s_atomic* s_memtime* s_memrealtime*", "s_memory"},
    {"*_inv* *wbinv* *_wb* *gl0*", "cache"},
    {"global_* flat_* buffer_* tbuffer_* scratch_* image_*", "v_memory"},
    {"s_swappc* s_call* s_getpc*", "branch"},
    {"s_wait* s_delay_alu* s_sleep*", "wait"},
    {"s_barrier*", "barrier"},
    {"s_nop* s_clause* s_inst_prefetch* s_setprio* s_code_end* s_setreg* s_sendmsg* s_round_mode* s_denorm_mode*",
     "other"},
    {"s_*", "s_alu"}};

Class classify(const Instruction& i) {
    const string_view m = i.mnemonic;
    Class out{std::string(i.flow != Flow::next ? "branch" : value_of(classes, m, "other"))};
    if (out.name == "v_memory")
        out.memory = {access(m.substr(0, m.find('_')), m, is_scratch(i))};
    else if (out.name == "lds" && !is_named(m, "ds_swizzle* ds_permute* ds_bpermute* ds_nop*"))
        out.memory = {access("lds", m)};
    else if (out.name == "s_memory" && !is_named(m, "s_memtime* s_memrealtime*"))
        out.memory = {access("scalar", m)};
    if (m.starts_with("v_")) out.marks = {"v"};
    if (m.starts_with("s_")) out.marks = {"s"};
    return out;
}

// --- Declared work ---------------------------------------------------------------------------------------------------

/// One half of a dual instruction, or the whole of any other.
double one(string_view m, const Declared& d) {
    const auto is_float = [&] {
        return m.find("_f64") != string_view::npos || (m.find("_f32") != string_view::npos && d.bits <= 32) ||
               (m.find("_f16") != string_view::npos && d.bits <= 16);
    };
    const double lanes = m.find("_pk_") == string_view::npos ? 1 : 2;
    if (d.what == What::multiply_add) return is_named(m, "*fma* *mac* *mad*") && is_float() ? lanes : 0;
    if (d.what == What::integer_multiply)
        return is_named(m, "*_mul_* *_mad_*") &&
                       is_named(m, d.bits <= 16 ? "*u16* *i16* *u32* *i32* *u24* *i24*" : "*u32* *i32* *u24* *i24*")
                   ? lanes
                   : 0;
    if (is_named(m, "s_swappc* s_call*")) return lanes_of_call;
    return is_named(m, "*_f16* *_f32* *_f64*") && !is_named(m, "*_cmp* *_cvt* *_load* *_store*") ? lanes : 0;
}

double arithmetic(const Instruction& i, const Declared& d) {
    double sum = one(i.mnemonic, d);
    if (const auto second = i.operands.find(":: "); second != std::string::npos)
        sum += one(string_view(i.operands).substr(second + 3), d);
    return sum;
}

bool is_call(const Instruction& i) { return is_named(i.mnemonic, "s_swappc* s_call*"); }

// --- The binary ------------------------------------------------------------------------------------------------------

Disassembly disassemble(ByteSpan binary, const std::string& entry, const DisassembleOptions& options) {
    Disassembly out;
    out.listings.push_back(disassemble_code_object(binary, entry, options.own_make));
    if (!options.made_by.empty()) out.listings.back().title += " (" + options.made_by + ")";
    out.code_bytes = symbol_size(binary, entry);
    return out;
}

/// LLVM's AMDGPUBaseInfo.cpp: total VGPRs, granule, waves per SIMD.
struct AmdLimits {
    std::int64_t vgprs, granule, waves, sgprs, sgpr_granule, lds_per_simd;
};

std::optional<AmdLimits> amd_limits(const std::string& processor, bool wave64) {
    // LDS per SIMD: four SIMDs share 64 KiB in a compute unit, 128 KiB in RDNA's work-group processor.
    constexpr std::int64_t cu = 16384, wgp = 32768;
    const std::string_view p = processor;
    if (p.starts_with("gfx6") || p.starts_with("gfx7")) return AmdLimits{256, 4, 10, 512, 8, cu};
    if (is_named(p, "gfx90a gfx940 gfx941 gfx942")) return AmdLimits{512, 8, 8, 800, 16, cu};
    if (is_named(p, "gfx801 gfx802 gfx803 gfx805 gfx810 gfx900 gfx902 gfx904 gfx906 gfx908 gfx909 gfx90c"))
        return AmdLimits{256, 4, 10, 800, 16, cu};
    const std::int64_t half = wave64 ? 2 : 1;  // a register of a wave64 takes two rows of 32 lanes
    if (p.starts_with("gfx101")) return AmdLimits{1024 / half, 8 / half, 20, 0, 0, wgp};
    if (p.starts_with("gfx103") || is_named(p, "gfx1102 gfx1103 gfx1150"))
        return AmdLimits{1024 / half, 16 / half, 16, 0, 0, wgp};
    if (is_named(p, "gfx1100 gfx1101 gfx1151 gfx1200 gfx1201")) return AmdLimits{1536 / half, 24 / half, 16, 0, 0, wgp};
    return std::nullopt;
}

std::optional<Occupancy> occupancy(const std::string& processor, const KernelNeeds& needs) {
    const std::int64_t lanes = needs.wavefront;
    const auto limits = amd_limits(processor, lanes == 64);
    if (!limits || lanes <= 0) return std::nullopt;
    const std::string unit = "wavefronts per SIMD";
    if (needs.group_items > most_items)
        return OccupancyLimits::too_large(needs.group_items, static_cast<unsigned>(limits->waves), unit);
    OccupancyLimits found;
    found.add(limits->waves, "hardware", "{}", limits->waves);
    std::int64_t most = limits->waves;
    const auto of_file = [&](const char* what, const char* of_unit, std::int64_t all, std::int64_t asked,
                             std::int64_t granule) {
        if (asked <= 0 || all <= 0) return;
        const auto waves = all / round_up(asked, granule);
        found.add(waves, what, "floor({} {} / roundup({}, {})) = {}", all, of_unit, asked, granule, waves);
        most = std::min(most, waves);
    };
    of_file("registers", "VGPRs", limits->vgprs, needs.registers, limits->granule);
    of_file("scalar registers", "SGPRs", limits->sgprs, needs.scalar_registers, limits->sgpr_granule);
    const auto waves_of = [&](std::size_t items) { return round_up(static_cast<std::int64_t>(items), lanes) / lanes; };
    // A group's waves use the four SIMDs of one unit. The unit's barriers limit the number of groups with several
    // waves: LLVM's getMaxWorkGroupsPerCU.
    if (const auto per_group = waves_of(needs.group_items); per_group > 1) {
        const auto groups = std::min<std::int64_t>(4 * most / per_group, limits->lds_per_simd == 32768 ? 32 : 16);
        const double waves = static_cast<double>(groups * per_group) / 4;
        found.add(waves, "work-group size", "{} groups * {} / 4 = {:g}", groups, per_group, waves);
    }
    if (const auto group = needs.group_items > 0 ? needs.group_items : needs.largest_group;
        needs.local_bytes > 0 && group > 0) {
        const auto per_group = waves_of(group);
        const auto local = 4 * limits->lds_per_simd;
        const double waves = static_cast<double>(local / needs.local_bytes * per_group) / 4;
        found.add(waves, "local memory", "floor({} byte LDS / {}) * {} / 4 = {:g}", local, needs.local_bytes, per_group,
                  waves);
    }
    return found.result(static_cast<unsigned>(limits->waves), unit);
}

void read_facts(Analysis& a, nlohmann::json& out, const FactsRequest& request) {
    const std::string processor = amd_processor(request.binary);
    if (!processor.empty()) out["processor"] = processor;
    const auto metadata = read_amd_metadata(request.binary);
    const auto* kernel = metadata ? amd_kernel(*metadata, request.entry) : nullptr;
    if (!kernel) return;
    const auto number = [&](const char* key) { return amd_number(*kernel, key); };
    const std::string origin = "code object metadata";
    set_fact(a.info, "registers", number(".vgpr_count"), origin + ", VGPRs per work-item");
    set_fact(a.info, "spills", number(".vgpr_spill_count"), origin + ", VGPRs spilled");
    set_local_bytes(a.info, number(".group_segment_fixed_size"), request, origin);
    set_fact(a.info, "private_bytes", number(".private_segment_fixed_size"), origin + ", scratch per work-item");
    const std::pair<const char*, const char*> more[] = {{"sgprs", ".sgpr_count"},
                                                        {"agprs", ".agpr_count"},
                                                        {"sgpr_spills", ".sgpr_spill_count"},
                                                        {"wavefront_size", ".wavefront_size"},
                                                        {"max_flat_workgroup_size", ".max_flat_workgroup_size"}};
    for (const auto& [name, key] : more)
        if (const auto value = number(key)) out[name] = *value;
    out["metadata"] = *metadata;
    out["metadata"]["amdhsa.kernels"] = nlohmann::json::array({*kernel});  // without the other kernels
    std::size_t required = 0;
    if (const auto size = kernel->find(".reqd_workgroup_size"); size != kernel->end() && size->size() == 3)
        required = (*size)[0].get<std::size_t>() * (*size)[1].get<std::size_t>() * (*size)[2].get<std::size_t>();
    // If the driver chooses the group size, local memory is shared by groups of the largest size.
    const KernelNeeds needs{.registers = a.info.registers.value_or(0),
                            .scalar_registers = number(".sgpr_count").value_or(0),
                            .local_bytes = a.info.local_bytes.value_or(0),
                            .wavefront = number(".wavefront_size").value_or(0),
                            .group_items = required > 0 ? required : request.group_items,
                            .largest_group = static_cast<std::size_t>(number(".max_flat_workgroup_size").value_or(0))};
    add_occupancy(out, occupancy(processor, needs));
}

}  // namespace
}  // namespace cllab::inspect::gcn

namespace cllab::inspect {

const InstructionSet isa::gcn{
    .name = "gcn",
    .rule =
        "Each instruction is in one class. v and s count the mnemonics v_ and s_, waits and branches included. Memory "
        "widths are per work-item (vector) or per wave (scalar). Padding after the last s_endpgm is not counted.",
    .kinds = {Kind::amdgpu_code_object},
    .words = {"VGPRs", "spilled VGPRs", "", "scratch", "LDS"},
    .marks = {{"v", "v", true}, {"s", "s", true}},
    .shown_facts = {{"sgprs", "SGPRs", "", true}},
    .parse = gcn::parse,
    .classify = gcn::classify,
    .local_spaces = {"lds", "flat"},
    .global_spaces = {"global", "flat", "buffer", "tbuffer", "scalar"},
    .registers = &gcn_registers,
    .arithmetic = gcn::arithmetic,
    .is_call = gcn::is_call,
    .disassemble = gcn::disassemble,
    .read_facts = gcn::read_facts,
    .occupancy = gcn::occupancy,
    .offline = &gcn::compiler,
};

/// The version of the newest llvm-objdump, from its folder: "/usr/lib/llvm-14/bin/llvm-objdump". A folder without a
/// version counts as new enough.
static int newest_objdump() {
    int newest = 0;
    for (const auto& name : llvm_names("llvm-objdump")) {
        const auto tool = find_tool({name});
        if (!tool) continue;
        std::error_code failed;
        int version = std::numeric_limits<int>::max();
        for (const auto& part : std::filesystem::canonical(*tool, failed))
            if (part.string().starts_with("llvm-") && part.string().size() < 8)
                version = static_cast<int>(number_at(part.string(), 5));
        newest = std::max(newest, version);
    }
    return newest;
}

std::string objdump_missing(const std::string& processor) {
    const int needed = processor.starts_with("gfx12") ? 19 : processor.starts_with("gfx11") ? 15 : 0;
    if (needed == 0) return {};
    static const int newest = newest_objdump();
    if (newest >= needed) return {};
    return concat("the listing for ", processor, " needs llvm-objdump ", needed, " or later: apt-get install llvm-",
                  needed);
}

/// LLVM compiles for GCN 1 and 2 but cannot disassemble the code: amd_comgr then ends this process.
bool has_no_disassembler(const std::string& processor) {
    return processor.size() == 6 && (processor.starts_with("gfx6") || processor.starts_with("gfx7"));
}

/// Keeps the last listing, because every kernel of a code object asks for all of it.
static Listing listing_by_objdump(ByteSpan file) {
    static std::mutex access;
    static std::string known;
    static Listing last;
    const std::lock_guard lock(access);
    if (as_text(file) != known) {
        known = as_text(file);
        last = run_on_file({describe(Kind::amdgpu_code_object), &isa::gcn}, {{llvm_names("llvm-objdump"), {"-d"}}},
                           "program.co", file,
                           needs("GCN code", "llvm-objdump or the library amd_comgr", "llvm, libamd-comgr2"));
    }
    return last;
}

Listing disassemble_code_object(ByteSpan file, const std::string& entry, bool own_make) {
    Listing listing{describe(Kind::amdgpu_code_object), &isa::gcn, {}, {}, entry};
    const auto processor = amd_processor(file);
    const auto by_comgr = [&] {
        // amd_comgr ends this process if the file names no processor.
        const auto elf = read_elf(file);
        if (!elf || (elf->flags & 0xff) == 0 || has_no_disassembler(processor)) return false;
        ComgrOutput text = comgr_disassemble(file, processor);
        if (text.ok) listing.text = std::move(text.bytes), listing.made_by = "amd_comgr";
        return text.ok;
    };
    if (own_make && by_comgr()) {
        listing.note.clear();
    } else if (const auto missing = objdump_missing(processor); !missing.empty()) {
        listing.note = "no disassembly: " + missing;
    } else {
        listing = listing_by_objdump(file);
        listing.function = entry;
        // Complete metadata is a good sign that the file is complete.
        if (listing.text.empty() && read_amd_metadata(file) && by_comgr()) listing.note.clear();
    }
    listing.text = cut_function(without_file_line(listing.text), entry);
    return listing;
}

}  // namespace cllab::inspect

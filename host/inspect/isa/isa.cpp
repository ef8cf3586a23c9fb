#include "inspect/isa/isa.hpp"

#include <nlohmann/json.hpp>

#include "inspect/binary/binary.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::inspect {

void set_fact(model::CodeInfo& info, std::string_view name, std::optional<std::int64_t> value,
              const std::string& origin) {
    if (!value) return;
    const auto& fact = *std::ranges::find(fact_names, name, &FactName::name);
    info.*fact.number = value;
    info.origin[fact.name] = origin;
}

void set_local_bytes(model::CodeInfo& info, std::optional<std::int64_t> declared, const FactsRequest& request,
                     const std::string& origin) {
    const auto given = request.local_arguments;
    if (!declared && given == 0) return;
    set_fact(info, "local_bytes", declared.value_or(0) + given,
             origin + ", per work-group, " +
                 (given > 0 ? std::to_string(given) + " of them in __local arguments" : "without __local arguments"));
}

void add_occupancy(nlohmann::json& facts, const std::optional<Occupancy>& o) {
    if (!o) return;
    const auto whole = static_cast<std::int64_t>(o->waves);
    const bool is_whole = o->waves == static_cast<double>(whole);
    facts["occupancy"] = {{"waves", is_whole ? nlohmann::json(whole) : nlohmann::json(o->waves)},
                          {"most", o->most},
                          {"unit", o->unit},
                          {"limited_by", o->limited_by},
                          {"formula", o->formula}};
}

std::string needs(const std::string& what, const std::string& tools, const std::string& package) {
    return "no disassembly: " + what + " needs " + tools + ", which is not on PATH (Debian " + package + ")";
}

std::string without_file_line(const std::string& text) {
    const auto at = text.find("file format");
    if (at == std::string::npos || at > 4096) return text;
    const auto first = text.find_first_not_of("\r\n", std::min(text.find('\n', at), text.size()));
    return first == std::string::npos ? std::string{} : text.substr(first);
}

std::string without_folder(std::string text, const std::filesystem::path& folder) {
    const std::string prefix = folder.string() + "/";
    for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at))
        text.erase(at, prefix.size());
    return text;
}

Listing run_on_file(Listing listing, const std::vector<Command>& commands, const std::string& file_name,
                    ByteSpan content, const std::string& needed) {
    std::string failures;
    for (const auto& command : commands) {
        const auto tool = find_tool(command.names);
        if (!tool) continue;
        const TempFolder folder;
        auto arguments = command.arguments;
        arguments.push_back(folder.write(file_name, content).string());
        const ToolResult result = run_tool(*tool, arguments);
        if (result.ok() && !result.out.empty()) {
            listing.text = without_folder(result.out, folder.path());
            listing.made_by = tool->filename().string();
            return listing;
        }
        failures += (failures.empty() ? "" : "; ") + tool->filename().string() + " " +
                    without_folder(result.failure(), folder.path());
    }
    listing.refused = !failures.empty();
    listing.note = failures.empty() ? needed : "no disassembly: " + failures;
    return listing;
}

std::optional<std::filesystem::path> first_file(const std::vector<std::filesystem::path>& paths) {
    std::error_code failed;
    for (const auto& path : paths)
        if (std::filesystem::exists(path, failed)) return path;
    return std::nullopt;
}

OfflineCode made_by_tool(const std::filesystem::path& tool, const ToolResult& result, const TempFolder& folder,
                         const std::filesystem::path& file) {
    OfflineCode code{false, without_folder(result.err, folder.path()), {}, {}};
    code.timed_out = result.timed_out;
    if (!result.ok() && code.log.empty()) code.log = tool.filename().string() + " " + result.failure() + "\n";
    if (auto made = read_file(file); result.ok() && made)
        code.binary = std::move(*made), code.ok = !code.binary.empty();
    return code;
}

std::int64_t symbol_size(ByteSpan file, const std::string& name) {
    const auto elf = read_elf(file);
    const ElfSymbol* symbol = elf ? elf->symbol(name) : nullptr;
    return symbol ? static_cast<std::int64_t>(symbol->size) : 0;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
    return std::ranges::any_of(parts, [&](std::string_view p) { return text.find(p) != text.npos; });
}

// Listings that are kept but not counted: another processor's host code, and intermediate code of compilers.
const InstructionSet isa::host{.name = "host"};
const InstructionSet isa::spirv{.name = "spirv"};
const InstructionSet isa::llvm_ir{.name = "llvm-ir"};

}  // namespace cllab::inspect

namespace cllab::inspect::isa {

const std::vector<const InstructionSet*>& all() {
    static const std::vector<const InstructionSet*> sets{&x86, &gcn, &sass, &ptx, &xe, &host, &spirv, &llvm_ir};
    return sets;
}

const InstructionSet* named(std::string_view name) {
    const auto found = std::ranges::find_if(all(), [&](const auto* set) { return set->name == name; });
    return found == all().end() ? nullptr : *found;
}

const InstructionSet* of(Kind kind) {
    for (const auto* set : all())
        if (std::ranges::find(set->kinds, kind) != set->kinds.end()) return set;
    return nullptr;
}

}  // namespace cllab::inspect::isa

namespace cllab::inspect {
namespace {

bool matches(std::string_view pattern, std::string_view word) {
    const auto star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == word;
    if (!word.starts_with(pattern.substr(0, star))) return false;
    const auto rest = pattern.substr(star + 1);
    for (auto at = star; at <= word.size(); ++at)
        if (rest.empty() || matches(rest, word.substr(at))) return true;
    return false;
}

}  // namespace

bool is_named(std::string_view mnemonic, std::string_view names) {
    const auto root = mnemonic.substr(0, mnemonic.find('.'));
    while (!names.empty() && !mnemonic.empty()) {
        const auto end = std::min(names.find(' '), names.size());
        const auto name = names.substr(0, end);
        names.remove_prefix(std::min(end + 1, names.size()));
        if (!name.starts_with('*') && !name.starts_with(mnemonic.front())) continue;  // rejects most names with one
                                                                                      // comparison
        if (matches(name, mnemonic) || (root != mnemonic && matches(name, root))) return true;
    }
    return false;
}

bool has_part(std::string_view mnemonic, std::string_view part) {
    for (auto at = mnemonic.find('.'); at != std::string_view::npos; at = mnemonic.find('.', at + 1)) {
        const auto end = std::min(mnemonic.find('.', at + 1), mnemonic.size());
        if (mnemonic.substr(at + 1, end - at - 1) == part) return true;
    }
    return false;
}

void set_sizes(Function& function) {
    auto& code = function.instructions;
    for (std::size_t k = 0; k + 1 < code.size(); ++k)
        if (code[k + 1].address > code[k].address)
            code[k].bytes = static_cast<std::uint32_t>(code[k + 1].address - code[k].address);
}

void drop_padding(Function& function, std::string_view names) {
    auto& code = function.instructions;
    while (!code.empty() && is_named(code.back().mnemonic, names)) code.pop_back();
}

const RoleRule* rule_of(std::span<const RoleRule> rules, std::string_view mnemonic, std::size_t operands) {
    for (const auto& rule : rules)
        if (operands >= rule.least && is_named(mnemonic, rule.names)) return rule.operands == "?" ? nullptr : &rule;
    return nullptr;
}

bool each_operand(const RoleRule& rule, std::size_t operands,
                  const std::function<bool(std::size_t operand, char letter, char width)>& give,
                  const std::function<bool(std::size_t operand)>& is_predicate) {
    std::size_t at = 0, sources = 0;
    for (std::size_t k = 0; k < operands && !rule.operands.empty();) {
        const char letter = rule.operands[at];
        const bool predicate = is_predicate && is_predicate(k), optional = letter == 'p' || letter == 'P';
        if (letter != 'P' || !predicate) at = std::min(at + 1, rule.operands.size() - 1);
        if (optional && !predicate) continue;
        sources += letter == 'r' && !predicate;
        const auto width = optional || letter == 'w' ? 0 : std::min(sources, rule.widths.size() - 1);
        if (!give(k++, optional ? 'w' : letter, rule.widths[width])) return false;
    }
    return true;
}

void add_units(Roles& roles, const std::vector<Unit>& units, char letter, bool whole) {
    auto& written = whole ? roles.writes : roles.touches;
    if (letter == 'r' || letter == 'm') roles.reads.insert(roles.reads.end(), units.begin(), units.end());
    if (letter == 'w' || letter == 'm') written.insert(written.end(), units.begin(), units.end());
}

}  // namespace cllab::inspect

#include "inspect/cuda/ncu_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "core/text.hpp"
#include "core/units.hpp"
#include "inspect/code/code.hpp"
#include "inspect/isa/isa.hpp"

namespace cllab::inspect {
namespace {

using model::Counter;

/// The fields of one line: all of them are quoted, and a quote within a field is doubled.
std::vector<std::string> fields_of(std::string_view line) {
    std::vector<std::string> out;
    std::string field;
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
            field += line[i++];
        else if (line[i] == '"')
            quoted = !quoted;
        else if (line[i] == ',' && !quoted)
            out.push_back(std::exchange(field, {}));
        else
            field += line[i];
    }
    out.push_back(field);
    return out;
}

/// The number in a text such as ncu's "1,234.5".
std::optional<double> number_of(std::string text) {
    std::erase(text, ',');
    return parse_real(text);
}

/// The factor from ncu's unit, such as "Mbyte", "byte/second" or "usecond", to the base unit.
double factor_of(std::string_view unit) {
    static const std::map<std::string_view, double> factors{
        {"nsecond", 1e-9}, {"ns", 1e-9},   {"usecond", 1e-6}, {"us", 1e-6},    {"msecond", 1e-3}, {"ms", 1e-3},
        {"Kbyte", 1e3},    {"Mbyte", 1e6}, {"Gbyte", 1e9},    {"Tbyte", 1e12}, {"Pbyte", 1e15}};
    const auto found = factors.find(unit.find("byte") == 1 ? unit.substr(0, 5) : unit);
    return found == factors.end() ? 1 : found->second;
}

}  // namespace

std::vector<Counter> parse_ncu(std::string_view text) {
    const auto lines = lines_of(text);
    for (std::size_t i = 0; i + 2 < lines.size(); ++i) {
        if (!lines[i].starts_with("\"ID\",")) continue;
        const auto names = fields_of(lines[i]), units = fields_of(lines[i + 1]), values = fields_of(lines[i + 2]);
        std::vector<Counter> out;
        for (std::size_t k = 0; k < names.size() && k < units.size() && k < values.size(); ++k) {
            // Counters have a name with "__"; the columns before them identify the launch. device__ columns are no
            // counts, and some derived__ columns are lists.
            if (names[k].find("__") == std::string::npos || names[k].starts_with("device__") ||
                names[k].starts_with("derived__"))
                continue;
            if (const auto value = number_of(values[k])) out.push_back({names[k], units[k], *value});
        }
        return out;
    }
    return {};
}

std::optional<ExecutedCode> parse_ncu_source(std::string_view text) {
    ExecutedCode out{"SASS as it ran, by ncu", "ncu, inst_executed", &isa::sass, {}, {}};
    std::size_t address = 0, source = 0, executed = 0, by_items = 0;  // columns
    std::vector<std::string> texts;
    for (const auto line : lines_of(text)) {
        if (!line.starts_with('"')) continue;
        const auto fields = fields_of(line);
        const auto column = [&](std::string_view name) {
            return static_cast<std::size_t>(std::ranges::find(fields, name) - fields.begin());
        };
        if (fields.front() == "Kernel Name" && fields.size() > 1) {
            if (!out.listing.empty()) break;
            out.listing = "Function : " + fields[1] + "\n";
        } else if (const auto found = column("Address"); found < fields.size()) {
            address = found;
            source = column("Source");
            executed = std::min(column("inst_executed"), column("Instructions Executed"));
            by_items = std::min(column("thread_inst_executed"), column("Thread Instructions Executed"));
        } else if (executed > 0 && std::max({address, source, executed}) < fields.size()) {
            const auto at = leading_hex(fields[address]);
            const auto times = number_of(fields[executed]);
            if (!at || !times) continue;
            texts.push_back(fields[source]);
            out.instructions.emplace_back(*at, static_cast<std::uint64_t>(*times));
            if (by_items < fields.size()) out.by_items += number_of(fields[by_items]).value_or(0);
        }
    }
    if (texts.empty()) return std::nullopt;
    // Addresses start from 0, because the kernel's place in the device's memory differs between runs.
    const auto base = out.instructions.front().first, end = out.instructions.back().first;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        auto& code = texts[i];
        auto& place = out.instructions[i].first;
        place -= base;
        for (auto at = code.find("0x"); at != std::string::npos; at = code.find("0x", at + 2)) {
            const auto digits = code.find_first_not_of("0123456789abcdef", at + 2) - (at + 2);
            const auto target =
                leading_hex(std::string_view(code).substr(at, digits == std::string::npos ? digits : digits + 2));
            if (target && *target >= base && *target <= end)
                code.replace(at + 2, std::min(digits, code.size() - at - 2), fmt::format("{:x}", *target - base));
        }
        out.listing += fmt::format("        /*{:04x}*/  {} ;\n", place, trim(code));
    }
    return out;
}

std::optional<double> counter(const std::vector<Counter>& counters, std::string_view name) {
    for (const auto& c : counters)
        if (c.name == name) return c.value * factor_of(c.unit);
    return std::nullopt;
}

std::vector<Reading> read_counters(const std::vector<Counter>& counters) {
    std::vector<Reading> out;
    const auto get = [&](std::string_view name) { return counter(counters, name); };
    const auto seconds = get("gpu__time_duration.sum");
    if (seconds) out.push_back({"time under the profiler", format_seconds(*seconds), "gpu__time_duration.sum"});
    const auto traffic = [&](const std::string& what, std::initializer_list<std::string_view> names) {
        double bytes = 0;
        std::string how;
        for (const auto name : names) {
            const auto part = get(name);
            if (!part) return;
            bytes += *part;
            how += (how.empty() ? "" : " + ") + std::string(name);
        }
        out.push_back(
            {what,
             format_rate(bytes, "B") + (seconds && *seconds > 0 ? ", " + format_rate(bytes / *seconds, "B/s") : ""),
             how});
    };
    traffic("memory", {"dram__bytes_read.sum", "dram__bytes_write.sum"});
    traffic("L2", {"lts__t_bytes.sum"});
    traffic("L1", {"l1tex__t_bytes.sum"});
    const auto percent = [&](const std::string& what, std::string_view name) {
        if (const auto value = get(name))
            out.push_back({what, format_significant(*value, 3) + " %", std::string(name)});
    };
    percent("memory's peak reached", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed");
    percent("units' peak reached", "sm__throughput.avg.pct_of_peak_sustained_elapsed");
    percent("issue slots used", "sm__inst_issued.avg.pct_of_peak_sustained_active");
    percent("warps resident", "sm__warps_active.avg.pct_of_peak_sustained_active");
    if (const auto all = get("smsp__inst_executed.sum"))
        out.push_back({"warp instructions", format_significant(*all, 4), "smsp__inst_executed.sum"});

    /// For the counters `begin…end`: the middle of each name with its value, largest first.
    const auto line = [&](const std::string& what, std::string_view begin, std::string_view end, std::size_t most) {
        std::vector<std::pair<double, std::string>> found;
        for (const auto& c : counters) {
            if (!c.name.starts_with(begin) || !c.name.ends_with(end) || c.name.size() <= begin.size() + end.size())
                continue;
            const auto middle = c.name.substr(begin.size(), c.name.size() - begin.size() - end.size());
            if (c.value > 0 && middle.find('.') == std::string::npos) found.emplace_back(c.value, middle);
        }
        std::ranges::stable_sort(found, std::greater(), &std::pair<double, std::string>::first);
        if (found.size() > most) found.resize(most);
        const auto text = [](const auto& one) { return one.second + " " + format_significant(one.first, 3); };
        if (!found.empty()) out.push_back({what, join(found, ", ", text), concat(begin, "*", end)});
    };
    line("instructions by pipe", "sm__inst_executed_pipe_", ".sum", 6);
    line("pipes' peak reached [%]", "sm__inst_executed_pipe_", ".avg.pct_of_peak_sustained_active", 4);
    line("warps waiting per issue", "smsp__average_warps_issue_stalled_", "_per_issue_active.ratio", 4);
    return out;
}

}  // namespace cllab::inspect

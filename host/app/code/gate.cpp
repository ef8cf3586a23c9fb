#include "app/code/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "core/error.hpp"
#include "core/grouped.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "kernelfile/expression.hpp"

namespace cllab::app {
namespace {

/// A figure that is not known, met in an expression.
struct Unknown {
    std::string why;
};

std::string names_of(std::span<const std::string_view> figures) {
    return join(figures, ", ", [](auto figure) { return std::string(figure); });
}

std::string shown(const std::optional<double>& value) { return value ? format_exact(*value) : "-"; }

double amount_of(const Allowances& allowed, const std::string& figure, double before) {
    const auto found = allowed.find(figure == "loop" ? "loops" : figure);
    if (found == allowed.end() || figure == "loops") return 0;
    return found->second.of_value ? found->second.amount * before : found->second.amount;
}

/// By what factor all accesses to memory, or where there are none all other work, grew; 1 where they did not together.
double unrolled(const LoopFigures& before, const LoopFigures& now) {
    const auto factor = [](const auto& from, const auto& to) {
        double common = 0;
        if (from.size() != to.size()) return 1.0;
        for (const auto& [what, count] : from) {
            const auto found = to.find(what);
            const double ratio = found == to.end() ? 0 : static_cast<double>(found->second) / count;
            if (ratio <= 0 || (common > 0 && std::abs(ratio / common - 1) > 0.01)) return 1.0;
            common = ratio;
        }
        return common > 0 ? common : 1.0;
    };
    const auto work = [](const LoopFigures& loop) {
        return std::max(1.0, std::accumulate(loop.classes.begin(), loop.classes.end(), 0.0, [](double sum, auto& c) {
                            return c.first == "branch" || c.first == "s_alu" ? sum : sum + c.second;
                        }));
    };
    const double of_all =
        before.memory.empty() && now.memory.empty() ? work(now) / work(before) : factor(before.memory, now.memory);
    return of_all >= 1.8 || of_all <= 1 / 1.8 ? of_all : 1.0;
}

class Comparing {
public:
    Comparing(CodeReport& report, const Allowances& allowed) : report_(report), allowed_(allowed) {}

    void kernel(const KernelFigures& before, const KernelFigures& now) {
        const auto first = report_.changes.size();
        for (const auto& figure : before.figures) compare(before, now, figure);
        loops(before, now);
        if (report_.changes.size() > first) return;
        if (before.fingerprint == now.fingerprint)
            ++report_.same;
        else
            add(now, "", "", "", CodeVerdict::other, "other code with the same figures");
    }

    void add(const KernelFigures& kernel, const std::string& figure, const std::string& before, const std::string& now,
             CodeVerdict verdict, const std::string& why = "") {
        report_.changes.push_back({kernel, figure, before, now, verdict, why});
    }

private:
    void compare(const KernelFigures& before, const KernelFigures& now, const Figure& was) {
        const auto* is = now.figure(was.name);
        const auto& value = is ? is->value : std::nullopt;
        if (was.value == value || was.name == "loop") return;
        const auto put = [&](CodeVerdict verdict, const std::string& why = "") {
            add(now, was.name, shown(was.value), shown(value), verdict, why);
        };
        if (!was.value) return put(CodeVerdict::other, "it was not known");
        if (!value) return put(CodeVerdict::unknown, is ? is->enough : "");
        if (was.unit != is->unit)
            return put(CodeVerdict::unknown, "it was in " + was.unit + ", and is in " + is->unit);
        const double more = was.name == "occupancy" ? *was.value - *value : *value - *was.value;
        const bool fewer_loops = was.name == "loops" && more < 0;
        put(fewer_loops                                          ? CodeVerdict::other
            : more < 0                                           ? CodeVerdict::better
            : more > amount_of(allowed_, was.name, *was.value)   ? CodeVerdict::worse
                                                                 : CodeVerdict::allowed,
            group_changed(before, now, was.name));
    }

    static std::string group_changed(const KernelFigures& before, const KernelFigures& now, const std::string& figure) {
        return figure == "occupancy" && before.group != now.group
                   ? "groups of " + fmt::format("{}", fmt::join(before.group, "x")) + " then, " +
                         fmt::format("{}", fmt::join(now.group, "x")) + " now"
                   : "";
    }

    /// Of one shape loop by loop; else only those that do the most work.
    void loops(const KernelFigures& before, const KernelFigures& now) {
        const auto depths = [](const KernelFigures& of) {
            std::vector<unsigned> out;
            for (const auto& loop : of.loops) out.push_back(loop.depth);
            return out;
        };
        if (depths(before) == depths(now)) {
            for (std::size_t i = 0; i < now.loops.size(); ++i)
                loop(now, now.loops.size() == 1 ? "loop" : "loop " + std::to_string(i + 1), before.loops[i],
                     now.loops[i]);
        } else if (before.shown >= 0 && now.shown >= 0) {
            loop(now, "loop", before.loops[static_cast<std::size_t>(before.shown)],
                 now.loops[static_cast<std::size_t>(now.shown)]);
        }
    }

    void loop(const KernelFigures& kernel, const std::string& name, const LoopFigures& before, const LoopFigures& now) {
        if (before.instructions == now.instructions && before.classes == now.classes) return;
        const auto put = [&](CodeVerdict verdict, const std::string& why = "") {
            add(kernel, name, std::to_string(before.instructions), std::to_string(now.instructions), verdict, why);
        };
        const double more = static_cast<double>(now.instructions) - before.instructions, factor = unrolled(before, now);
        if (factor > 1) return put(CodeVerdict::other, fmt::format("an iteration does {:.2g} times the work", factor));
        if (factor < 1)
            return put(CodeVerdict::worse,
                       fmt::format("unrolled less: an iteration does {:.2g} of the work", factor));
        put(more < 0                                                  ? CodeVerdict::better
            : more == 0                                               ? CodeVerdict::other
            : more > amount_of(allowed_, "loop", before.instructions) ? CodeVerdict::worse
                                                                      : CodeVerdict::allowed,
            more == 0 ? "other instructions" : "");
    }

    CodeReport& report_;
    const Allowances& allowed_;
};

/// What is not as it was beside the code, each once.
void note_conditions(CodeReport& report, const KernelFigures& before, const KernelFigures& now) {
    const auto note = [&](const std::string& what, const std::string& was, const std::string& is) {
        if (was != is && !was.empty() && !is.empty())
            add_once(report.notes, now.target + (now.column.empty() ? "" : " by " + now.column) + ": " + what + " was " +
                                       was + ", and is " + is + " now");
    };
    note("compiler", before.compiler, now.compiler);
    note("options of " + now.kernel, before.options, now.options);
}

void worst_first(CodeReport& report) {
    std::ranges::stable_sort(report.changes, [](const auto& a, const auto& b) { return a.verdict < b.verdict; });
}

}  // namespace

const char* name(CodeVerdict verdict) {
    static constexpr Entry<CodeVerdict, const char*> names[] = {
        {CodeVerdict::failed, "failed"},   {CodeVerdict::worse, "worse"},     {CodeVerdict::broken, "not as expected"},
        {CodeVerdict::missing, "missing"}, {CodeVerdict::unknown, "unknown"}, {CodeVerdict::other, "changed"},
        {CodeVerdict::better, "better"},   {CodeVerdict::allowed, "allowed"}, {CodeVerdict::added, "new"}};
    return value_of(names, verdict);
}

Allowances allowances_of(const std::string& text) {
    Allowances out{{"code", {0.02, true}}, {"loops", {0.02, true}}, {"instructions", {0.02, true}}};
    for (const auto& part : text.empty() ? std::vector<std::string>{} : split(text, ',')) {
        const auto equals = part.find('=');
        const auto figure = part.substr(0, equals);
        auto amount = equals == part.npos ? "" : part.substr(equals + 1);
        const bool of_value = amount.ends_with('%');
        if (of_value) amount.pop_back();
        const auto value = parse_real(amount);
        const bool known = figure != "loop" && std::ranges::find(figure_names, figure) != std::end(figure_names);
        if (!known || !value || *value < 0 || !std::isfinite(*value))
            throw Error(Blame::usage,
                        "option '--allow' takes FIGURE=N or FIGURE=N%, as 'code=5%,registers=4'; figures are ",
                        names_of(std::span(figure_names).first(8)), "; found '", part, "'");
        out[figure] = {of_value ? *value / 100 : *value, of_value};
    }
    return out;
}

void compare_code(CodeReport& report, const std::vector<KernelFigures>& before, const Allowances& allowed) {
    Comparing comparing(report, allowed);
    std::vector<const KernelFigures*> seen;
    for (const auto& was : before) {
        const auto now = std::ranges::find_if(report.kernels, [&](const auto& is) { return is.is_same(was); });
        if (now == report.kernels.end()) {
            const auto of_target = std::ranges::find_if(
                report.kernels, [&](const auto& k) { return k.kernel.empty() && k.target == was.target; });
            comparing.add(was, "", "", "", CodeVerdict::missing,
                          of_target == report.kernels.end() ? "it is not among today's kernels and targets"
                                                            : of_target->reason);
            continue;
        }
        note_conditions(report, was, *now);
        if (was.status == "ok" && now->status == "unsupported")
            comparing.add(*now, "", "", "", CodeVerdict::missing, now->reason);
        else if (was.status == "ok" && now->status == "ok")
            comparing.kernel(was, *now);
        else if (was.status != now->status)
            comparing.add(*now, "", was.status, now->status,
                          now->status == "build_failed" ? CodeVerdict::failed : CodeVerdict::other, now->reason);
        else
            ++report.same;
    }
    for (const auto& now : report.kernels)
        if (!now.kernel.empty() && std::ranges::none_of(before, [&](const auto& was) { return was.is_same(now); }))
            comparing.add(now, "", "", "", CodeVerdict::added, "it is not in the file");
    worst_first(report);
}

void expect_of_code(CodeReport& report, const std::string& text) {
    const auto condition = kernelfile::Expression::condition(text, {"--expect", 0, 0});
    report.expected = text;
    for (const auto& kernel : report.kernels) {
        const auto put = [&](CodeVerdict verdict, const std::string& why) {
            report.changes.push_back({kernel, "", "", "", verdict, why});
        };
        if (kernel.status != "ok") {
            put(kernel.status == "build_failed" ? CodeVerdict::failed : CodeVerdict::unknown, kernel.reason);
            continue;
        }
        std::string values;
        const auto lookup = [&](const std::string& figure, const kernelfile::Place&) {
            const auto* found = kernel.figure(figure);
            if (!found->value) throw Unknown{figure + " is not known: " + found->enough};
            values += (values.empty() ? "" : ", ") + figure + " is " + format_exact(*found->value);
            return *found->value;
        };
        try {
            for (const auto& used : condition.names())
                if (!kernel.figure(used))
                    throw Unknown{"there is no figure '" + used + "'; there are " + names_of(figure_names)};
            if (condition.evaluate_real(lookup) == 0) put(CodeVerdict::broken, text + " does not hold: " + values);
        } catch (const Unknown& unknown) {
            put(CodeVerdict::unknown, unknown.why);
        }
    }
    worst_first(report);
}

int exit_status_of(const CodeReport& report) {
    const auto any = [&](std::initializer_list<CodeVerdict> verdicts) {
        return std::ranges::any_of(report.changes, [&](const auto& change) {
            return std::ranges::find(verdicts, change.verdict) != verdicts.end();
        });
    };
    if (std::ranges::any_of(report.kernels, [](const auto& k) { return k.status == "build_failed"; })) return 1;
    if (any({CodeVerdict::worse, CodeVerdict::broken})) return 4;
    return any({CodeVerdict::missing, CodeVerdict::unknown}) ? 5 : 0;
}

}  // namespace cllab::app

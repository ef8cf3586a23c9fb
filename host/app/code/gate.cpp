#include "app/code/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/screen/results.hpp"
#include "core/grouped.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "core/version.hpp"
#include "inspect/isa/isa.hpp"
#include "json/read.hpp"
#include "report/records/json.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {
namespace {

std::string known_figures() { return join(Strings(std::begin(figure_names), std::end(figure_names)), ", "); }
bool is_figure(const std::string& name) { return std::ranges::count(figure_names, name) > 0; }

using Allowed = std::map<std::string, std::pair<double, bool>>;

/// Parses "code=5%,registers=4"; unnamed figures keep their defaults.
Allowed allowed_by(const std::string& text) {
    Allowed out{{"code", {0.02, true}}, {"instructions", {0.02, true}}, {"loops", {0.02, true}}};
    for (const auto& part : text.empty() ? Strings{} : split(text, ',')) {
        const auto figure = part.substr(0, part.find('='));
        auto amount = part.substr(std::min(part.size(), figure.size() + 1));
        const bool of_value = amount.ends_with('%');
        if (of_value) amount.pop_back();
        const auto value = parse_real(amount);
        if (!is_figure(figure) || figure == "loop" || !value || !(*value >= 0))
            throw Error(Blame::usage,
                        "option '--allow': expected FIGURE=N or FIGURE=N%, as in 'code=5%,registers=4', found '", part,
                        "'; FIGURE is one of registers, spills, private, local, code, occupancy, instructions, loops");
        out[figure] = {of_value ? *value / 100 : *value, of_value};
    }
    return out;
}

class Comparing {
public:
    Comparing(CodeReport& report, const Allowed& allowed) : report_(report), allowed_(allowed) {}

    void kernel(const Json& before, const Json& now) {
        const auto first = report_.changes.size();
        for (const auto& [name, figure] : before.at("figures").items())
            if (name != "loop") compare(now, name, figure, now.at("figures").value(name, Json::object()));
        if (before.contains("counts") && now.contains("counts")) loops(now, before.at("counts"), now.at("counts"));
        if (report_.changes.size() > first) return;
        if (before.at("fingerprint") == now.at("fingerprint"))
            ++report_.same;
        else
            add(now, "changed", "other code with the same figures");
    }
    void add(const Json& kernel, const std::string& verdict, const std::string& reason, const std::string& figure = "",
             const Json& before = {}, const Json& now = {}, const std::string& enough = "") {
        Json out;
        for (const char* key : {"kernel", "target", "column", "file", "line"})
            if (kernel.contains(key)) out[key] = kernel[key];
        if (!figure.empty()) out["figure"] = figure;
        if (!before.is_null()) out["before"] = before;
        if (!now.is_null()) out["now"] = now;
        out["verdict"] = verdict;
        if (!reason.empty()) out["reason"] = reason;
        if (!enough.empty()) report::add_refusal(out, verdict, reason, enough);
        report_.changes.push_back(std::move(out));
    }

private:
    const char* verdict(const std::string& figure, double before, double more) const {
        const auto found = allowed_.find(figure);
        const double most = found == allowed_.end() ? 0 : found->second.first * (found->second.second ? before : 1);
        return more < 0 ? "better" : more > most ? "worse" : "allowed";
    }

    void compare(const Json& kernel, const std::string& name, const Json& was, const Json& is) {
        const auto before = was.value("value", Json()), now = is.value("value", Json());
        if (before == now) return;
        if (before.is_null()) return add(kernel, "changed", "it was not known", name, before, now);
        if (now.is_null())
            return add(kernel, "unknown", is.value("reason", "there is no such figure"), name, before, now,
                       is.value("enough", "the cllab that saved the file"));
        if (was.value("unit", "") != is.value("unit", ""))
            return add(kernel, "unknown", "the unit was " + was.value("unit", "none"), name, before, now,
                       "a file saved by today's tools");
        const double more = now.get<double>() - before.get<double>();
        if (name == "loops") return add(kernel, more > 0 ? "worse" : "changed", "", name, before, now);
        add(kernel, verdict(name, before.get<double>(), name == "occupancy" ? -more : more), "", name, before, now);
    }

    /// Compares each loop if both sides have equally many, else only the loops that do the most work.
    void loops(const Json& kernel, const Json& before, const Json& now) {
        const auto &was = before.at("loops"), &is = now.at("loops");
        const bool alike = was.size() == is.size();
        if (!alike && (!before.contains("shown_loop") || !now.contains("shown_loop"))) return;
        if (!alike)
            return loop(kernel, "loop", was.at(before["shown_loop"].get<std::size_t>()),
                        is.at(now["shown_loop"].get<std::size_t>()));
        for (std::size_t i = 0; i < is.size(); ++i)
            loop(kernel, is.size() == 1 ? "loop" : "loop " + std::to_string(i + 1), was.at(i), is.at(i));
    }

    /// Fewer instructions are no gain if an iteration does less, for example because the loop is no longer unrolled.
    void loop(const Json& kernel, const std::string& name, const Json& was, const Json& is) {
        if (was.at("instructions") == is.at("instructions") && was.at("classes") == is.at("classes")) return;
        const double before = was["instructions"].get<double>(), more = is["instructions"].get<double>() - before;
        const auto [unit, did] = work_of(was, {"store", "load", ""});
        const auto does = work_of(is, {unit}).second;
        const bool less = does * 1.8 < did;
        add(kernel,
            less        ? "worse"
            : more == 0 ? "changed"
                        : verdict("loops", before, more),
            less        ? fmt::format("an iteration does {:g} of {:g} {}: unrolled less, or less to do", does, did,
                               unit.empty() ? "instructions of work" : "bits of " + unit + "s")
            : more == 0 ? "other instructions"
                        : "",
            name, was["instructions"], is["instructions"]);
    }

    /// Spilled values and private arrays. They are not counted as work: an iteration without them does no less.
    static bool is_private(const std::string& access) {
        return access.starts_with("scratch_") || access.starts_with("stack_") || access.starts_with("local_");
    }

    /// The first nonzero of: bits that an iteration stores, bits that it loads, its instructions without loop control.
    static std::pair<std::string, double> work_of(const Json& loop, const Strings& units) {
        for (const auto& unit : units) {
            double sum = 0;
            if (unit.empty())
                for (const auto& [kind, count] : loop.at("classes").items())
                    sum += kind == "branch" || kind == "s_alu" ? 0 : count.get<double>();
            else
                for (const auto& [access, count] : loop.at("memory").items())  // "global_load_128"
                    if (access.find(unit) != access.npos && !is_private(access))
                        sum += count.get<double>() * parse_real(access.substr(access.rfind('_') + 1)).value_or(1);
            if (sum > 0 || unit == units.back()) return {unit, sum};
        }
        return {};
    }

    CodeReport& report_;
    const Allowed& allowed_;
};

void note_conditions(CodeReport& report, const Json& before, const Json& now) {
    for (const char* what : {"compiler", "options", "group"})
        if (const auto was = before.value(what, Json()), is = now.value(what, Json()); was != is)
            add_once(report.notes,
                     concat(std::string_view(what) == "compiler" ? now.at("target").get<std::string>() : place_of(now),
                            ": ", what, " was ", was.dump(), ", and is ", is.dump(), " now"));
}

/// Whether both are the same kernel for the same target, in files with different names.
bool is_renamed(const Json& was, const Json& is) {
    const auto rest = [](const Json& of) {  // without the file name in front
        return place_of(of).erase(0, std::filesystem::path(of.value("file", "")).stem().string().size());
    };
    return was.value("file", "") != is.value("file", "") && rest(was) == rest(is);
}

void compare_code(CodeReport& report, const std::vector<Json>& before, const Allowed& allowed) {
    Comparing comparing(report, allowed);
    const auto named = [](const Json& kernel) { return !kernel.at("kernel").get<std::string>().empty(); };
    const auto is_new = [&](const Json& now) {
        return named(now) && std::ranges::none_of(before, [&](const auto& was) { return same_place(now, was); });
    };
    for (const auto& was : before) {
        auto now = std::ranges::find_if(report.kernels, [&](const auto& is) { return same_place(is, was); });
        if (now == report.kernels.end())
            now =
                std::ranges::find_if(report.kernels, [&](const auto& is) { return is_renamed(was, is) && is_new(is); });
        const auto there = std::ranges::find_if(
            report.kernels, [&](const auto& is) { return !named(is) && is["target"] == was["target"]; });
        const auto lost = [&](const Json& kernel, const Json& why) {
            comparing.add(kernel, "missing", why.value("reason", "it is not among today's kernels and targets"), "", {},
                          {}, why.value("enough", "the kernels and targets of the file, or a new file by --save"));
        };
        if (now == report.kernels.end()) {
            lost(was, there == report.kernels.end() ? Json::object() : *there);
            continue;
        }
        note_conditions(report, was, *now);
        const std::string status = now->at("status"), old = was.at("status");
        if (status == "ok" && old == "ok")
            comparing.kernel(was, *now);
        else if (status == old)
            ++report.same;
        else if (status == "unsupported")
            lost(*now, *now);
        else
            comparing.add(*now, status == "ok" ? "better" : "failed", now->value("reason", ""), "", old, status);
    }
    for (const auto& now : report.kernels)
        if (is_new(now) && std::ranges::none_of(before, [&](const auto& was) { return is_renamed(was, now); }))
            comparing.add(now, "new", "it is not in the file");
}

void expect_of_code(CodeReport& report, const kernelfile::Expression& condition) {
    const Allowed none;
    Comparing adding(report, none);
    for (const auto& kernel : report.kernels) {
        std::string values, unknown = kernel.contains("figures") ? "" : kernel.value("reason", ""),
                            enough = kernel.value("enough", "");
        std::map<std::string, double> known;
        for (const auto& name : condition.names()) {
            const auto figure = kernel.value("figures", Json::object()).value(name, Json::object());
            if (figure.contains("value"))
                known[name] = figure["value"].get<double>(), values += fmt::format(", {} is {:g}", name, known[name]);
            else if (unknown.empty()) {
                unknown = name + " is not known: " + figure.value("reason", "");
                enough = figure.value("enough", "");
            }
        }
        if (!unknown.empty())
            adding.add(kernel, kernel.at("status") == "build_failed" ? "failed" : "unknown", unknown, "", {}, {},
                       enough);
        else if (condition.evaluate_real([&](const auto& name, const auto&) { return known.at(name); }) == 0)
            adding.add(kernel, "not as expected", condition.text() + " does not hold" + values);
    }
}

std::vector<Json> read_saved(const std::string& path) {
    const auto fault = reading_fault(path);
    const auto text = fault.empty() ? read_file(path) : std::nullopt;
    if (!text) throw Error(Blame::usage, "file '", path, "' (--against) cannot be read: ", fault);
    std::string why;
    try {
        const auto json = parse_json<Json>(*text);
        std::vector<Json> out = json.at("kernels");
        // Compare the file with itself: this finds odd contents before anything is compiled.
        CodeReport trial{.kernels = out};
        compare_code(trial, out, {});
        if (json.at("record") == "code file" && json.at("schema") == 1 && trial.changes.empty() && !out.empty())
            return out;
        why = "it has no kernels, a kernel twice, or another schema";
    } catch (const std::exception& e) {
        why = e.what();
    }
    throw Error(Blame::usage, "file '", path, "' (--against) was not written by `cllab isa --save`: ", why);
}

int status_of(const CodeReport& report) {
    const auto any = [&](std::initializer_list<std::string_view> verdicts) {
        return std::ranges::any_of(report.changes, [&](const auto& change) {
            return std::ranges::find(verdicts, change["verdict"].template get<std::string>()) != verdicts.end();
        });
    };
    return any({"failed"}) ? 1 : any({"worse", "not as expected"}) ? 4 : any({"missing", "unknown"}) ? 5 : 0;
}

inspect::Words words_of(const std::string& kind) {
    for (const auto* set : inspect::isa::all())
        if (std::ranges::any_of(set->kinds, [&](auto k) { return inspect::name(k) == kind; })) return set->words;
    return {};
}

/// What would make an unknown figure of the code known.
std::string enough_for(const CellCode& code) {
    return code.enough.empty() ? "a device or a target (`cllab isa --targets`) whose code says it" : code.enough;
}

void add_figures(Json& out, const CellCode& code) {
    const auto put = [&](std::string_view name, const Json& value, const std::string& unit, const std::string& from) {
        if (!value.is_null()) return report::add_figure(out, std::string(name), value, unit, from);
        report::add_refusal(out["figures"][std::string(name)], "not known",
                            concat("the ", code.info.kind, " does not say it"), enough_for(code));
    };
    const auto words = words_of(code.info.kind);
    const std::string units[]{words.registers, concat(*words.spill_unit ? "bytes of " : "", words.spills),
                              concat("bytes per ", words.private_per), "bytes per work-group", "bytes"};
    const char* keys[]{"registers", "spills", "private_bytes", "local_bytes", "code_bytes"};
    for (std::size_t i = 0; i < std::size(keys); ++i) {
        const auto* fact = std::ranges::find(inspect::fact_names, std::string_view(keys[i]), &inspect::FactName::name);
        const auto& value = code.info.*fact->number;
        const auto from = code.info.origin.find(keys[i]);
        put(figure_names[i], value ? Json(*value) : Json(), units[i],
            from == code.info.origin.end() ? "" : from->second);
    }
    const auto stats = Json::parse(code.stats, nullptr, false);
    const auto occupancy = stats.is_object() ? stats.value("occupancy", Json::object()) : Json::object();
    put("occupancy", occupancy.value("waves", Json()), occupancy.value("unit", ""), occupancy.value("formula", ""));
    const auto& counts = code.counts;
    const bool counted = !counts.code.instructions.empty();
    const auto number = [&](std::size_t n) { return counted ? Json(n) : Json(); };
    const std::string unit = counted && counts.isa->virtual_machine ? "PTX instructions" : "instructions",
                      from = counted ? std::string(counts.isa->name) + " listing" : "";
    put("instructions", number(counts.total.instructions), unit, from);
    put("loops", number(counts.loops.size()), "loops", from);
    put("loop", number(counts.shown < 0 ? 0 : counts.loops[static_cast<std::size_t>(counts.shown)].own.instructions),
        unit + " per iteration", from);
}

}  // namespace

std::string place_of(const Json& kernel) {
    const std::string column = kernel.value("column", "");
    return concat(kernel.at("kernel").get<std::string>(), " for ", kernel.at("target").get<std::string>(),
                  column.empty() ? "" : " by ", column);
}

bool same_place(const Json& a, const Json& b) { return place_of(a) == place_of(b); }

bool is_bad(const Json& change) {
    return std::ranges::find(bad_verdicts, change.at("verdict").get<std::string>()) != std::end(bad_verdicts);
}

CodeGate::CodeGate(IsaOptions& invocation) : invocation_(invocation), outputs_(invocation) {
    if (!invocation.save.empty()) outputs_.writes(invocation.save, "--save", Outputs::Kind::whole);
    if (!invocation.sarif.empty()) outputs_.writes(invocation.sarif, "--sarif", Outputs::Kind::whole);
    allowed_ = allowed_by(invocation.allow);
    if (!invocation.expect.empty()) expect_ = kernelfile::Expression::condition(invocation.expect, {"--expect", 0, 0});
    if (expect_ && expect_->names().empty())
        throw Error(Blame::usage, "option '--expect': expected a condition on one of ", known_figures(), ", found '",
                    invocation.expect, "'");
    for (const auto& name : expect_ ? expect_->names() : std::set<std::string>())
        if (!is_figure(name))
            throw Error(Blame::usage, "option '--expect': unknown figure '", name, "'; figures are: ", known_figures());
    if (!invocation.against.empty()) before_ = read_saved(invocation.against);
    if (invocation.targets.empty() && invocation.devices.empty())
        for (const auto& kernel : before_) add_once(invocation.targets, kernel["target"]);
    outputs_.open();
}

bool CodeGate::has_stdout() const {
    return (outputs_.json() && outputs_.json()->is_stdout()) || has_page_on_stdout(outputs_);
}

bool CodeGate::is_asked() const { return compares() || !invocation_.save.empty() || outputs_.json(); }

bool CodeGate::prints() const { return !compares() && !has_stdout(); }

int CodeGate::finish(const std::vector<CellCode>& codes, int failed) {
    CodeReport report;
    std::ranges::transform(codes, std::back_inserter(report.kernels), figures_of);
    if (auto* saved = outputs_.file("--save")) {
        const Json whole{{"schema", 1}, {"record", "code file"}, {"cllab", version()}, {"kernels", report.kernels}};
        saved->whole(json_text(whole, 1) + "\n");
    }
    if (!before_.empty()) compare_code(report, before_, allowed_);
    if (expect_) expect_of_code(report, *expect_);
    std::ranges::stable_sort(report.changes, {}, [](const Json& change) {
        return std::ranges::find(bad_verdicts, change["verdict"].get<std::string>()) - std::begin(bad_verdicts);
    });
    write(report);
    if (!compares()) return failed;
    if (!has_stdout()) print_changes(report);
    const int found = status_of(report);
    return found == 0 || failed == 1 ? failed : found;
}

void CodeGate::write(const CodeReport& report) const {
    if (auto* json = outputs_.json())
        for (const auto& [record, list] : {std::pair("code", &report.kernels), {"code change", &report.changes}})
            for (const auto& one : *list) {
                Json line{{"schema", 1}, {"record", record}};
                line.update(one);
                json->line(json_text(line));
            }
    if (auto* junit = outputs_.file("--junit")) junit->whole(junit_of(report));
    if (auto* sarif = outputs_.file("--sarif")) sarif->whole(sarif_of(report));
    if (auto* markdown = outputs_.file("--markdown")) markdown->whole(markdown_of(report));
}

Json figures_of(const CellCode& code) {
    Json out{{"kernel", code.id}, {"target", code.where}};
    for (const auto& [key, text] : {std::pair("column", code.column),
                                    {"compiler", code.compiler},
                                    {"file", code.file},
                                    {"options", code.options}})
        if (!text.empty()) out[key] = text;
    if (code.line > 0) out["line"] = code.line;
    if (!code.group.empty()) out["group"] = code.group;
    out["status"] = model::name(code.status);
    if (code.has_code()) {
        out["fingerprint"] = code.info.fingerprint;
        add_figures(out, code);
        if (!code.counts.code.instructions.empty()) out["counts"] = inspect::to_json(code.counts);
    }
    if (code.status != model::Status::ok) {
        const bool failed = code.status == model::Status::build_failed;
        report::add_refusal(out, model::name(code.status), run::first_error(code.reason),
                            failed ? "a text that this compiler takes" : enough_for(code));
    }
    return out;
}

}  // namespace cllab::app

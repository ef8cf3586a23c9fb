// `cllab complete -- WORDS`: what the last word may become, a line each, for the shells' completions in
// tools/completions. A file name is the shell's own to find. The help does not list it: it is for scripts.
#include <algorithm>
#include <set>

#include "app/commandline/command.hpp"
#include "app/commandline/topics.hpp"
#include "app/commands.hpp"
#include "app/processes/runner.hpp"
#include "app/screen/streams.hpp"
#include "core/grouped.hpp"
#include "device/platforms.hpp"
#include "inspect/tools/offline.hpp"
#include "model/registry.hpp"
#include "report/table/columns.hpp"

namespace cllab::app {
namespace {

/// Families, and their variants where they are wanted.
Strings kernels(bool variants) {
    Strings out;
    for (const auto& experiment : model::registry()) {
        out.push_back(experiment.family);
        for (const auto& variant : experiment.variants)
            if (variants) out.push_back(experiment.id(variant));
    }
    return out;
}

Strings devices() {
    Strings out{"cpu", "gpu", "accelerator", "all"};
    try {  // a driver that crashes or hangs costs the words, not the shell
        for (auto& selector : in_child(
                 [](const HandOver& hand_over) {
                     for (const auto& found : device::discover()) hand_over(found.facts.selector);
                 },
                 "while the devices were listed", 10, 10))
            out.push_back(std::move(selector));
    } catch (const Error&) {
    }
    return out;
}

/// The axes of the families that the words before name, of all families where they name none: "width=", and behind the
/// sign the values that the axis has by itself or may be chosen from.
Strings axes(const Strings& before, const std::string& word) {
    std::set<std::string> out;
    const auto add = [&](const model::Experiment& experiment) {
        for (const auto& axis : experiment.axes) {
            const auto sign = axis.name + "=";
            if (word.rfind(sign, 0) != 0) {
                out.insert(sign);
                continue;
            }
            for (const auto& value : axis.kind == model::Axis::Kind::choice ? axis.choices : axis.values)
                out.insert(sign + value);
            if (axis.may_be_auto) out.insert(sign + "auto");
        }
    };
    for (const auto& experiment : model::registry())
        if (std::ranges::any_of(before, [&](const auto& w) {
                return w == experiment.family || w.rfind(experiment.family + "_", 0) == 0;
            }))
            add(experiment);
    if (out.empty())
        for (const auto& experiment : model::registry()) add(experiment);
    return {out.begin(), out.end()};
}

/// Names of the command's columns, behind those that `word` has already.
Strings columns(const std::string& command, const Strings& before, const std::string& word) {
    auto names = report::columns_of_command(command);
    if (names.empty()) {
        names = report::column_names();
        for (auto axis : axes(before, "")) names.push_back(axis.substr(0, axis.size() - 1));
    }
    names.emplace_back("all");
    const auto last = word.rfind(',');
    const auto kept = last == std::string::npos ? "" : word.substr(0, last + 1);
    for (auto& name : names) name.insert(0, kept);
    return names;
}

/// The value of an option, by what --help calls it.
Strings values(std::string called, const std::string& command, const Strings& before, const std::string& word) {
    called = called.substr(0, called.find(' '));
    if (called == "PATTERN") return kernels(true);
    if (called == "D") return devices();
    if (called == "T") return mapped(inspect::offline_targets(), &inspect::OfflineTarget::name);
    if (called == "NAME=VALUES") return axes(before, word);
    if (called == "LIST") return columns(command, before, word);
    if (called == "STATE") return {"hot", "cold", "rotate"};
    if (called == "TOOL") return {"oclgrind"};
    return {};
}

Strings candidates(Strings before, const std::string& word) {
    const auto known = command_names();
    std::string command = "run";
    Strings out;
    if (before.empty()) {
        out = known;
        out.insert(out.end(), {"help", "--version"});
        if (word.empty()) return out;  // and not hundreds of kernels, which `cllab PATTERN` takes, too
    } else if (before.front() == "help") {
        out = known;
        for (const auto& topic : topics())
            if (std::ranges::find(known, topic.name) == known.end()) out.emplace_back(topic.name);
        return out;
    } else if (std::ranges::find(known, before.front()) != known.end()) {
        command = before.front();
        before.erase(before.begin());
    }
    const auto& row = *find_command(command);
    const auto known_options = described(row.options);
    if (!before.empty() && before.back().rfind('-', 0) == 0) {
        const auto& last = before.back();
        const auto* option = known_options.find_nothrow(last.rfind("--", 0) == 0 ? last.substr(2) : last, false);
        if (option && option->semantic()->max_tokens() > 0)
            return values(option->semantic()->name(), command, before, word);
    }
    const auto add = [&](const Strings& more) { out.insert(out.end(), more.begin(), more.end()); };
    if (word.rfind('-', 0) == 0)
        for (const auto& option : known_options.options()) out.push_back("--" + option->long_name());
    else if (const std::string_view takes = row.manual.synopsis;
             takes.starts_with("FAMILY") || takes.starts_with("PATTERN") || takes.starts_with("[PATTERN"))
        add(kernels(!takes.starts_with("FAMILY")));
    return out;
}

}  // namespace

int complete(std::vector<std::string> words) {
    const auto word = words.empty() ? std::string() : words.back();
    if (!words.empty()) words.pop_back();
    for (const auto& candidate : candidates(words, word))
        if (candidate.rfind(word, 0) == 0) results() << candidate << '\n';
    return 0;
}

}  // namespace cllab::app

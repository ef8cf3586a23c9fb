// `cllab behaviour`: the answers of devices to the questions of behaviour/rows.txt, side by side.
#include "app/commands/command_file.hpp"
#include "app/files/behaviour_file.hpp"
#include "core/version.hpp"

namespace cllab::app {
namespace {

using behaviour::Answer;
using Questions = std::vector<behaviour::Question>;

struct BehaviourOptions : Call, FileOptions {
    Strings devices, only;
    std::string dumps;
    bool no_dumps = false;
};

/// Asks in a child process. If it dies or stalls, the answer is that failure, and a new child asks the next question.
Answers ask(const std::string& selector, const Questions& questions) {
    Answers out;
    const auto work = [&](std::size_t first, const HandOver& hand_over) {
        LocalDevices devices;
        const auto answer_to = behaviour::answers_of(devices.open(selector));
        hand_over("");
        for (auto i = first; i < questions.size(); ++i) hand_over(json_text(nlohmann::json(answer_to(questions[i]))));
    };
    const auto take = [&](std::size_t i, const std::string& line) {
        out[questions[i].name] = parse_json<nlohmann::json>(line).get<Answer>();
        if (++i < questions.size()) say_doing(fmt::format("[{}/{}] {}", i + 1, questions.size(), questions[i].name));
    };
    const auto lost = [](const auto& why) { return json_text(nlohmann::json(Answer{Answer::Status::failed, why})); };
    in_children(questions.size(), work, "while device " + selector + " was asked,", 60, 30, take, lost);
    say_doing("");
    return out;
}

struct Answered {
    model::Device device;
    Answers answers;
};

bool is_answered_differently(const behaviour::Question& question, const std::vector<Answered>& all) {
    const auto of = [&](const Answered& one) { return one.answers.at(question.name); };
    return std::ranges::any_of(all, [&](const auto& one) { return differ(of(all[0]), of(one)); });
}

/// The question, the claim, the answer of each device, and the consequence.
std::vector<report::Column> table_of(const Questions& questions, const std::vector<Answered>& all) {
    std::vector<report::Column> out{{.title = "question"}, {.title = "claim", .most = 16}};
    for (const auto& [device, answers] : all)
        out.push_back({.title = all.size() == 1 ? "what it does" : device.selector + " " + device.name});
    out.push_back({.title = "what follows"});
    for (const auto& question : questions) {
        Strings cells{question.field("ask"), ""}, claims, follows;
        for (const auto& one : all) {
            const auto& answer = one.answers.at(question.name);
            add_once(claims, answer.claim);
            if (!answer.so.empty()) add_once(follows, answer.so);
            cells.push_back(answer.text);
        }
        cells[1] = join(claims, " / ");
        cells.push_back(join(follows, " / "));
        report::add_row(out, cells);
    }
    return out;
}

std::string json_of(const Questions& questions, const std::vector<Answered>& all) {
    nlohmann::ordered_json out{{"schema", "cllab behaviour 1"}, {"cllab", version()}, {"utc", utc_now()}};
    for (const auto& one : all) {
        out["devices"].push_back(identity_of(one.device));
        out["devices"].back()["selector"] = one.device.selector;
    }
    for (const auto& question : questions) {
        const auto answers = mapped(all, [&](const auto& one) { return one.answers.at(question.name); });
        out["questions"].push_back({{"name", question.name},
                                    {"ask", question.field("ask")},
                                    {"differs", is_answered_differently(question, all)},
                                    {"answers", nlohmann::ordered_json(nlohmann::json(answers))}});
    }
    return json_text(out, 2);
}

void check_behaviour(BehaviourOptions& options) {
    refuse_patterns(options, "`cllab behaviour` takes no PATTERN; --only NAME chooses questions");
}

int show_behaviour(const BehaviourOptions& options) {
    auto questions = behaviour::questions(options.only);
    Outputs outputs(options.force, false);
    if (!options.json.empty()) outputs.writes(options.json, "--json", Outputs::Kind::whole);
    if (!options.html.empty()) outputs.writes(options.html, "--html", Outputs::Kind::page);
    outputs.open();
    catch_interrupts();
    std::vector<Answered> all;
    bool failed = false;
    for (const auto& device : named_devices(*in_child_processes(60), options.devices)) {
        const auto& answers = all.emplace_back(device, ask(device.selector, questions)).answers;
        for (const auto& [name, answer] : answers) failed = failed || answer.status == Answer::Status::failed;
        if (!options.no_dumps) keep_answers(options.dumps, device, answers);
    }
    if (auto* json = outputs.json()) json->whole(json_of(questions, all) + "\n");
    const auto differs = [&](const auto& question) { return is_answered_differently(question, all); };
    std::ranges::stable_partition(questions, differs);
    const auto table = table_of(questions, all);
    const auto headings = mapped(all, [](const auto& one) {
        const auto& device = one.device;
        return fmt::format("{}  {}, {}, driver {}", device.selector, device.name, device.platform, device.driver);
    });
    if (auto* html = outputs.html()) html->whole(report::html::table_page("what runtimes do", headings, table));
    if (outputs.json() && outputs.json()->is_stdout()) return failed;
    for (const auto& heading : headings) results() << report::fit(heading + "\n", page_width(120));
    const std::string alike = all.size() == 1 ? "" : "answered alike: ";
    const auto sections = mapped(questions, [&](const auto& question) {
        return (differs(question) ? "answered differently: " : alike) + question.file();
    });
    report::print_text_table(results(), table, sections, page_width(120), wants_colour());
    return failed;
}

}  // namespace

Command behaviour_command() {
    Rows<BehaviourOptions> rows;
    rows.list("device,d", "D", &BehaviourOptions::devices)
        .list("only", "NAME", &BehaviourOptions::only)
        .with(json_rows())
        .text("html", "OUT", &BehaviourOptions::html)
        .text("dumps", "DIR", &BehaviourOptions::dumps)
        .flag("no-dumps", &BehaviourOptions::no_dumps);
    return make_command<BehaviourOptions>(manual_of("behaviour"), rows, check_behaviour, show_behaviour);
}

}  // namespace cllab::app

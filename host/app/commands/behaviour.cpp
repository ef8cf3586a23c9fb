// `cllab behaviour`: the answers of devices to the questions of behaviour/rows.txt, side by side.
#include "app/commands/command_file.hpp"
#include "app/files/behaviour_file.hpp"
#include "behaviour/prober.hpp"
#include "core/version.hpp"
#include "json/read.hpp"
#include "report/html/page.hpp"

namespace cllab::app {
namespace {

using behaviour::Answer;
using nlohmann::ordered_json;
using Questions = std::vector<behaviour::Question>;

struct BehaviourOptions : Call, FileOptions {
    Strings devices, only;
    std::string dumps;
    bool no_dumps = false;
};

struct Answered {
    model::Device device;
    Answers answers;
};

/// Asks in a child process. If it dies or is silent for too long, that is the answer, and a new child asks the rest.
Answers ask(const std::string& selector, const Questions& questions) {
    Answers out;
    for (auto next = questions.begin(); next != questions.end();) {
        bool begun = false;  // whether the device is open, and the first question asked
        const auto take = [&](const std::string& line) {
            if (interrupted()) throw run::Interrupted{};
            if (begun) out[(next++)->name] = parse_json<nlohmann::json>(line).get<Answer>();
            begun = true;
            if (next != questions.end())
                say_doing(fmt::format("[{}/{}] {}", out.size() + 1, questions.size(), next->name));
        };
        const auto answer = [&](const HandOver& hand_over) {
            LocalDevices devices;
            const auto answer_to = behaviour::answers_of(devices.open(selector));
            hand_over("");
            for (auto one = next; one != questions.end(); ++one) hand_over(json_text(nlohmann::json(answer_to(*one))));
        };
        try {
            in_child(answer, "while it was asked,", 60, 30, take);
        } catch (const DeviceLost& e) {
            if (!begun) throw DeviceLost("device " + selector + ": before its first question, " + e.what());
            out[(next++)->name] = {Answer::Status::failed, e.what()};
        }
    }
    say_doing("");
    return out;
}

/// A question, the claim, the answer of each device, and the consequence.
struct TableLine {
    std::string section;
    Strings cells;
    bool differs = false;
};

TableLine line_of(const std::vector<Answered>& answered, const behaviour::Question& question) {
    TableLine out{question.file(), {}};
    Strings claims, answers, follows;
    for (const auto& one : answered) {
        const auto& answer = one.answers.at(question.name);
        add_once(claims, answer.claim);
        answers.push_back(answer.text);
        if (!answer.so.empty()) add_once(follows, answer.so);
        out.differs = out.differs || differ(answered[0].answers.at(question.name), answer);
    }
    out.cells = {question.field("ask"), join(claims, " / ")};
    out.cells.insert(out.cells.end(), answers.begin(), answers.end());
    out.cells.push_back(join(follows, " / "));
    if (answered.size() > 1) out.section = (out.differs ? "answered differently: " : "answered alike: ") + out.section;
    return out;
}

Strings titles_of(const std::vector<Answered>& answered) {
    Strings out{"question", "claim"};
    for (const auto& one : answered)
        out.push_back(answered.size() == 1 ? "what it does" : one.device.selector + " " + one.device.name);
    out.push_back("what follows");
    return out;
}

std::string heading_of(const Answered& one) {
    const auto& device = one.device;
    return fmt::format("{}  {}, {}, driver {}", device.selector, device.name, device.platform, device.driver);
}

void print_table(const std::vector<Answered>& answered, const std::vector<TableLine>& lines) {
    const auto titles = titles_of(answered);
    const auto room = page_width(120) - 2 * titles.size() - 16;
    std::vector<report::Column> columns;
    for (const auto& title : titles)
        columns.push_back({.title = title, .most = title == "claim" ? 16 : room / (titles.size() - 1)});
    for (const auto& line : lines) report::add_row(columns, line.cells);
    for (const auto& one : answered) results() << report::fit(heading_of(one) + "\n", page_width(120));
    const report::Grid grid(columns, 0, wants_colour());
    results() << grid.header() << '\n';
    print_sections(results(), grid, mapped(lines, &TableLine::section), wants_colour());
}

std::string json_of(const std::vector<Answered>& answered, const Questions& questions) {
    ordered_json out{{"schema", "cllab behaviour 1"}, {"cllab", version()}, {"utc", utc_now()}};
    for (const auto& one : answered) {
        out["devices"].push_back(identity_of(one.device));
        out["devices"].back()["selector"] = one.device.selector;
    }
    for (const auto& question : questions) {
        const auto answers = mapped(answered, [&](const auto& one) { return one.answers.at(question.name); });
        out["questions"].push_back({{"name", question.name},
                                    {"ask", question.field("ask")},
                                    {"differs", line_of(answered, question).differs},
                                    {"answers", ordered_json(nlohmann::json(answers))}});
    }
    return json_text(out, 2);
}

int show_behaviour(const BehaviourOptions& options) {
    const auto questions = behaviour::questions(options.only);
    Outputs outputs(options.force, false);
    if (!options.json.empty()) outputs.writes(options.json, "--json", Outputs::Kind::whole);
    if (!options.html.empty()) outputs.writes(options.html, "--html", Outputs::Kind::page);
    outputs.open();
    catch_interrupts();
    std::vector<Answered> answered;
    bool failed = false;
    for (const auto& device : named_devices(*in_child_processes(60), options.devices)) {
        const auto& answers = answered.emplace_back(device, ask(device.selector, questions)).answers;
        for (const auto& [name, answer] : answers) failed = failed || answer.status == Answer::Status::failed;
        if (!options.no_dumps) keep_answers(options.dumps, device, answers);
    }
    auto lines = mapped(questions, [&](const auto& question) { return line_of(answered, question); });
    std::ranges::stable_partition(lines, &TableLine::differs);
    if (auto* json = outputs.json()) json->whole(json_of(answered, questions) + "\n");
    if (auto* html = outputs.html()) {
        std::ostringstream page;
        report::html::write_table_page(page, "what runtimes do", mapped(answered, heading_of), titles_of(answered),
                                       mapped(lines, &TableLine::cells));
        html->whole(page.str());
    }
    if (!outputs.json() || !outputs.json()->is_stdout()) print_table(answered, lines);
    return failed ? 1 : 0;
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
    return make_command<BehaviourOptions>(
        manual_of("behaviour"), rows,
        [](BehaviourOptions& options) {
            refuse_patterns(options, "`cllab behaviour` takes no PATTERN; --only NAME chooses questions");
        },
        show_behaviour);
}

}  // namespace cllab::app

// `cllab behaviour`: the answers of devices to the questions of behaviour/rows.txt, side by side.
#include <set>

#include "app/commands/command_file.hpp"
#include "app/processes/worker.hpp"
#include "behaviour/prober.hpp"
#include "core/embedded.hpp"
#include "core/version.hpp"
#include "json/read.hpp"

namespace cllab::behaviour {
NLOHMANN_JSON_SERIALIZE_ENUM(Answer::Status, {{Answer::Status::answered, "answered"},
                                              {Answer::Status::undecided, "not decided"},
                                              {Answer::Status::untried, "not tried"},
                                              {Answer::Status::failed, "failed"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Answer, status, text, measured, claim, so)
}  // namespace cllab::behaviour

namespace cllab::app {
namespace {

using nlohmann::ordered_json;

struct BehaviourOptions : Call {
    Strings devices, only;
    std::string json, html;
    bool force = false;
};

struct Answered {
    model::Device device;
    std::vector<behaviour::Answer> answers;  ///< one per question
};

/// Asks in a child process. If it dies or is silent for too long, that is the answer, and a new child asks the rest.
std::vector<behaviour::Answer> ask(const std::string& selector, const std::vector<behaviour::Question>& questions) {
    constexpr double patience = 30;
    std::vector<behaviour::Answer> out;
    while (out.size() < questions.size()) {
        Worker worker([&](Link& parent, Position&) {
            LocalDevices devices;
            const auto answer = behaviour::answers_of(devices.open(selector));
            parent.send({{"begun", true}});
            for (auto i = out.size(); i < questions.size(); ++i) parent.send(nlohmann::json(answer(questions[i])));
        });
        auto event = Worker::Event::line;
        bool begun = false;  // whether it has come to its first question
        for (std::string line; out.size() < questions.size();) {
            say_doing(fmt::format("[{}/{}] {}", out.size() + 1, questions.size(), questions[out.size()].name));
            if (event = worker.next(line, patience); event != Worker::Event::line) break;
            const auto message = parse_json<Message>(line);
            rethrow(message);
            if (begun) out.push_back(nlohmann::json(message).get<behaviour::Answer>());
            begun = true;
        }
        if (interrupted()) throw run::Interrupted{};
        if (event == Worker::Event::line) continue;
        const auto why =
            event == Worker::Event::silent ? fmt::format("no answer within {} s", patience) : death(worker.reap());
        if (!begun) throw DeviceLost("device " + selector + ": " + why + " before its first question");
        out.push_back({behaviour::Answer::Status::failed, why});
    }
    say_doing("");
    return out;
}

struct TableLine {
    Strings cells;
    bool differs = false;
};

/// The question, the answers, each behind its claim where devices stand side by side, and what follows.
TableLine line_of(const std::vector<Answered>& answered, const behaviour::Question& question, std::size_t i) {
    TableLine out{{question.field("ask")}};
    if (answered.size() == 1) out.cells.push_back(answered[0].answers[i].claim);
    std::set<std::string> follows;
    for (const auto& one : answered) {
        const auto& answer = one.answers[i];
        const auto text = (answer.status == behaviour::Answer::Status::undecided ? "not decided: " : "") + answer.text;
        const bool has_claim = answered.size() > 1 && !answer.claim.empty();
        out.cells.push_back(has_claim ? text + " (claim: " + answer.claim + ")" : text);
        out.differs = out.differs || differ(answered[0].answers[i], answer);
        if (!answer.so.empty()) follows.insert(answer.so);
    }
    out.cells.push_back(join({follows.begin(), follows.end()}, " / "));
    return out;
}

/// The cells of a row wrapped beside each other.
void print_line(const Strings& cells, const std::vector<std::size_t>& widths, report::Tone tone) {
    std::vector<Strings> wrapped;
    std::size_t height = 0;
    for (std::size_t c = 0; c < cells.size(); ++c) {
        wrapped.push_back(split(trim(report::wrap(cells[c], "", widths[c])), '\n'));
        height = std::max(height, wrapped.back().size());
    }
    for (std::size_t l = 0; l < height; ++l) {
        std::string line;
        for (std::size_t c = 0; c < cells.size(); ++c)
            line += report::padded(l < wrapped[c].size() ? wrapped[c][l] : "", widths[c], false) + "  ";
        results() << report::paint("  " + line.substr(0, line.find_last_not_of(' ') + 1), tone, wants_colour()) << '\n';
    }
}

Strings titles_of(const std::vector<Answered>& answered) {
    Strings out{"question"};
    if (answered.size() == 1) return {"question", "claim", "what it does", "what follows"};
    for (const auto& one : answered) out.push_back(one.device.selector + " " + one.device.name);
    out.push_back("what follows");
    return out;
}

std::string heading_of(const model::Device& device) {
    return fmt::format("{}  {}, {}, driver {}", device.selector, device.name, device.platform, device.driver);
}

void print_table(const std::vector<Answered>& answered, const std::vector<behaviour::Question>& questions) {
    const auto titles = titles_of(answered);
    const std::size_t room = page_width(120) - 2 * (titles.size() + 1);
    std::vector<std::size_t> widths(titles.size(), room / titles.size());
    if (answered.size() == 1) widths = {room * 33 / 100, room * 14 / 100, room * 23 / 100, room * 30 / 100};
    for (const auto& one : answered) results() << report::fit(heading_of(one.device) + "\n", page_width(120));
    for (const bool differing : {true, false}) {
        std::string part;
        for (std::size_t i = 0; i < questions.size(); ++i) {
            const auto line = line_of(answered, questions[i], i);
            if (line.differs != differing) continue;
            if (part.empty()) {
                if (answered.size() > 1) results() << (differing ? "\nanswered differently\n" : "\nanswered alike\n");
                print_line(titles, widths, report::Tone::strong);
            }
            if (const auto file = questions[i].file(); file != part) results() << '\n' << (part = file) << '\n';
            print_line(line.cells, widths, report::Tone::plain);
        }
    }
}

std::string html_of(const std::vector<Answered>& answered, const std::vector<behaviour::Question>& questions) {
    const auto text = [](const std::string& raw) { return report::with_entities(printable(raw), "&<>\"'"); };
    std::string out =
        "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>cllab behaviour</title>\n<style>" +
        std::string(embedded("report/html/assets/page.css")) + "</style>\n<main>\n";
    for (const auto& one : answered) out += "<p>" + text(heading_of(one.device)) + "</p>\n";
    const auto add = [&](const Strings& cells, const char* tag) {
        out += "<tr>" +
               join(cells, "", [&](const auto& cell) { return fmt::format("<{0}>{1}</{0}>", tag, text(cell)); }) +
               "</tr>\n";
    };
    out += "<table>\n";
    add(titles_of(answered), "th");
    for (const bool differing : {true, false})
        for (std::size_t i = 0; i < questions.size(); ++i)
            if (const auto line = line_of(answered, questions[i], i); line.differs == differing) add(line.cells, "td");
    return out + "</table>\n</main></html>\n";
}

std::string json_of(const std::vector<Answered>& answered, const std::vector<behaviour::Question>& questions) {
    ordered_json out{{"schema", "cllab behaviour 1"}, {"cllab", version()}, {"utc", utc_now()}};
    for (const auto& [device, answers] : answered)
        out["devices"].push_back({{"selector", device.selector},
                                  {"name", device.name},
                                  {"platform", device.platform},
                                  {"driver", device.driver},
                                  {"device_version", device.device_version}});
    for (std::size_t i = 0; i < questions.size(); ++i) {
        ordered_json answers;
        for (const auto& one : answered) answers.push_back(ordered_json(nlohmann::json(one.answers[i])));
        out["questions"].push_back({{"name", questions[i].name},
                                    {"ask", questions[i].field("ask")},
                                    {"differs", line_of(answered, questions[i], i).differs},
                                    {"answers", answers}});
    }
    return out.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

int show_behaviour(const BehaviourOptions& options) {
    const auto questions = behaviour::questions(options.only);
    Outputs outputs(options.force, false);
    const bool to_file = !options.json.empty() && options.json != "-";
    if (to_file) outputs.writes(options.json, "--json", Outputs::Kind::whole);
    if (!options.html.empty()) outputs.writes(options.html, "--html", Outputs::Kind::whole);
    outputs.open();
    catch_interrupts();
    std::vector<Answered> answered;
    for (const auto& device : named_devices(*in_child_processes(60), options.devices))
        answered.push_back({device, ask(device.selector, questions)});
    if (to_file) outputs.json()->whole(json_of(answered, questions) + "\n");
    if (!options.html.empty()) outputs.html()->whole(html_of(answered, questions));
    if (options.json == "-")
        results() << json_of(answered, questions) << '\n';
    else
        print_table(answered, questions);
    const auto failed = [](const behaviour::Answer& answer) {
        return answer.status == behaviour::Answer::Status::failed;
    };
    return std::ranges::any_of(answered, [&](const Answered& one) { return std::ranges::any_of(one.answers, failed); })
               ? 1
               : 0;
}

}  // namespace

Command behaviour_command() {
    Rows<BehaviourOptions> rows;
    rows.list("device,d", "D", &BehaviourOptions::devices)
        .list("only", "NAME", &BehaviourOptions::only)
        .add(json_row(), [](BehaviourOptions& to, const std::string& text) { to.json = text; })
        .text("html", "OUT", &BehaviourOptions::html)
        .flag("force", &BehaviourOptions::force);
    return make_command<BehaviourOptions>(
        manual_of("behaviour"), rows,
        [](BehaviourOptions& options) {
            refuse_patterns(options, "`cllab behaviour` takes no PATTERN; --only NAME chooses questions");
        },
        show_behaviour);
}

}  // namespace cllab::app

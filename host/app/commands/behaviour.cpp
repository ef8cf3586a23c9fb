// `cllab behaviour`: the answers of devices to the questions of behaviour/rows.txt, side by side.
#include "app/commands/command_file.hpp"
#include "app/processes/worker.hpp"
#include "behaviour/prober.hpp"
#include "core/embedded.hpp"
#include "core/version.hpp"
#include "json/read.hpp"

namespace cllab::app {
namespace {

using behaviour::Answer;
using behaviour::Question;
using nlohmann::ordered_json;

struct BehaviourOptions : Call {
    Strings devices, only;
    std::string json, html;
    bool force = false;
};

struct Answered {
    model::Device device;
    std::vector<Answer> answers;  ///< one per row
};

ordered_json to_json(const Answer& answer) {
    ordered_json out{{"status", name(answer.status)}, {"text", answer.text}, {"claim", answer.claim}};
    if (answer.value) out["value"] = *answer.value;
    if (answer.low) out["low"] = *answer.low;
    if (answer.high) out["high"] = *answer.high;
    return out;
}

Answer from_json(const Message& message) {
    Answer out;
    for (const auto status : {Answer::Status::undecided, Answer::Status::untried, Answer::Status::failed})
        if (message.at("status") == name(status)) out.status = status;
    out.text = message.at("text").get<std::string>();
    out.claim = message.at("claim").get<std::string>();
    const std::pair<const char*, std::optional<double> Answer::*> numbers[] = {
        {"value", &Answer::value}, {"low", &Answer::low}, {"high", &Answer::high}};
    for (const auto& [key, member] : numbers)
        if (message.contains(key)) out.*member = message.at(key).get<double>();
    return out;
}

/// A worker asks the device; one that dies or is silent for too long leaves its question, and a new one goes on.
std::vector<Answer> ask(const std::string& selector, const std::vector<Question>& rows) {
    constexpr double patience = 30;
    std::vector<Answer> out;
    bool begun = false;  // whether the worker has come to its first question
    std::unique_ptr<Worker> worker;
    while (out.size() < rows.size()) {
        if (!worker) {
            begun = false;
            worker = std::make_unique<Worker>([&, from = out.size()](Link& parent, Position&) {
                LocalDevices devices;
                behaviour::Prober prober(devices.open(selector));
                parent.send({{"begun", true}});
                for (auto i = from; i < rows.size(); ++i) parent.send(to_json(prober.ask(rows[i])));
            });
        }
        say_doing(fmt::format("[{}/{}] {}", out.size() + 1, rows.size(), rows[out.size()].name));
        std::string line;
        const auto event = worker->next(line, patience);
        if (event == Worker::Event::line) {
            const auto message = parse_json<Message>(line);
            rethrow(message);
            if (message.contains("begun"))
                begun = true;
            else
                out.push_back(from_json(message));
            continue;
        }
        if (interrupted()) throw run::Interrupted{};
        if (event == Worker::Event::silent) worker->kill_now();
        const auto why = event == Worker::Event::silent ? fmt::format("no answer within {} s", patience)
                                                        : death(worker->reap());
        if (!begun) throw DeviceLost("device " + selector + ": " + why + " before its first question");
        out.push_back({Answer::Status::failed, why});
        worker.reset();
    }
    say_doing("");
    return out;
}

std::string shown(const Answer& answer) {
    return answer.status == Answer::Status::undecided ? "not decided: " + answer.text : answer.text;
}

struct TableLine {
    Strings cells;
    bool differs = false;
};

/// The question, the answers, each behind its claim where devices stand side by side, and what follows.
TableLine line_of(const std::vector<Answered>& asked, const Question& row, std::size_t i) {
    TableLine out{{row.ask}};
    if (asked.size() == 1) out.cells.push_back(asked[0].answers[i].claim);
    std::string follows;
    for (const auto& one : asked) {
        const auto& answer = one.answers[i];
        const bool has_claim = asked.size() > 1 && !answer.claim.empty();
        out.cells.push_back(shown(answer) + (has_claim ? " (claim: " + answer.claim + ")" : ""));
        out.differs = out.differs || differ(asked[0].answers[i], answer);
        if (const auto more = consequence(row, answer); follows.find(more) == std::string::npos)
            follows += (follows.empty() ? "" : " / ") + more;
    }
    out.cells.push_back(follows);
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

Strings titles_of(const std::vector<Answered>& asked) {
    Strings out{"question"};
    if (asked.size() == 1) return {"question", "claim", "what it does", "what follows"};
    for (const auto& one : asked) out.push_back(one.device.selector + " " + one.device.name);
    out.push_back("what follows");
    return out;
}

std::string heading_of(const model::Device& device) {
    return fmt::format("{}  {}, {}, driver {}", device.selector, device.name, device.platform, device.driver);
}

void print_table(const std::vector<Answered>& asked, const std::vector<Question>& rows) {
    const auto titles = titles_of(asked);
    const std::size_t room = page_width(120) - 2 * (titles.size() + 1);
    std::vector<std::size_t> widths(titles.size(), room / titles.size());
    if (asked.size() == 1) widths = {room * 33 / 100, room * 14 / 100, room * 23 / 100, room * 30 / 100};
    for (const auto& one : asked) results() << report::fit(heading_of(one.device) + "\n", page_width(120));
    for (const bool differing : {true, false}) {
        std::string part;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto line = line_of(asked, rows[i], i);
            if (line.differs != differing) continue;
            if (part.empty()) {
                if (asked.size() > 1) results() << (differing ? "\nanswered differently\n" : "\nanswered alike\n");
                print_line(titles, widths, report::Tone::strong);
            }
            if (const auto file = rows[i].file(); file != part) results() << '\n' << (part = file) << '\n';
            print_line(line.cells, widths, report::Tone::plain);
        }
    }
}

std::string html_of(const std::vector<Answered>& asked, const std::vector<Question>& rows) {
    const auto text = [](const std::string& raw) { return report::with_entities(printable(raw), "&<>\"'"); };
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>cllab behaviour</title>\n<style>" +
                      std::string(embedded("report/html/assets/page.css")) + "</style>\n<main>\n";
    for (const auto& one : asked) out += "<p>" + text(heading_of(one.device)) + "</p>\n";
    const auto add = [&](const Strings& cells, const char* tag) {
        out += "<tr>" + join(cells, "", [&](const auto& cell) { return fmt::format("<{0}>{1}</{0}>", tag, text(cell)); }) +
               "</tr>\n";
    };
    out += "<table>\n";
    add(titles_of(asked), "th");
    for (const bool differing : {true, false})
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (const auto line = line_of(asked, rows[i], i); line.differs == differing) add(line.cells, "td");
    return out + "</table>\n</main></html>\n";
}

std::string json_of(const std::vector<Answered>& asked, const std::vector<Question>& rows) {
    ordered_json out{{"schema", "cllab behaviour 1"}, {"cllab", version()}, {"utc", utc_now()}};
    for (const auto& [device, answers] : asked)
        out["devices"].push_back({{"selector", device.selector},
                                  {"name", device.name},
                                  {"platform", device.platform},
                                  {"driver", device.driver},
                                  {"device_version", device.device_version}});
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ordered_json answers;
        for (const auto& one : asked) {
            answers.push_back(to_json(one.answers[i]));
            answers.back()["so"] = consequence(rows[i], one.answers[i]);
        }
        out["questions"].push_back(
            {{"name", rows[i].name}, {"ask", rows[i].ask}, {"differs", line_of(asked, rows[i], i).differs}, {"answers", answers}});
    }
    return out.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

int show_behaviour(const BehaviourOptions& options) {
    const auto rows = behaviour::rows_named(options.only);
    Outputs outputs(options.force, false);
    const bool to_file = !options.json.empty() && options.json != "-";
    if (to_file) outputs.writes(options.json, "--json", Outputs::Kind::whole);
    if (!options.html.empty()) outputs.writes(options.html, "--html", Outputs::Kind::whole);
    outputs.open();
    catch_interrupts();
    std::vector<Answered> asked;
    for (const auto& device : named_devices(*in_child_processes(60), options.devices))
        asked.push_back({device, ask(device.selector, rows)});
    if (to_file) outputs.json()->whole(json_of(asked, rows) + "\n");
    if (!options.html.empty()) outputs.html()->whole(html_of(asked, rows));
    if (options.json == "-")
        results() << json_of(asked, rows) << '\n';
    else
        print_table(asked, rows);
    const auto failed = [](const Answer& answer) { return answer.status == Answer::Status::failed; };
    return std::ranges::any_of(asked, [&](const Answered& one) { return std::ranges::any_of(one.answers, failed); }) ? 1 : 0;
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
        [](BehaviourOptions& options) { refuse_patterns(options, "`cllab behaviour` takes no PATTERN; --only NAME chooses questions"); },
        show_behaviour);
}

}  // namespace cllab::app

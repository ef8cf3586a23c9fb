#include "app/processes/protocol.hpp"

#include <sstream>

#include "core/kernel_text.hpp"
#include "inspect/binary/bounded_bytes.hpp"
#include "json/read.hpp"
#include "report/records/json.hpp"
#include "run/request.hpp"

namespace cllab::device {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimerAudit, reported_step_ns, step_ns, launches, ordered, varied, empty_seconds,
                                   gap_seconds, event_seconds, event_over_host, tenfold, trusted, verdict)

static void to_json(nlohmann::json& j, const DeviceState& s) {
    j = {{"audit", s.audit},
         {"settled", s.settled},
         {"last_use", s.last_use.time_since_epoch().count()},
         {"programs", nlohmann::json::object()}};
    for (const auto& [key, bytes] : s.programs) j["programs"][key] = text_of_program(inspect::as_text(bytes));
}
static void from_json(const nlohmann::json& j, DeviceState& s) {
    s = {j.at("audit").get<TimerAudit>(),
         j.at("settled").get<bool>(),
         Clock::time_point(Clock::duration(j.at("last_use").get<Clock::rep>())),
         {}};
    for (const auto& [key, text] : j.at("programs").items()) {
        const auto program = program_of_text(text.get<std::string>()).value_or("");
        const auto bytes = inspect::as_bytes(program);
        s.programs.emplace(key, std::vector(bytes.begin(), bytes.end()));
    }
}
}  // namespace cllab::device

namespace cllab::app {
namespace {

constexpr const char *begin_word = "begin", *done_word = "done";

template <typename Field>
Message message_of(const Field& field) {
    return field;
}
template <typename Field>
Message message_of(const std::optional<Field>& field) {
    return field ? Message(*field) : Message();
}

template <typename Field>
void take(Field& field, const Message& sent) {
    field = sent.get<Field>();
}
template <typename Field>
void take(std::optional<Field>& field, const Message& sent) {
    field = sent.is_null() ? std::nullopt : std::optional(sent.get<Field>());
}

}  // namespace

// Format: "begin 0 3 {...}". The record is serialized once here and parsed once in told_of().
void tell_cell(Link& parent, bool done, run::CellNumber cell, const model::Record& record) {
    parent.send_line((done ? done_word : begin_word) + (" " + std::to_string(cell.first)) + " " +
                     std::to_string(cell.second) + " " + report::to_json_line(record));
}

void tell_end(Link& parent, const std::optional<device::DeviceState>& device_state) {
    Message finish{{"finished", true}};
    if (device_state) finish["device_state"] = nlohmann::json(*device_state);
    parent.send(finish);
}

Told told_of(const std::string& line) {
    if (line.starts_with('{')) {
        const auto message = parse_json<Message>(line);
        rethrow(message);
        EndTold out;
        if (message.contains("device_state"))
            out.device_state = nlohmann::json(message.at("device_state")).get<device::DeviceState>();
        return out;
    }
    const auto record = line.find('{');
    std::istringstream head(line.substr(0, record));
    CellTold out;
    std::string word;
    head >> word >> out.cell.first >> out.cell.second;
    out.done = word == done_word;
    out.record = report::from_json(line.substr(record));
    return out;
}

Message sent_fields(const run::Settings& settings) {
    auto out = Message::array();
    run::visit_fields(settings, [&]<typename Field>(const Field& field) {
        if constexpr (is_sent<Field>) out.push_back(message_of(field));
    });
    return out;
}

void take_fields(run::Settings& settings, const Message& sent) {
    auto next = sent.begin();
    run::visit_fields(settings, [&]<typename Field>(Field& field) {
        if constexpr (is_sent<Field>) take(field, *next++);
    });
}

}  // namespace cllab::app

#include "app/processes/lane.hpp"

#include <utility>

#include "json/read.hpp"
#include "report/records/json.hpp"

namespace cllab::app {

Lane::Lane(const std::string& selector, const std::function<void(const Events&)>& work)
    : selector_(selector), child_([&](int fd) {
          work({[fd](std::size_t g, std::size_t i, const model::Record& record, const char* phase) {
                    send(fd, Message{{"begin", {g, i}}, {"phase", phase}});
                    send(fd, report::to_json_line(record));
                },
                [fd](std::size_t g, std::size_t i, const model::Record& record) {
                    send(fd, Message{{"done", {g, i}}});
                    send(fd, report::to_json_line(record));
                }});
          send(fd, Message{{"finished", true}});
      }) {}

void Lane::receive(const Events& events) {
    std::string line;
    do {
        switch (child_.next(line, 0, nowhere_)) {
            case Child::Event::silent:
                return;
            case Child::Event::ended:
                trouble_ = "device " + selector_ + ": " + death(child_.reap());
                over_ = true;
                return;
            case Child::Event::line:
                break;
        }
        if (!announced_.is_null()) {
            tell(std::exchange(announced_, nullptr), report::from_json(line), events);
            continue;
        }
        announced_ = parse_json<Message>(line);
        over_ = announced_.contains("finished") || announced_.contains("interrupted") || announced_.contains("error");
        if (!announced_.contains("error")) continue;
        try {
            rethrow(announced_);
        } catch (const DeviceLost& e) {
            trouble_ = e.what();
        }
    } while (!over_ && child_.has_line());
}

void Lane::tell(const Message& message, const model::Record& record, const Events& events) {
    const bool done = message.contains("done");
    const auto cell = message.at(done ? "done" : "begin").get<run::CellNumber>();
    if (done) return events.done(cell.first, cell.second, record);
    const auto phase = message.at("phase").get<std::string>();
    events.begin(cell.first, cell.second, record, phase.c_str());
}

}  // namespace cllab::app

// Who runs cells without a device: each has the record that the test says. For whatever measures through a Runner.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/processes/runner.hpp"

namespace cllab::test {

/// The cell takes so long, known within 0.5 %.
inline void take(model::Record& record, double seconds) {
    auto& time = *record.time;
    time.median = time.q1 = time.q3 = time.min = seconds;
    time.low = 0.995 * seconds;
    time.high = 1.005 * seconds;
    record.samples.assign(time.n, seconds);
}

inline void make_wrong(model::Record& record) {
    record.status = model::Status::wrong_result;
    record.reason = "out[1] is 2, expected 1";
}

class FakeRunner : public app::Runner {
public:
    /// The record of cell `index` of a comparison; what it leaves alone is that of a cell that is ok and takes a
    /// second.
    using Answer = std::function<void(model::Record&, const model::Cell&, std::size_t index)>;

    explicit FakeRunner(Answer answer) : answer_(std::move(answer)) {}
    /// Cells that take what they are said to take, by their place, twice as long in the rounds of a busy machine.
    explicit FakeRunner(std::vector<double> seconds)
        : FakeRunner([seconds](model::Record& record, const model::Cell&, std::size_t index) {
              for (auto& sample : record.samples) sample *= seconds.at(index);
          }) {}

    std::vector<model::Device> devices(const std::vector<std::string>&, std::vector<std::string>*) override {
        return here;
    }
    void run(const run::RunRequest& request, const std::string& selector, const app::Events& events,
             const std::set<run::CellNumber>&) override {
        expected_when_run.push_back(expects);
        if (fails_after && expected_when_run.size() > *fails_after) throw app::DeviceLost("gone");
        requests.push_back(request);
        arrangements += request.settings.arrangement;
        seeds.insert(request.settings.seed);
        cells = request.comparisons.front();
        const auto& ends = request.settings.ends;
        for (std::size_t g = 0; g < request.comparisons.size() && !(ends && Clock::now() > *ends); ++g)
            for (std::size_t i = 0; i < request.comparisons[g].size(); ++i) {
                auto record = record_of(request.comparisons[g][i], selector);
                answer_(record, request.comparisons[g][i], i);
                if (record.status != model::Status::ok) record.time.reset();
                events.done(g, i, record);
            }
    }
    void expect(const run::RunRequest&, const std::string&, bool more) override { expects = more; }

    model::Record record_of(const model::Cell& cell, const std::string& selector) const {
        model::Record out;
        out.id = cell.id;
        if (cell.experiment) out.family = cell.experiment->family;
        if (cell.variant) out.variant = cell.variant->name;
        out.point = cell.point.values();
        out.device.selector = selector;
        for (const auto& device : here)
            if (device.selector == selector)
                out.device = {device.platform,          device.name,     device.vendor,  device.driver,
                              model::name(device.type), device.selector, device.identity};
        auto& time = out.time.emplace();
        time.median = time.low = time.high = time.min = time.q1 = time.q3 = 1;
        time.n = 7;
        for (unsigned round = 0; round < 7; ++round) {
            out.samples.push_back(round % 3 == 1 ? 2 : 1);
            out.rounds.push_back(round);
        }
        return out;
    }

    std::vector<model::Device> here;
    bool expects = false;
    std::optional<std::size_t> fails_after;
    std::vector<bool> expected_when_run;
    std::vector<run::RunRequest> requests;
    std::size_t arrangements = 0;
    model::Group cells;             ///< of the last request's first comparison
    std::set<std::uint64_t> seeds;  ///< of all

private:
    Answer answer_;
};

}  // namespace cllab::test

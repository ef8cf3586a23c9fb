// `cllab tune` by whoever runs its cells.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/choose/choice.hpp"
#include "app/commandline/options.hpp"
#include "app/files/outputs.hpp"
#include "app/processes/runner.hpp"
#include "core/clock.hpp"
#include "model/search.hpp"

namespace cllab::app {

struct TuneOptions : CellOptions, FileOptions {
    std::optional<double> max_time, budget;
    double sampling_seconds = 0.4, comparison_seconds = 5;
    std::string dumps, strategy = "auto", resume;
};

/// Tries the points of each variant on each device, prints which is the fastest, and returns the exit status.
int tune(const TuneOptions& invocation, Runner& runner);

/// What the tunings of one command have in common. All of it outlives them.
struct TuneContext {
    const TuneOptions& options;
    const Choice& choice;
    Runner& runner;
    const std::map<std::string, model::Limits>& limits;
    const std::map<std::string, std::size_t>& largest_groups;
    const std::vector<model::Record>& earlier;  ///< of --resume
    Sink& sink;
};

class Tuning {
public:
    /// All but the context outlives this, too.
    Tuning(const TuneContext& context, const model::Selected& variant, const model::TuneSpace& space,
           const model::Device& device);

    /// False when no point has a time, or a point was wrong. When it is interrupted it prints what was found and throws
    /// on.
    bool run();

private:
    std::size_t room(std::size_t measured) const;
    std::optional<model::Point> resolved(const model::Point& point) const;
    model::Cell cell_at(const model::Point& point) const;
    run::Settings settings() const;
    /// One record per point, in order: one comparison, interleaved by the executor.
    std::vector<model::Record> measure(const std::vector<model::Point>& points, const run::Settings& settings);
    std::vector<std::optional<double>> screen(const std::vector<model::Point>& points);
    void take_earlier();
    /// Whether the point would be built of the same text with the same options, and launched alike.
    bool is_same_now(const model::Record& record, const model::Point& point) const;
    void fail(const model::Point& point, const model::Record& record);

    std::string text_of(const model::Point& point) const;
    std::string doing(std::size_t begun) const;  ///< `begun`: points of the batch that is measured
    void print_plan(const model::Screening& found) const;
    void print_so_far(const model::Screening& found) const;  ///< where the tuning ends too soon
    void print_failures();                                   ///< those not yet told

    std::vector<model::Point> finalists_of(const model::Screening& found) const;
    void judge(const model::Screening& found);
    /// Writes a line of JSON with the winner, an index into the finalists, or with `seen`, why there is none.
    void tell(const model::Screening& found, std::optional<std::size_t> winner, const std::string& seen = "") const;
    void print_finalists(const std::vector<std::size_t>& order, const model::Screening& found) const;
    std::vector<std::size_t> contenders(const std::vector<std::size_t>& order) const;
    /// The fastest where it beats the default over arrangements, else the default; another one where that beats it.
    std::size_t choose(const std::vector<std::size_t>& order);
    std::vector<model::Comparison> compare(std::size_t left, const std::vector<std::size_t>& others);
    std::string command_of(const model::Point& point) const;

    const TuneContext context_;
    const TuneOptions& options_;
    const model::Selected& variant_;
    const model::TuneSpace& space_;
    const model::Device& device_;
    const Clock::time_point start_ = Clock::now();
    model::Search search_;
    bool interrupted_ = false;
    std::size_t unsupported_ = 0;
    std::map<std::string, std::string> failures_;  ///< the reason by point
    std::set<std::string> told_;                   ///< the points of those that were printed
    std::vector<model::Point> finalists_;
    std::vector<model::Record> final_records_;  ///< of each of them
};

/// Sentences and rows, at the page's width; a command to be copied is printed as it is.
void say_fitted(const std::string& lines);

}  // namespace cllab::app

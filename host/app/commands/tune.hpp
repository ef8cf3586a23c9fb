// `cllab tune`, with any runner.
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
    std::optional<unsigned> points;
    double sampling_seconds = 0.4, comparison_seconds = 5;
    std::string dumps, strategy = "auto", resume;
};

/// Tries the points of each variant on each device and prints the fastest. Returns the exit status.
int tune(const TuneOptions& invocation, Runner& runner);

/// Data shared by the tunings of one command. The referenced objects must outlive them.
struct TuneContext {
    const TuneOptions& options;
    const Choice& choice;
    Runner& runner;
    const std::map<std::string, model::Limits>& limits;
    const std::map<std::string, std::size_t>& largest_groups;
    const std::vector<model::Record>& earlier;  ///< records of --resume
    Sink& sink;
};

class Tuning {
public:
    /// All arguments except `context` must outlive this object.
    Tuning(const TuneContext& context, const model::Selected& variant, const model::TuneSpace& space,
           const model::Device& device);

    /// Returns false if no point has a time or a point failed. On an interrupt, prints the results so far and rethrows.
    bool run();

private:
    std::size_t room(std::size_t measured) const;
    std::optional<model::Point> resolved(const model::Point& point) const;
    model::Cell cell_at(const model::Point& point) const;
    run::Settings settings() const;
    /// One record per point, in order. Points of a screening take turns; others are measured one after another.
    std::vector<model::Record> measure(const std::vector<model::Point>& points, const run::Settings& settings);
    std::vector<std::optional<double>> screen(const std::vector<model::Point>& points);
    void take_earlier();
    /// Whether the point has the same text, options and launch as the record.
    bool is_same_now(const model::Record& record, const model::Point& point) const;
    void fail(const model::Point& point, const model::Record& record);

    std::string text_of(const model::Point& point) const;
    std::string doing(std::size_t begun) const;  ///< `begun`: points of the current batch
    void print_plan(const model::Screening& found) const;
    void print_so_far(const model::Screening& found) const;  ///< if the tuning ends early
    void print_failures();                                   ///< failures not yet printed

    std::vector<model::Point> finalists_of(const model::Screening& found) const;
    void judge(const model::Screening& found);
    /// Writes a JSON line with the winner, an index into the finalists, and the points that are not told apart from it.
    /// Or with `seen`, the reason for no winner.
    void tell(const model::Screening& found, std::optional<std::size_t> winner, const std::string& seen,
              const std::vector<std::string>& tied = {}) const;
    void print_finalists(const std::vector<std::size_t>& order, const model::Screening& found) const;
    std::vector<std::size_t> contenders(const std::vector<std::size_t>& order) const;
    /// The fastest point if it beats the default over arrangements, else the default. Another point if it beats the
    /// fastest.
    std::pair<std::size_t, std::vector<std::string>> choose(const std::vector<std::size_t>& order);
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
    std::map<std::string, std::string> failures_;  ///< reasons, by point
    std::set<std::string> told_;                   ///< points whose failure was printed
    std::vector<model::Point> finalists_;
    std::vector<model::Record> final_records_;  ///< by finalist
};

/// Prints sentences and rows, wrapped at the page's width. Commands to copy are printed unwrapped.
void say_fitted(const std::string& lines);

}  // namespace cllab::app

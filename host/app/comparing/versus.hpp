// Two cells held against each other over arrangements: a fresh process each, with its own order, placement and inputs.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "app/processes/runner.hpp"
#include "compare/verdict.hpp"
#include "core/random.hpp"
#include "model/comparison.hpp"

namespace cllab::app {

/// Compares the first cell, the left side of each comparison, with every other cell. run() may be called again for more
/// arrangements.
class Versus {
public:
    /// `runner` makes the processes, `settings` are those of the cells; both outlive this. `records`: one per cell, of
    /// a run of each alone, ok and timed; equal fingerprints of the code make a comparison `same code`. Control::both
    /// builds each side a second time, and all four cells take turns and count. With more than two cells only the first
    /// is built a second time: Control::left.
    Versus(Runner& runner, const run::Settings& settings, const std::string& selector, const model::Group& cells,
           const std::vector<model::Record>& records, model::Control control = model::Control::both);

    /// Takes arrangements until `rules`, which say what the interval must cover and when it is enough, are content: at
    /// least as many as an interval needs, and for about `seconds`, without the first of all, whose builds the driver
    /// keeps. `progress` gets the first comparison so far. Throws run::Interrupted, DeviceLost.
    void run(double seconds, const compare::Rules& rules,
             const std::function<void(const model::Comparison&)>& progress);
    const model::Comparison& comparison() const { return all_.front(); }
    const std::vector<model::Comparison>& comparisons() const { return all_; }  ///< by right side

    /// What ended it before it could say anything.
    struct Failure {
        model::Status status = model::Status::ok;  ///< ok: both sides are right, and leave different results
        bool is_left = false;                      ///< whose
        std::string reason;
    };
    const std::optional<Failure>& failure() const { return failure_; }
    /// Two texts of one cell may leave different results; else that is a failure.
    void let_results_change() { results_may_change_ = true; }

private:
    bool take_one();  ///< false: it says nothing, and why is in all_
    bool is_sound(const std::vector<model::Record>& records);
    void add(const std::vector<model::Record>& records);
    bool is_enough(const compare::Rules& rules) const;
    double sampling_that_suffices(const compare::Rules& rules) const;
    void judge(const compare::Rules& rules);

    Runner& runner_;
    run::RunRequest request_;
    std::string selector_;
    std::vector<model::Comparison> all_;
    std::vector<bool> same_code_;  ///< of each
    model::Control control_;
    double longest_sample_ = 0;  ///< seconds, as the cells ran alone
    bool results_may_change_ = false;
    std::optional<Failure> failure_;
    Random seeds_;
    std::vector<double> sampled_;  ///< seconds of a cell's sampling, by arrangement
    unsigned taken_ = 0;
};

/// The same text and options but for a name nobody asks for: a program and machine code of its own, as another variant
/// has.
model::Cell control_of(model::Cell cell);

/// A pair of --vs on one device: the two records as they ran together, and the comparison where both are ok and timed.
struct Pair {
    model::Record left, right;
    model::Group cells{};  ///< of both
    std::optional<model::Comparison> comparison{};
};

/// Of several variants that took turns: each with the last one, or with the fastest of them. None with the fastest
/// where none has a time.
std::vector<Pair> pairs_of(const model::Group& cells, const std::vector<model::Record>& records, bool with_fastest);
/// So that all verdicts of `pairs` together are as sure as that of one.
compare::Rules rules_for(std::size_t pairs);

/// The comparisons in words; of one pair alone first the code of both sides, where both were dumped and it is not the
/// same.
void print_pairs(std::ostream& out, const std::vector<Pair>& pairs, bool colour);

}  // namespace cllab::app

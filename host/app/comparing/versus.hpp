// Compares two cells over arrangements. Each arrangement is a fresh process with its own order, placement and inputs.
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

/// Compares the first cell, the left side, with every other cell. run() may be called again for more arrangements.
class Versus {
public:
    /// `runner` makes the processes; `settings` are those of the cells; both outlive this object. `records`: one per
    /// cell, each ok and timed, from an earlier run. Equal fingerprints of the code make a comparison `same code`.
    /// Control::both builds each side a second time: all four cells take turns and count. With more than two cells, use
    /// Control::left, which builds only the first cell a second time.
    Versus(Runner& runner, const run::Settings& settings, const std::string& selector, const model::Group& cells,
           const std::vector<model::Record>& records, model::Control control = model::Control::both);

    /// Takes arrangements until `rules` are satisfied, for about `seconds`, but at least as many as an interval needs.
    /// The very first arrangement does not count, because the driver compiles then. `progress` gets the current state
    /// of the first comparison. Throws run::Interrupted, DeviceLost.
    void run(double seconds, const compare::Rules& rules,
             const std::function<void(const model::Comparison&)>& progress);
    const model::Comparison& comparison() const { return all_.front(); }
    const std::vector<model::Comparison>& comparisons() const { return all_; }  ///< by right side

    /// Why the comparison ended without a result.
    struct Failure {
        model::Status status = model::Status::ok;  ///< ok: both sides are right, but their results differ
        bool is_left = false;                      ///< whether the left side failed
        std::string reason;
    };
    const std::optional<Failure>& failure() const { return failure_; }
    /// Allows two texts of one cell to leave different results, which otherwise is a failure.
    void let_results_change() { results_may_change_ = true; }

private:
    bool take_one();  ///< false: unusable; the reason is in all_
    bool is_sound(const std::vector<model::Record>& records);
    void add(const std::vector<model::Record>& records);
    bool is_enough(const compare::Rules& rules) const;
    double sampling_that_suffices(const compare::Rules& rules) const;
    void judge(const compare::Rules& rules);

    Runner& runner_;
    run::RunRequest request_;
    std::string selector_;
    std::vector<model::Comparison> all_;
    std::vector<bool> same_code_;  ///< by comparison
    model::Control control_;
    double longest_sample_ = 0;  ///< seconds, when the cells ran alone
    bool results_may_change_ = false;
    std::optional<Failure> failure_;
    Random seeds_;
    std::vector<double> sampled_;  ///< seconds of sampling per cell, by arrangement
    unsigned taken_ = 0;
};

/// The same cell with an additional unused macro in its options. It gets its own program and machine code, as another
/// variant does.
model::Cell control_of(model::Cell cell);

/// A pair of --vs on one device: both records from the same run, and the comparison if both are ok and timed.
struct Pair {
    model::Record left, right;
    model::Group cells{};  ///< left, right
    std::optional<model::Comparison> comparison{};
};

/// Pairs each variant with the last one, or with the fastest. `with_fastest`: no pairs if no variant has a time.
std::vector<Pair> pairs_of(const model::Group& cells, const std::vector<model::Record>& records, bool with_fastest);
/// The values of a pair's left side that differ from those of another pair: the point of a sweep.
model::PointValues where_among(const std::vector<Pair>& pairs, const Pair& pair);
/// Rules under which all verdicts of this many pairs together are as certain as the verdict of one pair.
compare::Rules rules_for(std::size_t pairs);

/// Prints the comparisons. For a single pair, first prints the code of both sides if both were dumped and the code
/// differs.
void print_pairs(std::ostream& out, const std::vector<Pair>& pairs, bool colour);

}  // namespace cllab::app

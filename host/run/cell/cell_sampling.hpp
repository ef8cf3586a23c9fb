// The samples of a prepared cell: how many operations each has, which of them count, and when there are enough.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "run/cell/cell_state.hpp"
#include "run/conditions/conditions.hpp"
#include "run/measure.hpp"

namespace cllab::run {

class Sampling {
public:
    explicit Sampling(CellState& state);

    /// Rules 4 and 5: warms the device up where it is not, launches the cell a few times and fixes the operations of a
    /// sample. False: the cell is finished.
    bool warm_up();
    /// Takes the sample of a round, and sometimes checks the output of the samples so far. False: enough, or failed.
    bool sample(unsigned round);
    /// Takes the sample of a round of an arrangement; the caller decides how many. False: failed.
    bool sample_of_arrangement(unsigned round);
    /// True while more samples are needed.
    bool lacks_samples();
    /// Rule 14: the reference kernel took `seconds` just now; 0: there is none.
    void reference(double seconds) {
        if (seconds > 0) drift_.reference(seconds);
    }
    /// Counts the samples that were set aside after all. For cells compared round by round, which drift affects alike.
    void keep_all() { drift_.give_up(); }
    /// Ends the sampling with the samples there are; the record says `interrupted`.
    void stop_early() { interrupted_ = true; }
    bool interrupted() const { return interrupted_; }
    /// What an operation took so far; 0: there is no sample.
    double typical_seconds() const;
    /// Ends the sampling where each sample took more than twice as long as the fastest cell's do; the record says so.
    void cut(double fastest_seconds);
    /// Restores the inputs before each timed operation from now on, outside its time. Call before the first sample.
    /// `why`: the reason in the record. False: failed.
    bool begin_with_fresh_data(const std::string& why);
    /// Cells with the same number take turns. `apart`: why other cells of the comparison are in another batch; empty:
    /// all are in one.
    void set_batch(unsigned number, const std::string& apart);

    const Subject::Parts& parts() const { return parts_; }  ///< with Settings::steps, a value for each sample taken
    unsigned operations() const { return per_sample_; }     ///< of a sample
    bool throttled() const { return drift_.throttled(); }
    double reference_spread() const { return drift_.spread(); }
    /// Fills Record::energy where it is asked for and the device says it, after conclude(); else a warning says why
    /// not.
    void measure_energy();
    /// Ends the sampling: the samples into the record, and the time, with its work, where there is a sample.
    void conclude();

private:
    double one_sample();
    double timed();  ///< of an operation; what all of them took, and had of cores, is added to this_sample_
    double timed_on_fresh_data(CoreClock::Reading& cores);  ///< the same; adds to `cores`
    /// The state of the data and of the caches that the `number`th operation of a sample begins with.
    void begin_operation(unsigned number);
    /// Whether operations may go on from each other's data, and how far; one takes `operation`.
    void look_at_data(double operation);
    bool knows_enough(const Subject::OnData& times, double spent) const;
    void put_data_back_in_time(unsigned operations);  ///< before so many
    /// Operations one behind the other for so long, without an event; seconds of one, with the pauses between them.
    double run_row(double seconds);
    bool has_parts() const { return state_.settings.steps && !state_.setup.slope && state_.subject->is_row(); }
    void set_cores(model::Timing& timing) const;
    void check_outputs();  ///< at what the samples so far have left; then poisons it

    CellState& state_;
    MeasureRules rules_;
    StopRule stop_;
    DriftFilter drift_;
    Subject::Parts parts_;
    bool settled_ = false, interrupted_ = false, cut_ = false;
    unsigned per_sample_ = 1, batch_ = 1;
    std::uint64_t reach_ = 0;  ///< operations that may go on from each other's data; 0: any number
    /// Taken so far; when what they left is looked at, which is before …
    unsigned samples_ = 0, next_check_ = 0, check_before_ = 1;
    Random random_;
    double spent_ = 0;
    std::optional<CoreClock> cores_;  ///< made at the first sample, when the driver's threads are there
    std::vector<SharedSample> shared_;
    SharedSample this_sample_;  ///< so far
};

}  // namespace cllab::run

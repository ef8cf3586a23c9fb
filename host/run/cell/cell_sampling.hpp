// The samples of a prepared cell: operations per sample, which samples count, and when to stop.
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

    /// Rules 4 and 5: warms up a cold device, launches the cell a few times and fixes the operations per sample. False:
    /// the cell is finished.
    bool warm_up();
    /// Takes the sample of a round, and sometimes checks the output of the samples so far. False: enough samples, or
    /// failed.
    bool sample(unsigned round);
    /// Takes the sample of a round of an arrangement; the caller decides how many. False: failed.
    bool sample_of_arrangement(unsigned round);
    /// True while more samples are needed.
    bool lacks_samples();
    /// Rule 14: adds the time of a reference kernel that ran just now. 0: there is no reference kernel.
    void reference(double seconds) {
        if (seconds > 0) drift_.reference(seconds);
    }
    /// Counts the samples that were set aside, too. For cells compared round by round, which drift affects alike.
    void keep_all() { drift_.give_up(); }
    /// Ends the sampling with the samples there are; the record says `interrupted`.
    void stop_early() { interrupted_ = true; }
    bool interrupted() const { return interrupted_; }
    /// Median seconds per operation so far; 0: there is no sample.
    double typical_seconds() const;
    /// Ends the sampling if even the fastest sample took more than twice `fastest_seconds`, the time of the fastest
    /// cell. The record then says so.
    void cut(double fastest_seconds);
    /// Restores the inputs before each timed operation from now on, outside its time. Call before the first sample.
    /// `why`: the reason in the record. False: failed.
    bool begin_with_fresh_data(const std::string& why);
    /// Cells with the same number take turns. `apart`: why other cells of the comparison are in another batch; empty:
    /// all are in one batch. `in_turns`: this cell is not alone in its batch.
    void set_batch(unsigned number, const std::string& apart, bool in_turns);

    const Subject::Parts& parts() const { return parts_; }  ///< with Settings::steps: one value per sample taken
    unsigned operations() const { return per_sample_; }     ///< per sample
    bool throttled() const { return drift_.throttled(); }
    double reference_spread() const { return drift_.spread(); }
    /// If requested, fills Record::energy, or warns why the energy is not known. Call after conclude().
    void measure_energy();
    /// Ends the sampling: fills the record's samples and, if there are any, its time and work.
    void conclude();

private:
    double one_sample();
    /// Times the operations of a sample; a slope needs one call per trip count. Returns the seconds per operation. Adds
    /// duration and core time of all operations to this_sample_.
    double timed();
    double timed_on_fresh_data(CoreClock::Reading& cores);  ///< the same, each on restored data; adds to `cores`
    /// Sets the data and the caches to the state in which the `number`th operation of a sample begins.
    void begin_operation(unsigned number);
    /// Finds out whether operations may continue from each other's data, and how many. `operation`: seconds of one.
    void look_at_data(double operation);
    bool knows_enough(const Subject::OnData& times, double spent) const;
    void put_data_back_in_time(unsigned operations);  ///< call before `operations` operations
    /// Whether an untimed operation precedes each sample. It brings the cell's data back to the caches, because other
    /// cells have used them since the last sample.
    bool fills_caches() const;
    /// Runs operations without events for `seconds`. Returns the seconds per operation, pauses included.
    double run_row(double seconds);
    bool has_parts() const { return state_.settings.steps && !state_.setup.slope && state_.subject->is_row(); }
    void set_cores(model::Timing& timing) const;
    void check_outputs();  ///< checks the outputs of the samples so far, then poisons them

    CellState& state_;
    MeasureRules rules_;
    StopRule stop_;
    DriftFilter drift_;
    Subject::Parts parts_;
    bool settled_ = false, interrupted_ = false, cut_ = false, in_turns_ = false;
    double operation_seconds_ = 0;  ///< of one operation, from the warm-up
    unsigned per_sample_ = 1, batch_ = 1;
    std::uint64_t reach_ = 0;  ///< operations that may continue from each other's data; 0: any number
    /// Samples taken; the sample at which outputs are checked next; end of the range from which that sample was drawn.
    unsigned samples_ = 0, next_check_ = 0, check_before_ = 1;
    Random random_;
    double spent_ = 0;
    std::optional<CoreClock> cores_;  ///< made at the first sample, when the driver has started its threads
    std::vector<SharedSample> shared_;
    SharedSample this_sample_;  ///< the sample that is being taken
};

}  // namespace cllab::run
